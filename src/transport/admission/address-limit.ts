import type { Channel } from '../../common/channel.ts';
import { SharedCounts } from '../../common/shared-counts.ts';

/** The maximum number of connections of one kind for each address, on all workers of the machine together. */
export class AddressLimit {
  readonly #limit: number;
  /** On other workers, for the addresses that have connections on this one. */
  readonly #others = new Map<string, number>();
  readonly #shared: SharedCounts<number> | undefined;

  constructor(limit: number, kind: 'connections' | 'webSockets', parent: Channel | undefined) {
    this.#limit = limit;
    const adopt = (address: string, others: number) =>
      void (this.#others.has(address) && this.#others.set(address, others));
    this.#shared = parent && new SharedCounts(parent, 'open', { kind }, adopt);
  }

  /** Whether one more may be added to those on this worker. */
  allows(address: string, own: number): boolean {
    const isAllowed = own + (this.#others.get(address) ?? 0) < this.#limit;
    // Others may have been closed meanwhile, which the next attempt then knows.
    if (!isAllowed) this.report(address, own);
    return isAllowed;
  }

  /** Call it when their number on this worker has changed. */
  report(address: string, own: number): void {
    if (!this.#shared) return;
    if (own === 0) this.#others.delete(address);
    else this.#others.set(address, this.#others.get(address) ?? 0);
    this.#shared.set(address, own);
  }
}
