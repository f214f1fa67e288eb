import type { Socket } from 'node:net';
import { DripReader } from './drip-reader.ts';

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
/** A body that has not come whole within so many pieces, or so long, comes in drips. */
const maxPieces = 64;
const dripsAfterMs = 1_000;

/** Of one body. */
export interface Room {
  /** Whether so much would find room at the moment; nothing is taken. */
  mayHold(length: number): boolean;
  /** Takes room for so much of it; false where there is none. */
  hasRoomFor(length: number): boolean;
  /** A piece of it came, and more is to come. */
  wait(): void;
  close(): void;
}

/**
 * What is kept of bodies that have not come whole. Each has a little room to itself, which is all that most need; beyond
 * that all share one, so that many that are held back hold no more than it.
 */
export class BodyRoom {
  #left: number;
  readonly #drips = new DripReader();

  constructor(maxBodyBytes: number) {
    this.#left = Math.max(bytesInAll, 4 * maxBodyBytes);
  }

  /** For what comes over `socket`. */
  open(socket: Socket): Room {
    let taken = 0;
    let pieces = 0;
    let patience: NodeJS.Timeout | undefined;
    let isDripping = false;
    const readInDrips = () => {
      isDripping = true;
      this.#drips.add(socket);
    };
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
      wait: () => {
        pieces += 1;
        patience ??= setTimeout(readInDrips, dripsAfterMs);
        if (pieces === maxPieces) readInDrips();
      },
      close: () => {
        take(-taken);
        clearTimeout(patience);
        // By then another body may be on its way over the same socket.
        if (isDripping) this.#drips.delete(socket);
        isDripping = false;
      },
    };
  }
}
