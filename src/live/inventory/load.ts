import { fields, integer, listOf, oneOf, type Parsed, text } from '../../common/parsers.ts';

const kinds = ['user', 'address'] as const;
const measures = ['operations', 'deliveries', 'refusals'] as const;
export type LoadMeasure = (typeof measures)[number];
export const parseLoadQuestion = fields({ measure: oneOf(...measures) });

/** What a user or an address did. `by`: the id of the user, or the address. */
const load = fields({ kind: oneOf(...kinds), by: text, operations: integer, deliveries: integer, refusals: integer });
export type Load = Parsed<typeof load>;
export type Loads = readonly Load[];
export const parseLoads = listOf(load);
/** By user and by address, each by its id: a common key would be a new text for each operation. */
type LoadMaps = Record<Load['kind'], Map<string, Load>>;
type Counts = Partial<Pick<Load, LoadMeasure>>;

/** With the current one. */
const maxMinutes = 5;
/** Users and addresses in a minute. When there are more, the first of each measure are kept. */
const maxCounted = 1_000;
const maxKept = 50;
const maxFound = 10;

/** What the users and the addresses did on this node in the last minutes. */
export class RecentLoad {
  #minutes: [LoadMaps, ...LoadMaps[]] = [createMaps()];

  /** Call it once a minute. */
  beginMinute(): void {
    this.#minutes = [createMaps(), ...this.#minutes.slice(0, maxMinutes - 1)];
  }

  count(viewerId: string | null, address: string, counts: Counts): void {
    const [minute] = this.#minutes;
    if (viewerId !== null) add(minute, 'user', viewerId, counts);
    add(minute, 'address', address, counts);
    if (minute.user.size + minute.address.size <= maxCounted) return;
    const kept = new Set(measures.flatMap((measure) => firstBy(measure, minute, maxKept)));
    for (const load of allOf(minute)) if (!kept.has(load)) minute[load.kind].delete(load.by);
  }

  find(measure: LoadMeasure): Load[] {
    return joinLoads(this.#minutes.flatMap(allOf), measure, maxKept);
  }
}

/** Adds up the loads of each user and of each address, and returns those with the most of the measure, first. */
export function joinLoads(loads: readonly Load[], measure: LoadMeasure, limit = maxFound): Load[] {
  const joined = createMaps();
  for (const load of loads) add(joined, load.kind, load.by, load);
  return firstBy(measure, joined, limit);
}

function createMaps(): LoadMaps {
  return { user: new Map(), address: new Map() };
}

function allOf({ user, address }: LoadMaps): Load[] {
  return [...user.values(), ...address.values()];
}

function add(maps: LoadMaps, kind: Load['kind'], by: string, counts: Counts): void {
  let load = maps[kind].get(by);
  if (!load) {
    // A copy of the text: an address may be a part of a long header, which it would keep in memory.
    const copy = Buffer.from(by).toString();
    load = { kind, by: copy, operations: 0, deliveries: 0, refusals: 0 };
    maps[kind].set(copy, load);
  }
  for (const measure of measures) load[measure] += counts[measure] ?? 0;
}

/** The users, and the addresses, with the most of a measure. */
function firstBy(measure: LoadMeasure, maps: LoadMaps, limit: number): Load[] {
  const first = (loads: Iterable<Load>) =>
    [...loads]
      .filter((load) => load[measure] > 0)
      .sort((one, other) => other[measure] - one[measure])
      .slice(0, limit);
  return kinds.flatMap((kind) => first(maps[kind].values()));
}
