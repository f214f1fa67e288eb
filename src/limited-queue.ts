import { yieldWhenDue } from './event-loop.ts';
import { FairQueue } from './fair-queue.ts';

interface QueueLimits {
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

/** Runs a limited number of works at a time. The others wait in order, and the callers take turns. */
export class LimitedQueue {
  readonly #limits: Required<QueueLimits>;
  readonly #waiting = new FairQueue<Waiting>();
  /** The number of running works by caller. */
  readonly #running = new Map<string, number>();
  #runningCount = 0;

  constructor(limits: QueueLimits) {
    const none = Number.POSITIVE_INFINITY;
    const refusal = () => new Error('too much waits');
    this.#limits = { maxRunningPerCaller: none, maxWaitingPerCaller: none, refusal, ...limits };
  }

  /** The number of works that wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Starts synchronously if less than the limit runs, so that a single group keeps up with the writers. Work that has
   * waited yields to the event loop when that is due. @throws the refusal, or any error of `work`.
   */
  async run<Result>(work: () => Result | Promise<Result>, caller = ''): Promise<Result> {
    if (this.#runningCount < this.#limits.maxRunning && this.#mayRun(caller)) this.#count(caller, 1);
    else {
      await this.#wait(caller);
      await yieldWhenDue();
    }
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

  /** The next work takes the place of the one that has ended, so that work that arrives meanwhile cannot run before it. */
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
