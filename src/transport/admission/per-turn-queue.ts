/**
 * Handles a limited amount of work in one turn of the event loop. The rest waits, in order, so that other work can run
 * between the turns.
 */
export class PerTurnQueue<Work> {
  readonly #perTurn: number;
  readonly #handle: (work: Work) => void;
  readonly #waiting: Work[] = [];
  #left: number;
  #isScheduled = false;

  constructor(perTurn: number, handle: (work: Work) => void) {
    this.#perTurn = perTurn;
    this.#handle = handle;
    this.#left = perTurn;
  }

  push(work: Work): void {
    if (!this.#isScheduled) setImmediate(() => this.#begin());
    this.#isScheduled = true;
    if (this.#left <= 0) return void this.#waiting.push(work);
    this.#left -= 1;
    this.#handle(work);
  }

  #begin(): void {
    this.#isScheduled = false;
    this.#left = this.#perTurn;
    while (this.#left > 0) {
      const work = this.#waiting.shift();
      if (work === undefined) return;
      this.push(work);
    }
  }
}
