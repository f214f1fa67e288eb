/**
 * Handles at most `perTurn` pieces of work in one turn of the event loop. The rest wait, in order, so that other work
 * can run between the turns.
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

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  push(work: Work): void {
    if (!this.#isScheduled) setImmediate(() => this.#begin());
    this.#isScheduled = true;
    if (this.#left === 0) return void this.#waiting.push(work);
    this.#left -= 1;
    this.#handle(work);
  }

  #begin(): void {
    this.#isScheduled = false;
    this.#left = this.#perTurn;
    for (const work of this.#waiting.splice(0, this.#perTurn)) this.push(work);
  }
}
