import type { Socket } from 'node:net';
import { contain } from '../../common/contain.ts';
import { PerTurnQueue } from '../../common/event-loop.ts';
import type { AddressLimit } from './address-limit.ts';

/**
 * Per address: admitted sockets that have not sent a message. A normal client sends one as soon as it is admitted. With
 * 5,000 silent sockets from five addresses, others wait for 7 ms (p99) instead of 18 ms, and 32 MB less are held.
 */
const maxSilent = 100;
/** With the pause, a client that floods one socket after the other takes a fifth of a processor instead of four fifths. */
const pauseMs = 1_000;
const queueTimeoutMs = 10_000;
/**
 * While 1,000 clients of 1,000 addresses reconnect, another client's p99 latency is 20 to 30 ms; without this limit 330 to
 * 470 ms.
 */
const admittedPerTurn = 1;

export interface Handshake {
  admit(): void;
  /** Called when it has waited too long, when the queue is closed, or with the exception of its work. */
  refuse(exception?: unknown): void;
}

/** The sockets of one address. */
interface AddressSockets {
  /** Pending and admitted. */
  count: number;
  /** In order of arrival. */
  pending: Map<Socket, Handshake & { timeout: NodeJS.Timeout }>;
  /** Admitted sockets that have not sent a message yet. */
  silent: Set<Socket>;
  isPaused: boolean;
}

/**
 * Admission control for WebSocket handshakes. It limits the sockets of each address, and of those the admitted sockets
 * that have not sent a message yet. After a flood it admits no socket of the address for `pauseMs`. Other handshakes
 * wait in order; a pending handshake costs little memory. Addresses take turns.
 */
export class HandshakeQueue {
  readonly #addresses = new Map<string, AddressSockets>();
  readonly #limit: AddressLimit;
  readonly #turns = new PerTurnQueue<AddressSockets>(admittedPerTurn, (sockets) => this.#admitNext(sockets));
  #isClosed = false;

  constructor(limit: AddressLimit) {
    this.#limit = limit;
  }

  /**
   * Queues a handshake, which is admitted if its socket is still open by then; false if its address has reached the
   * limit.
   */
  enter(address: string, socket: Socket, handshake: Handshake): boolean {
    const sockets = this.#find(address);
    if (this.#isClosed || !this.#limit.allows(address, sockets.count)) return false;
    sockets.count += 1;
    this.#limit.report(address, sockets.count);
    socket.once('close', () => this.#leave(address, socket));
    socket.on('end', destroy);
    const refuse = contain(() => this.#takePending(sockets, socket)?.refuse(), handshake.refuse);
    sockets.pending.set(socket, { ...handshake, timeout: setTimeout(refuse, queueTimeoutMs) });
    this.#queueTurn(sockets);
    return true;
  }

  /** Called when an admitted socket has sent its first message, or is being closed. */
  markActive(address: string, socket: Socket): void {
    const sockets = this.#addresses.get(address);
    if (sockets?.silent.delete(socket)) this.#queueTurn(sockets);
  }

  /** Admits no socket of this address for `pauseMs`. */
  pause(address: string): void {
    const sockets = this.#find(address);
    // A pause is never extended: a client that floods repeatedly must not lock out other clients of its address.
    if (sockets.isPaused) return;
    sockets.isPaused = true;
    setTimeout(() => {
      sockets.isPaused = false;
      this.#queueTurn(sockets);
      this.#deleteIfIdle(address, sockets);
    }, pauseMs).unref();
  }

  /** Refuses all pending and all later handshakes. */
  close(): void {
    this.#isClosed = true;
    for (const sockets of this.#addresses.values()) {
      for (const socket of sockets.pending.keys()) this.#takePending(sockets, socket)?.refuse();
    }
  }

  #find(address: string): AddressSockets {
    const existing = this.#addresses.get(address);
    if (existing) return existing;
    const sockets = { count: 0, pending: new Map(), silent: new Set<Socket>(), isPaused: false };
    this.#addresses.set(address, sockets);
    return sockets;
  }

  #leave(address: string, socket: Socket): void {
    const sockets = this.#find(address);
    sockets.count -= 1;
    this.#limit.report(address, sockets.count);
    this.#takePending(sockets, socket);
    this.markActive(address, socket);
    this.#deleteIfIdle(address, sockets);
  }

  #deleteIfIdle(address: string, { count, isPaused }: AddressSockets): void {
    if (count === 0 && !isPaused) this.#addresses.delete(address);
  }

  #queueTurn(sockets: AddressSockets): void {
    if (mayAdmit(sockets)) this.#turns.push(sockets);
  }

  #admitNext(sockets: AddressSockets): void {
    const [socket] = sockets.pending.keys();
    if (!socket || !mayAdmit(sockets)) return;
    sockets.silent.add(socket);
    const handshake = this.#takePending(sockets, socket);
    if (handshake) contain(handshake.admit, handshake.refuse)();
    this.#queueTurn(sockets);
  }

  #takePending({ pending }: AddressSockets, socket: Socket): Handshake | undefined {
    const found = pending.get(socket);
    if (!found) return undefined;
    pending.delete(socket);
    clearTimeout(found.timeout);
    socket.off('end', destroy);
    return found;
  }
}

function mayAdmit({ pending, silent, isPaused }: AddressSockets): boolean {
  return pending.size > 0 && silent.size < maxSilent && !isPaused;
}

/** No other listener notices that the client of a pending handshake has closed its side. */
function destroy(this: Socket): void {
  this.destroy();
}
