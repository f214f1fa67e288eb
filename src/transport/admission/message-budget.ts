/**
 * A token bucket: `perSecond` messages each second, and twice as many in a burst, because a client that reconnects
 * subscribes to everything at once.
 */
export class MessageBudget {
  readonly #perMs: number;
  readonly #most: number;
  #left: number;
  #at = performance.now();

  constructor(perSecond: number) {
    this.#perMs = perSecond / 1_000;
    this.#most = perSecond * 2;
    this.#left = this.#most;
  }

  /** False if the message exceeds the budget. */
  take(): boolean {
    const now = performance.now();
    this.#left = Math.min(this.#most, this.#left + (now - this.#at) * this.#perMs);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
