import { FairQueue } from './fair-queue.ts';

interface FairLimits {
  maxRunning: number;
  maxRunningPerCaller?: number;
  maxWaitingPerCaller?: number;
  /** The error for a caller of which too much waits. */
  refusal?: () => Error;
}

interface Waiting {
  caller: string;
  start: () => void;
}

/** Limits the work that runs at the same time. More work waits, and the callers take turns. */
export class FairLimit {
  readonly #limits: Required<FairLimits>;
  readonly #waiting = new FairQueue<Waiting>();
  /** The number of running pieces of work by caller. */
  readonly #running = new Map<string, number>();
  #runningCount = 0;

  constructor(limits: FairLimits) {
    const none = Number.POSITIVE_INFINITY;
    const refusal = () => new Error('too much waits');
    this.#limits = { maxRunningPerCaller: none, maxWaitingPerCaller: none, refusal, ...limits };
  }

  /** @throws the refusal, or any error of `work`. */
  async run<T>(caller: string, work: () => T | Promise<T>): Promise<T> {
    if (this.#runningCount < this.#limits.maxRunning && this.#mayRun(caller)) this.#count(caller, 1);
    else await this.#wait(caller);
    try {
      return await work();
    } finally {
      this.#count(caller, -1);
      this.#startNext();
    }
  }

  #wait(caller: string): Promise<void> {
    if (this.#waiting.sizeOf(caller) >= this.#limits.maxWaitingPerCaller) throw this.#limits.refusal();
    return new Promise((start) => this.#waiting.add(caller, { caller, start }));
  }

  #startNext(): void {
    const next = this.#waiting.take((caller) => this.#mayRun(caller));
    if (!next) return;
    this.#count(next.caller, 1);
    next.start();
  }

  #mayRun(caller: string): boolean {
    return (this.#running.get(caller) ?? 0) < this.#limits.maxRunningPerCaller;
  }

  #count(caller: string, change: 1 | -1): void {
    const count = (this.#running.get(caller) ?? 0) + change;
    if (count === 0) this.#running.delete(caller);
    else this.#running.set(caller, count);
    this.#runningCount += change;
  }
}
