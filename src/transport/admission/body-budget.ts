import { BytesByAddress } from './bytes-by-address.ts';

const sharedBytes = 16_000_000;
/** Longer bodies pass further checks before they are read. */
export const maxShortBody = 16_384;

/**
 * Bounds the memory of request bodies that are still incomplete. Each body has `maxShortBody` of its own, which is enough
 * for most. Larger bodies share one budget: 500 clients that withhold the last byte of 1 MB hold 16 MB instead of 500.
 * The bodies of an address hold at most as much as is left for others, so that no address uses up the budget.
 */
export class BodyBudget {
  readonly held = new BytesByAddress();
  readonly #maxBytes: number;

  constructor(maxBodyBytes: number) {
    this.#maxBytes = Math.max(sharedBytes, 4 * maxBodyBytes);
  }

  open(address: string): BodyReservation {
    return new BodyReservation(this, address);
  }

  fits(address: string, bytes: number): boolean {
    return bytes === 0 || this.held.of(address) + bytes <= this.#maxBytes - this.held.total - bytes;
  }
}

/** The memory that one body has reserved. */
export class BodyReservation {
  readonly #budget: BodyBudget;
  readonly #address: string;
  #reserved = 0;
  #isClosed = false;

  constructor(budget: BodyBudget, address: string) {
    this.#budget = budget;
    this.#address = address;
  }

  /** Whether a body of `length` bytes would fit in the budget now. Reserves nothing. */
  fits(length: number): boolean {
    return this.#budget.fits(this.#address, this.#missing(length));
  }

  /** Reserves memory for the first `length` bytes of the body; false if there is none. */
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
    this.#budget.held.add(this.#address, bytes);
    this.#reserved += bytes;
  }
}
