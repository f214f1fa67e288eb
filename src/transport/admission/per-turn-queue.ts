/**
 * Handles a limited amount of work in one turn of the event loop: `perTurn` pieces, or fewer if `sizeOf` gives some of them a
 * size above 1. The rest wait, in order, so that other work can run between the turns.
 */
export class PerTurnQueue<Work> {
  readonly #perTurn: number;
  readonly #handle: (work: Work) => void;
  readonly #sizeOf: (work: Work) => number;
  readonly #waiting: Work[] = [];
  #left: number;
  #isScheduled = false;

  constructor(perTurn: number, handle: (work: Work) => void, sizeOf: (work: Work) => number = () => 1) {
    this.#perTurn = perTurn;
    this.#handle = handle;
    this.#sizeOf = sizeOf;
    this.#left = perTurn;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  push(work: Work): void {
    if (!this.#isScheduled) setImmediate(() => this.#begin());
    this.#isScheduled = true;
    if (this.#left <= 0) return void this.#waiting.push(work);
    this.#left -= this.#sizeOf(work);
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
