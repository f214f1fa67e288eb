const sharedBytes = 16_000_000;
/** Longer bodies pass further checks before they are read. */
export const maxShortBody = 16_384;

/** Counts bytes that clients hold, for each address and for the process. */
export class BytesByAddress {
  total = 0;
  readonly #byAddress = new Map<string, number>();

  of(address: string): number {
    return this.#byAddress.get(address) ?? 0;
  }

  /** `bytes` is negative when they are released. */
  add(address: string, bytes: number): void {
    this.total += bytes;
    const ofAddress = this.of(address) + bytes;
    if (ofAddress > 0) this.#byAddress.set(address, ofAddress);
    else this.#byAddress.delete(address);
  }
}

/**
 * Bounds the memory of request bodies that are still incomplete. Each body has `maxShortBody` of its own, which is enough
 * for most. Larger bodies share one budget: 500 clients that withhold the last byte of 1 MB hold 16 MB instead of 500.
 * The bodies of an address hold at most as much as is left for others, so that no address uses up the budget.
 */
export class BodyBudget extends BytesByAddress {
  readonly #maxBytes: number;

  constructor(maxBodyBytes: number) {
    super();
    this.#maxBytes = Math.max(sharedBytes, 4 * maxBodyBytes);
  }

  /** Whether `bytes` more, in addition to `maxShortBody`, fit in the budget now. */
  fits(address: string, bytes: number): boolean {
    return bytes <= 0 || this.of(address) + bytes <= this.#maxBytes - this.total - bytes;
  }
}
