import { yieldWhenDue } from '../../event-loop.ts';

/** Runs one execution at a time, in order. Between two executions it yields to the event loop when that is due. */
export class SerialQueue {
  readonly #waiting: (() => void)[] = [];
  #isBusy = false;

  /** Work starts synchronously if the queue is idle, so that a single group keeps up with the writers. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isBusy) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
      await yieldWhenDue();
    }
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // `#isBusy` stays true for the next work, so that work that arrives meanwhile cannot run before it.
      if (next) next();
      else this.#isBusy = false;
    }
  }
}
