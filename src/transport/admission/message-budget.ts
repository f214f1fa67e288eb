/**
 * A token bucket: `perSecond` messages each second, and twice as many in a burst, because a client that reconnects
 * subscribes to everything at once.
 */
export class MessageBudget {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #refilledAt = performance.now();

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
    this.#burst = perSecond * 2;
    this.#tokens = this.#burst;
  }

  /** False if the budget is used up. A long message counts as several. */
  take(count: number): boolean {
    const now = performance.now();
    const refill = ((now - this.#refilledAt) / 1_000) * this.#perSecond;
    this.#refilledAt = now;
    this.#tokens = Math.min(this.#burst, this.#tokens + refill);
    if (this.#tokens < 1) return false;
    this.#tokens -= count;
    return true;
  }
}
