import { yieldWhenDue } from '../event-loop.ts';

/** Runs one piece of work after the other, in order; between two of them the event loop serves others when that is due. */
export class Lane {
  readonly #waiting: (() => void)[] = [];
  #isBusy = false;

  /** Work that need not wait starts at once: a group that is alone keeps up with those who write. */
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
      // Handed on without a gap: nothing that comes meanwhile goes first.
      if (next) next();
      else this.#isBusy = false;
    }
  }
}
