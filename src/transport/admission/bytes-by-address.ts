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
