import { yieldWhenDue } from './event-loop.ts';
import { FairQueue } from './fair-queue.ts';

/** Runs a limited number of works at a time. The others wait in order, and the callers take turns. */
export class LimitedQueue {
  readonly #limit: number;
  readonly #waiting = new FairQueue<() => void>();
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The number of works that wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Starts synchronously if less than the limit runs, so that a single group keeps up with the writers. Work that has
   * waited yields to the event loop when that is due.
   */
  async run<Result>(work: () => Result | Promise<Result>, caller = ''): Promise<Result> {
    if (this.#running < this.#limit) this.#running += 1;
    else {
      await new Promise<void>((start) => this.#waiting.add(caller, start));
      await yieldWhenDue();
    }
    try {
      return await work();
    } finally {
      // The next work takes the place of this one, so that work that arrives meanwhile cannot run before it.
      const start = this.#waiting.take();
      if (start) start();
      else this.#running -= 1;
    }
  }
}
