/** Lets `perSecond` through each second, and twice as many in a burst: a client that comes back subscribes to all at once. */
export class MessageBudget {
  readonly #perMs: number;
  readonly #most: number;
  #left: number;
  #at = Date.now();

  constructor(perSecond: number) {
    this.#perMs = perSecond / 1_000;
    this.#most = perSecond * 2;
    this.#left = this.#most;
  }

  /** False where there was one too many. */
  take(): boolean {
    const now = Date.now();
    this.#left = Math.min(this.#most, this.#left + (now - this.#at) * this.#perMs);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

const bytesInAll = 16_000_000;
const ownBytes = 16_384;

/** Of one body. */
export interface Room {
  /** Whether so much would find room at the moment; nothing is taken. */
  mayHold(length: number): boolean;
  /** Takes room for so much of it; false where there is none. */
  hasRoomFor(length: number): boolean;
  close(): void;
}

/**
 * What is kept of bodies that have not come whole. Each has a little room to itself, which is all that most need; beyond
 * that all share one, so that many that are held back hold no more than it.
 */
export class BodyRoom {
  #left: number;

  constructor(maxBodyBytes: number) {
    this.#left = Math.max(bytesInAll, 4 * maxBodyBytes);
  }

  open(): Room {
    let taken = 0;
    const take = (bytes: number) => {
      this.#left -= bytes;
      taken += bytes;
    };
    const missing = (length: number) => Math.max(0, length - ownBytes - taken);
    const mayHold = (length: number) => missing(length) <= this.#left;
    return {
      mayHold,
      hasRoomFor: (length) => {
        if (!mayHold(length)) return false;
        take(missing(length));
        return true;
      },
      close: () => take(-taken),
    };
  }
}
