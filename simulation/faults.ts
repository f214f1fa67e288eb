import { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

/** What can go wrong, by the name that `--only` takes; the number is the highest rate, per occasion or per minute. */
const faultRates = {
  /** Of each message of the bus to each node. */
  busLoses: 0.3,
  busRepeats: 0.2,
  busDelays: 0.3,
  /** Per minute: the server of the bus is away for some seconds. */
  busDown: 3,
  /** Of each read, transaction and commit. */
  readFails: 0.01,
  readStalls: 0.005,
  commitFails: 0.05,
  /** The commit is stored, and its outcome is not known. */
  commitUnknown: 0.05,
  flushStalls: 0.05,
  /** Per minute. */
  nodeKilled: 4,
  rewind: 1.5,
  trim: 6,
  clockJumps: 4,
  /** Per minute and client. */
  clientCuts: 8,
  clientPauses: 4,
  clientLeaves: 2,
  /** It resumes after events that it has received before, or with a cursor of another room. */
  clientOldCursor: 2,
  clientForeignCursor: 1,
  /** Per minute: of one user. */
  sessionsEnd: 2,
} as const;

/** How long the nodes may need to recover from it, in milliseconds. */
const disturbances: { [Name in Fault]?: number } = { readFails: 4_000, readStalls: 20_000 };

export type Fault = keyof typeof faultRates;
export const faults = Object.keys(faultRates) as Fault[];

/**
 * The rates of one run. Each run has about half of the faults, because a world in which everything fails at once reaches
 * fewer states than one in which only some things do.
 */
export class Faults {
  /** How often each was injected. */
  readonly counts = Object.fromEntries(faults.map((fault) => [fault, 0])) as Record<Fault, number>;
  /** Until then reads may be late or fail, so that nodes may notice a change later. */
  readsDisturbedUntil = 0;
  readonly #scheduler: Scheduler;
  /** One for each fault, so that a further fault, or `--only`, changes no other fault of a seed. */
  readonly #randoms: Readonly<Record<Fault, Random>>;
  readonly #rates: Readonly<Record<Fault, number>>;
  /** They begin when everything runs, and end before the last checks. */
  isActive = false;

  constructor(scheduler: Scheduler, seed: number, only: readonly Fault[]) {
    this.#scheduler = scheduler;
    const randoms = faults.map((fault) => [fault, new Random(numberOf(`${seed} ${fault}`))] as const);
    this.#randoms = Object.fromEntries(randoms) as Record<Fault, Random>;
    const rateOf = (fault: Fault) => {
      const random = this.#randoms[fault];
      const isChosen = random.chance(0.5);
      const rate = faultRates[fault] * random.between(0.1, 1);
      return (only.length > 0 ? only.includes(fault) : isChosen) ? rate : 0;
    };
    this.#rates = Object.fromEntries(faults.map((fault) => [fault, rateOf(fault)])) as Record<Fault, number>;
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
    this.readsDisturbedUntil = Math.max(this.readsDisturbedUntil, this.#scheduler.now + ms);
  }
}

/** A number for a text, by FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/ */
function numberOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return hash >>> 0;
}
