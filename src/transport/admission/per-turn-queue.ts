import { FairQueue } from '../../fair-queue.ts';

/**
 * Handles a limited amount of work in one turn of the event loop. The rest waits so that other work can run between the
 * turns, and callers take turns.
 */
export class PerTurnQueue<Work> {
  readonly #perTurn: number;
  readonly #handle: (work: Work) => void;
  readonly #callerOf: (work: Work) => string;
  readonly #waiting = new FairQueue<{ work: Work }>();
  #left: number;
  #isScheduled = false;

  constructor(perTurn: number, handle: (work: Work) => void, callerOf: (work: Work) => string = () => '') {
    this.#perTurn = perTurn;
    this.#handle = handle;
    this.#callerOf = callerOf;
    this.#left = perTurn;
  }

  push(work: Work): void {
    if (!this.#isScheduled) setImmediate(() => this.#begin());
    this.#isScheduled = true;
    if (this.#left <= 0) return this.#waiting.add(this.#callerOf(work), { work });
    this.#left -= 1;
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
