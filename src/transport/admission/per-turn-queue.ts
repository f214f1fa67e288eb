import { FairQueue } from '../../fair-queue.ts';

interface Options<Work> {
  /** 1 by default. */
  sizeOf?: (work: Work) => number;
  /** Callers take turns. */
  callerOf?: (work: Work) => string;
}

/**
 * Handles a limited amount of work in one turn of the event loop: `perTurn` pieces, or fewer if some of them have a size
 * above 1. The rest wait, in order, so that other work can run between the turns.
 */
export class PerTurnQueue<Work> {
  readonly #perTurn: number;
  readonly #handle: (work: Work) => void;
  readonly #options: Required<Options<Work>>;
  readonly #waiting = new FairQueue<{ work: Work }>();
  #left: number;
  #isScheduled = false;

  constructor(perTurn: number, handle: (work: Work) => void, options: Options<Work> = {}) {
    this.#perTurn = perTurn;
    this.#handle = handle;
    this.#options = { sizeOf: () => 1, callerOf: () => '', ...options };
    this.#left = perTurn;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  push(work: Work): void {
    if (!this.#isScheduled) setImmediate(() => this.#begin());
    this.#isScheduled = true;
    if (this.#left <= 0) return this.#waiting.add(this.#options.callerOf(work), { work });
    this.#left -= this.#options.sizeOf(work);
    this.#handle(work);
  }

  #begin(): void {
    this.#isScheduled = false;
    this.#left = this.#perTurn;
    while (this.#left > 0) {
      const next = this.#waiting.take();
      if (!next) return;
      this.push(next.work);
    }
  }
}
