/** A refused operation takes 0.1 to 0.2 ms. */
const perTurn = 16;

/**
 * Hands on so many messages of a socket in one turn of the event loop: the rest of a burst waits, in order, and others have
 * theirs between. As many wait as the socket may send at once.
 */
export class MessageTurns {
  readonly #handle: (message: string) => void;
  readonly #waiting: string[] = [];
  #left = perTurn;
  #isScheduled = false;

  constructor(handle: (message: string) => void) {
    this.#handle = handle;
  }

  push(message: string): void {
    if (!this.#isScheduled) setImmediate(() => this.#begin());
    this.#isScheduled = true;
    if (this.#left === 0) return void this.#waiting.push(message);
    this.#left -= 1;
    this.#handle(message);
  }

  #begin(): void {
    this.#isScheduled = false;
    this.#left = perTurn;
    for (const message of this.#waiting.splice(0, perTurn)) this.push(message);
  }
}
