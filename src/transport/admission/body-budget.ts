import type { Socket } from 'node:net';
import { SlowBodyReader } from './slow-body-reader.ts';

const bytesInAll = 16_000_000;
const ownBytes = 16_384;
/** An incomplete body is slow after this number of chunks, or after `slowAfterMs`. */
const maxPieces = 64;
const slowAfterMs = 1_000;

/**
 * Bounds the memory of request bodies that are still incomplete. Each body has `ownBytes` of its own, which is enough
 * for most. Larger bodies share one budget, so that many slow clients together cannot hold more than it.
 */
export class BodyBudget {
  left: number;
  readonly slowBodies = new SlowBodyReader();

  constructor(maxBodyBytes: number) {
    this.left = Math.max(bytesInAll, 4 * maxBodyBytes);
  }

  /** Creates the reservation of a body that is received over `socket`. */
  open(socket: Socket): BodyReservation {
    return new BodyReservation(this, socket);
  }
}

/** The memory that one body has reserved. */
export class BodyReservation {
  readonly #shared: BodyBudget;
  readonly #socket: Socket;
  #taken = 0;
  #pieces = 0;
  #isSlow = false;
  #isClosed = false;
  #slowTimer: NodeJS.Timeout | undefined;

  constructor(shared: BodyBudget, socket: Socket) {
    this.#shared = shared;
    this.#socket = socket;
  }

  /** Whether a body of `length` bytes would fit in the budget now. Reserves nothing. */
  mayHold(length: number): boolean {
    return this.#missing(length) <= this.#shared.left;
  }

  /** Reserves memory for the first `length` bytes of the body; false if the budget is used up. */
  hasRoomFor(length: number): boolean {
    if (this.#isClosed || !this.mayHold(length)) return false;
    this.#take(this.#missing(length));
    return true;
  }

  /** Called for each chunk that does not complete the body. */
  wait(): void {
    if (this.#isClosed) return;
    this.#pieces += 1;
    this.#slowTimer ??= setTimeout(() => this.#readSlowly(), slowAfterMs);
    if (this.#pieces === maxPieces) this.#readSlowly();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#taken > 0) this.#take(-this.#taken);
    clearTimeout(this.#slowTimer);
    // Another body may follow on the same socket.
    if (this.#isSlow) this.#shared.slowBodies.delete(this.#socket);
    this.#isSlow = false;
  }

  #readSlowly(): void {
    this.#isSlow = true;
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
