import { FairQueue } from '../../fair-queue.ts';

/** An operation that costs more counts as costly: few run at a time, and their root fields run one after the other. */
export const costlyFrom = 1_000;
const maxRunning = 4;

/**
 * Limits the costly operations that run at the same time, because each may hold as much memory as the longest answer.
 * The others wait, and the callers take turns.
 */
export class CostlyOperations {
  #running = 0;
  readonly #waiting = new FairQueue<() => void>();

  async run<T>(caller: string, work: () => T | Promise<T>): Promise<T> {
    if (this.#running < maxRunning) this.#running += 1;
    else await new Promise<void>((start) => this.#waiting.add(caller, start));
    try {
      return await work();
    } finally {
      this.#startNext();
    }
  }

  #startNext(): void {
    const start = this.#waiting.take();
    if (start) start();
    else this.#running -= 1;
  }
}
