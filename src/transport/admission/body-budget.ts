const sharedBytes = 16_000_000;
/** Longer bodies pass further checks before they are read. */
export const maxShortBody = 16_384;

/**
 * Bounds the memory of request bodies that are still incomplete. Each body has `maxShortBody` of its own, which is enough
 * for most. Larger bodies share one budget: 500 clients that withhold the last byte of 1 MB hold 16 MB instead of 500.
 */
export class BodyBudget {
  left: number;

  constructor(maxBodyBytes: number) {
    this.left = Math.max(sharedBytes, 4 * maxBodyBytes);
  }

  open(): BodyReservation {
    return new BodyReservation(this);
  }
}

/** The memory that one body has reserved. */
export class BodyReservation {
  readonly #budget: BodyBudget;
  #reserved = 0;
  #isClosed = false;

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  /** Whether a body of `length` bytes would fit in the budget now. Reserves nothing. */
  fits(length: number): boolean {
    return this.#missing(length) <= this.#budget.left;
  }

  /** Reserves memory for the first `length` bytes of the body; false if the budget is used up. */
  tryReserve(length: number): boolean {
    if (this.#isClosed || !this.fits(length)) return false;
    this.#add(this.#missing(length));
    return true;
  }

  close(): void {
    this.#isClosed = true;
    this.#add(-this.#reserved);
  }

  #missing(length: number): number {
    return Math.max(0, length - maxShortBody - this.#reserved);
  }

  #add(bytes: number): void {
    this.#budget.left -= bytes;
    this.#reserved += bytes;
  }
}
