/** An operation that costs more counts as costly: few run at a time, and their root fields run one after the other. */
export const costlyFrom = 1_000;
const maxRunning = 4;

/**
 * Limits the costly operations that run at the same time, because each may hold as much memory as the longest answer.
 * The others wait in one queue per caller. The callers take turns, so that a caller with many operations does not delay
 * the others.
 */
export class CostlyOperations {
  #running = 0;
  readonly #waiting = new Map<string, (() => void)[]>();

  async run<T>(caller: string, work: () => T | Promise<T>): Promise<T> {
    if (this.#running < maxRunning) this.#running += 1;
    else await this.#wait(caller);
    try {
      return await work();
    } finally {
      this.#startNext();
    }
  }

  #wait(caller: string): Promise<void> {
    return new Promise((start) => {
      const queue = this.#waiting.get(caller);
      if (queue) queue.push(start);
      else this.#waiting.set(caller, [start]);
    });
  }

  /** Starts the first operation of the next caller, and moves this caller to the end of the queue. */
  #startNext(): void {
    for (const [caller, queue] of this.#waiting) {
      const start = queue.shift();
      this.#waiting.delete(caller);
      if (queue.length > 0) this.#waiting.set(caller, queue);
      if (start) return start();
    }
    this.#running -= 1;
  }
}
