import { TurnBudget } from '../../common/event-loop.ts';
import { FairQueue } from '../../common/fair-queue.ts';

/**
 * Handles a limited amount of work in one turn of the event loop. The rest waits so that other work can run between the
 * turns, and callers take turns.
 */
export class PerTurnQueue<Work> {
  readonly #budget: TurnBudget;
  readonly #handle: (work: Work) => void;
  readonly #callerOf: (work: Work) => string;
  readonly #waiting = new FairQueue<() => void>();
  #isScheduled = false;

  constructor(perTurn: number, handle: (work: Work) => void, callerOf: (work: Work) => string = () => '') {
    this.#budget = new TurnBudget(perTurn);
    this.#handle = handle;
    this.#callerOf = callerOf;
  }

  push(work: Work): void {
    if (this.#budget.spend() >= 0) return this.#handle(work);
    this.#waiting.add(this.#callerOf(work), () => this.#handle(work));
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      while (this.#waiting.size > 0 && this.#budget.spend() >= 0) this.#waiting.take()?.();
      this.#isScheduled = false;
      this.#schedule();
    });
  }
}
