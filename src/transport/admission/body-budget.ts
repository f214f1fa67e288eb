import type { Socket } from 'node:net';
import { SlowBodyReader } from './slow-body-reader.ts';

const bytesInAll = 16_000_000;
const ownBytes = 16_384;
/** A body that has not come whole within so many pieces, or so long, comes in drips. */
const maxPieces = 64;
const dripsAfterMs = 1_000;

/**
 * What is kept of bodies that have not come whole. Each has a little room to itself, which is all that most need; beyond
 * that all share one, so that many that are held back hold no more than it.
 */
export class BodyBudget {
  left: number;
  readonly slowBodies = new SlowBodyReader();

  constructor(maxBodyBytes: number) {
    this.left = Math.max(bytesInAll, 4 * maxBodyBytes);
  }

  /** For what comes over `socket`. */
  open(socket: Socket): BodyReservation {
    return new BodyReservation(this, socket);
  }
}

/** Of one body. */
export class BodyReservation {
  readonly #shared: BodyBudget;
  readonly #socket: Socket;
  #taken = 0;
  #pieces = 0;
  #isDripping = false;
  #isClosed = false;
  #patience: NodeJS.Timeout | undefined;

  constructor(shared: BodyBudget, socket: Socket) {
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
    if (this.#isDripping) this.#shared.slowBodies.delete(this.#socket);
    this.#isDripping = false;
  }

  #readInDrips(): void {
    this.#isDripping = true;
    this.#shared.slowBodies.add(this.#socket);
  }

  #missing(length: number): number {
    return Math.max(0, length - ownBytes - this.#taken);
  }

  #take(bytes: number): void {
    this.#shared.left -= bytes;
    this.#taken += bytes;
  }
}
