import { Random } from './random.ts';
import type { Owner, Scheduler } from './scheduler.ts';

/** What can go wrong, by the name that `--only` takes; the number is the highest rate, per occasion or per minute. */
const faultRates = {
  /** Of each message of the bus to each node. */
  busLoses: 0.3,
  busRepeats: 0.2,
  busDelays: 0.3,
  /** Per minute: the server of the bus is away for some seconds. */
  busDown: 6,
  /** Of each read, transaction and commit. */
  readFails: 0.01,
  readStalls: 0.005,
  /** It takes a tenth of a second, so that others happen between its moment and its answer. */
  readIsSlow: 0.2,
  commitFails: 0.05,
  /** The commit is stored, and its outcome is not known. */
  commitUnknown: 0.05,
  /** Of each statement of a transaction. */
  writeFails: 0.03,
  flushStalls: 0.02,
  /** Per minute. */
  nodeKilled: 12,
  /** All nodes end, and of the database only that is left whose flush has ended. */
  powerLost: 10,
  rewind: 12,
  trim: 30,
  clockJumps: 8,
  /** Per minute and client. */
  clientCuts: 30,
  clientPauses: 12,
  clientLeaves: 8,
  /** It resumes after events that it has received before, with the cursors of some rooms, or with a cursor of another room. */
  clientOldCursor: 8,
  clientPartialCursors: 8,
  clientForeignCursor: 3,
  /** Of each change: a client of its user connects again at that moment. */
  clientMeetsChange: 0.3,
  /** Per minute: of one user. */
  sessionsEnd: 6,
} as const;

/** They only change what happens at the same moment: half of all runs have each, also of those with few faults. */
const coincidences: ReadonlySet<Fault> = new Set(['readIsSlow', 'clientCuts', 'clientMeetsChange']);

/** How long the nodes may need to recover from it, in milliseconds. */
const disturbances: { [Name in Fault]?: number } = { readFails: 4_000, readStalls: 20_000 };

export type Fault = keyof typeof faultRates;
export const faults = Object.keys(faultRates) as Fault[];

/**
 * The rates of one run. Some runs have few faults, and none has all: a world in which everything fails at once reaches
 * fewer states, and an event is late in it for many reasons.
 */
export class Faults {
  /** How often each was injected. */
  readonly counts = Object.fromEntries(faults.map((fault) => [fault, 0])) as Record<Fault, number>;
  /** Until when a node may notice a change later, because its reads are late or fail. */
  readonly #disturbedUntil = new Map<Owner, number>();
  readonly #scheduler: Scheduler;
  /** One for each fault, so that a further fault, or `--only`, changes no other fault of a seed. */
  readonly #randoms: Readonly<Record<Fault, Random>>;
  readonly #rates: Readonly<Record<Fault, number>>;
  /** They begin when everything runs, and end before the last checks. */
  isActive = false;

  constructor(scheduler: Scheduler, seed: number, only: readonly Fault[]) {
    this.#scheduler = scheduler;
    const randoms = faults.map((fault) => [fault, Random.of(`${seed} ${fault}`)] as const);
    this.#randoms = Object.fromEntries(randoms) as Record<Fault, Random>;
    const share = Random.of(`${seed} faults`).pick([0.05, 0.15, 0.5, 0.8]);
    const rateOf = (fault: Fault) => {
      const random = this.#randoms[fault];
      const isChosen = random.chance(coincidences.has(fault) ? 0.5 : share);
      const rate = faultRates[fault] * random.between(0.1, 1);
      return (only.length > 0 ? only.includes(fault) : isChosen) ? rate : 0;
    };
    this.#rates = Object.fromEntries(faults.map((fault) => [fault, rateOf(fault)])) as Record<Fault, number>;
  }

  /** For how long a node, or without a name any node, may still be late, in milliseconds. */
  disturbedFor(node?: Owner): number {
    const until =
      node === undefined ? Math.max(0, ...this.#disturbedUntil.values()) : (this.#disturbedUntil.get(node) ?? 0);
    return Math.max(0, until - this.#scheduler.now);
  }

  /** Whether it happens on this occasion. */
  happens(fault: Fault): boolean {
    const rate = this.isActive ? this.#rates[fault] : 0;
    if (rate === 0 || !this.#randoms[fault].chance(rate)) return false;
    this.counts[fault] += 1;
    if (fault in disturbances) this.#disturb(disturbances[fault] ?? 0);
    return true;
  }

  /** The time until it happens next, in milliseconds; undefined if it never happens. */
  next(fault: Fault): number | undefined {
    const rate = this.#rates[fault];
    return rate === 0 ? undefined : (-Math.log(1 - this.#randoms[fault].next()) * 60_000) / rate;
  }

  /** Counts one that `next` has announced; false if the faults are over. */
  begin(fault: Fault): boolean {
    if (this.isActive) this.counts[fault] += 1;
    return this.isActive;
  }

  #disturb(ms: number): void {
    const { owner, now } = this.#scheduler;
    this.#disturbedUntil.set(owner, Math.max(this.#disturbedUntil.get(owner) ?? 0, now + ms));
  }
}
