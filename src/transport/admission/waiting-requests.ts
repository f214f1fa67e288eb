import type { Duplex } from 'node:stream';

/** Each takes 4.5 kB while it waits: for the 1,000 connections of an address 45 MB. */
const maxWaiting = 10;

/**
 * Limits the requests of a connection that wait for answers (pipelining). One packet can contain 1,500 requests, each of
 * which takes time on the event loop, and memory until its answer has been read.
 */
export class WaitingRequests {
  readonly #counts = new WeakMap<Duplex, number>();

  /** Counts a request until `remove` is called, when its response is closed. False if too many wait: close the socket. */
  add(socket: Duplex): boolean {
    const count = this.#counts.get(socket) ?? 0;
    if (count === maxWaiting) return false;
    this.#counts.set(socket, count + 1);
    return true;
  }

  remove(socket: Duplex): void {
    this.#counts.set(socket, (this.#counts.get(socket) ?? 1) - 1);
  }
}
