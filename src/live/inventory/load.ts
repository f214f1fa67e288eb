import { fields, integer, listOf, oneOf, type Parsed, text } from '../parsers.ts';

const kinds = ['user', 'address'] as const;
const measures = ['operations', 'deliveries', 'refusals'] as const;
export type LoadMeasure = (typeof measures)[number];
export const parseLoadQuestion = fields({ measure: oneOf(...measures) });

/** What a user or an address did. `by`: the id of the user, or the address. */
const load = fields({ kind: oneOf(...kinds), by: text, operations: integer, deliveries: integer, refusals: integer });
export type Load = Parsed<typeof load>;
export type Loads = readonly Load[];
export const parseLoads = listOf(load);
type LoadMap = Map<string, Load>;
type Counts = Partial<Pick<Load, LoadMeasure>>;

/** With the current one. */
const maxMinutes = 5;
/** Users and addresses in a minute. When there are more, the first of each measure are kept. */
const maxCounted = 1_000;
const maxKept = 50;
const maxFound = 10;

/** What the users and the addresses did on this node in the last minutes. */
export class RecentLoad {
  #minutes: [LoadMap, ...LoadMap[]] = [new Map()];

  /** Call it once a minute. */
  beginMinute(): void {
    this.#minutes = [new Map(), ...this.#minutes.slice(0, maxMinutes - 1)];
  }

  count(viewerId: string | null, address: string, counts: Counts): void {
    const [minute] = this.#minutes;
    if (viewerId !== null) add(minute, 'user', viewerId, counts);
    add(minute, 'address', address, counts);
    if (minute.size <= maxCounted) return;
    const kept = new Set(measures.flatMap((measure) => firstBy(measure, minute, maxKept)));
    for (const [key, load] of minute) if (!kept.has(load)) minute.delete(key);
  }

  find(measure: LoadMeasure): Load[] {
    return joinLoads(
      this.#minutes.flatMap((minute) => [...minute.values()]),
      measure,
      maxKept,
    );
  }
}

/** Adds up the loads of each user and of each address, and returns those with the most of the measure, first. */
export function joinLoads(loads: readonly Load[], measure: LoadMeasure, limit = maxFound): Load[] {
  const joined: LoadMap = new Map();
  for (const load of loads) add(joined, load.kind, load.by, load);
  return firstBy(measure, joined, limit);
}

function add(loads: LoadMap, kind: Load['kind'], by: string, counts: Counts): void {
  const key = `${kind} ${by}`;
  // A copy of the text: an address may be a part of a long header, which it would keep in memory.
  const load = loads.get(key) ?? { kind, by: Buffer.from(by).toString(), operations: 0, deliveries: 0, refusals: 0 };
  for (const measure of measures) load[measure] += counts[measure] ?? 0;
  loads.set(key, load);
}

/** The users, and the addresses, with the most of a measure. */
function firstBy(measure: LoadMeasure, loads: LoadMap, limit: number): Load[] {
  const all = [...loads.values()].filter((load) => load[measure] > 0);
  all.sort((one, other) => other[measure] - one[measure]);
  return kinds.flatMap((kind) => all.filter((load) => load.kind === kind).slice(0, limit));
}
