import type { Socket } from 'node:net';
import { DripReader } from './slow-body-reader.ts';

/** Lets `perSecond` through each second, and twice as many in a burst: a client that comes back subscribes to all at once. */
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

  /** False where there was one too many. */
  take(): boolean {
    const now = performance.now();
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

/**
 * What is kept of bodies that have not come whole. Each has a little room to itself, which is all that most need; beyond
 * that all share one, so that many that are held back hold no more than it.
 */
export class BodyRoom {
  left: number;
  readonly drips = new DripReader();

  constructor(maxBodyBytes: number) {
    this.left = Math.max(bytesInAll, 4 * maxBodyBytes);
  }

  /** For what comes over `socket`. */
  open(socket: Socket): Room {
    return new Room(this, socket);
  }
}

/** Of one body. */
export class Room {
  readonly #shared: BodyRoom;
  readonly #socket: Socket;
  #taken = 0;
  #pieces = 0;
  #isDripping = false;
  #isClosed = false;
  #patience: NodeJS.Timeout | undefined;

  constructor(shared: BodyRoom, socket: Socket) {
    this.#shared = shared;
    this.#socket = socket;
  }

  /** Whether so much would find room at the moment; nothing is taken. */
  mayHold(length: number): boolean {
    return this.#missing(length) <= this.#shared.left;
  }

  /** Takes room for so much of it; false where there is none. */
  hasRoomFor(length: number): boolean {
    if (this.#isClosed || !this.mayHold(length)) return false;
    this.#take(this.#missing(length));
    return true;
  }

  /** A piece of it came, and more is to come. */
  wait(): void {
    if (this.#isClosed) return;
    this.#pieces += 1;
    this.#patience ??= setTimeout(() => this.#readInDrips(), dripsAfterMs);
    if (this.#pieces === maxPieces) this.#readInDrips();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#taken > 0) this.#take(-this.#taken);
    clearTimeout(this.#patience);
    // By then another body may be on its way over the same socket.
    if (this.#isDripping) this.#shared.drips.delete(this.#socket);
    this.#isDripping = false;
  }

  #readInDrips(): void {
    this.#isDripping = true;
    this.#shared.drips.add(this.#socket);
  }

  #missing(length: number): number {
    return Math.max(0, length - ownBytes - this.#taken);
  }

  #take(bytes: number): void {
    this.#shared.left -= bytes;
    this.#taken += bytes;
  }
}
