import { Random } from '../../../simulation/random.ts';
import { Choices } from '../clients/choices.ts';
import type { Case } from './case.ts';
import { absent, wrong } from './faults.ts';
import { httpCases, randomHttpCase, validHttpCases } from './http.ts';
import { importCases, randomImportCase } from './import.ts';
import { createShapes } from './shapes.ts';
import type { FuzzData } from './target.ts';
import { randomSocketCase, socketCases, socketPairs } from './websocket.ts';

/** An import takes as long as some thousand other cases. */
const casesPerImport = 4_000;

/**
 * The cases whose name contains `only`: first each fault of each shape in an order that depends on the seed, then random
 * cases without end.
 */
export function* casesOf(data: FuzzData, seed: number, only: string): Generator<Case> {
  const random = new Random(seed);
  const isChosen = ({ name }: Pick<Case, 'name'>) => name.includes(only);
  for (const phase of phasesOf(data, random)) yield* shuffle(phase.filter(isChosen), random);
  const shapes = createShapes(data);
  const create = {
    'websocket random': (choices: Choices) => randomSocketCase(data, shapes.websocket, choices),
    'http random': (choices: Choices) => randomHttpCase(data, shapes.http, choices),
    'import random': (choices: Choices) => randomImportCase(shapes.import, choices),
  };
  const chosen = Object.entries(create).filter(([name]) => isChosen({ name }));
  for (let count = 1; chosen.length > 0; count += 1) {
    const kinds = chosen.length === 3 && count % casesPerImport > 0 ? chosen.slice(0, 2) : chosen;
    yield* kinds.map(([, createCase]) =>
      createCase(new Choices(Array.from({ length: 4_000 }, () => random.whole(0, 0x10000)))),
    );
  }
}

function* phasesOf(data: FuzzData, random: Random): Generator<Case[]> {
  const { websocket, http, import: records } = createShapes(data);
  yield [...importCases(records, (lines) => shuffle(lines, random))];
  yield [...socketCases(data, websocket, absent), ...httpCases(http, absent)];
  yield [...socketPairs(data, websocket), ...validHttpCases(http)];
  yield [...socketCases(data, websocket, wrong), ...httpCases(http, wrong)];
}

function shuffle<T>(items: readonly T[], random: Random): T[] {
  const ranked = items.map((item) => ({ item, rank: random.next() }));
  return ranked.toSorted((one, other) => one.rank - other.rank).map(({ item }) => item);
}
