import type { Socket } from 'node:net';
import { PerTurnQueue } from './per-turn-queue.ts';

/** Per address: admitted sockets that have not sent a message. A normal client sends one as soon as it is admitted. */
const maxSilent = 100;
const pauseMs = 1_000;
const queueTimeoutMs = 10_000;
/**
 * Node also accepts one connection per turn of the event loop. When many clients reconnect at the same time, other work
 * waits for one handshake at most.
 */
const admittedPerTurn = 1;

/** Carries out the decisions of the queue. */
export interface HandshakeHandler<Handshake> {
  admit(handshake: Handshake): void;
  /** Called when the handshake has waited too long, or when the queue is closed. */
  refuse(handshake: Handshake): void;
}

/** A property of the socket rather than an entry of a map: this costs the garbage collector the least. */
const pendingHandshake = Symbol('who came over it');

interface PendingHandshake<Handshake> {
  readonly socket: Socket & WithHandshake<Handshake>;
  readonly queue: AddressQueue<Handshake>;
  readonly since: number;
  isSilent: boolean;
  /** Undefined after the handshake is admitted or refused. */
  handshake: Handshake | undefined;
}

interface WithHandshake<Handshake> {
  [pendingHandshake]?: PendingHandshake<Handshake> | undefined;
}

interface AddressQueueParts<Handshake> {
  handler: HandshakeHandler<Handshake>;
  /** The addresses that may admit their first pending handshake. */
  turns: PerTurnQueue<AddressQueue<Handshake>>;
  onEmpty: () => void;
}

/** The pending handshakes and the sockets of one address. */
class AddressQueue<Handshake> {
  /** The number of open sockets: pending and admitted. */
  size = 0;
  readonly #handler: HandshakeHandler<Handshake>;
  readonly #turns: PerTurnQueue<AddressQueue<Handshake>>;
  readonly #onEmpty: () => void;
  readonly #waiting = new Set<PendingHandshake<Handshake>>();
  #silentCount = 0;
  #isQueued = false;
  #pause: NodeJS.Timeout | undefined;
  #timeout: NodeJS.Timeout | undefined;

  constructor({ handler, turns, onEmpty }: AddressQueueParts<Handshake>) {
    this.#handler = handler;
    this.#turns = turns;
    this.#onEmpty = onEmpty;
  }

  enter(socket: Socket & WithHandshake<Handshake>, handshake: Handshake): void {
    const pending = { socket, queue: this, since: performance.now(), isSilent: false, handshake };
    socket[pendingHandshake] = pending;
    this.size += 1;
    socket.on('close', leave);
    this.#waiting.add(pending);
    this.#queueTurn();
    if (!pending.handshake) return;
    socket.on('end', destroy);
    this.#timeout ??= setTimeout(() => this.#refuseTimedOut(), queueTimeoutMs);
  }

  markActive(pending: PendingHandshake<Handshake>): void {
    if (pending.isSilent) this.#silentCount -= 1;
    pending.isSilent = false;
    this.#queueTurn();
  }

  leave(pending: PendingHandshake<Handshake>): void {
    this.size -= 1;
    this.#take(pending);
    this.markActive(pending);
  }

  pause(): void {
    // A pause is never extended: a client that floods repeatedly must not lock out other clients of its address.
    this.#pause ??= setTimeout(() => {
      this.#pause = undefined;
      this.#queueTurn();
    }, pauseMs).unref();
  }

  /** Called by the queue of turns. */
  admitNext(): void {
    this.#isQueued = false;
    const [pending] = this.#waiting;
    if (!pending || !this.#isOpen()) return;
    this.#silentCount += 1;
    pending.isSilent = true;
    const handshake = this.#take(pending);
    if (handshake) this.#handler.admit(handshake);
    this.#queueTurn();
  }

  refuseAll(): void {
    for (const pending of this.#waiting) this.#refuse(pending);
  }

  #isOpen(): boolean {
    return !this.#pause && this.#silentCount < maxSilent;
  }

  #queueTurn(): void {
    if (this.#waiting.size > 0 && this.#isOpen() && !this.#isQueued) {
      this.#isQueued = true;
      this.#turns.push(this);
    }
    if (this.size === 0 && !this.#pause) this.#onEmpty();
  }

  /** Refuses the handshakes that have waited for `queueTimeoutMs`. The set is ordered: the first has waited longest. */
  #refuseTimedOut(): void {
    this.#timeout = undefined;
    const now = performance.now();
    for (const pending of this.#waiting) {
      const left = pending.since + queueTimeoutMs - now;
      if (left > 0) {
        this.#timeout = setTimeout(() => this.#refuseTimedOut(), left);
        return;
      }
      this.#refuse(pending);
    }
  }

  #refuse(pending: PendingHandshake<Handshake>): void {
    const handshake = this.#take(pending);
    if (handshake) this.#handler.refuse(handshake);
  }

  /** Removes a handshake from the queue, and its request from the socket, which may stay open much longer. */
  #take(pending: PendingHandshake<Handshake>): Handshake | undefined {
    const { handshake } = pending;
    this.#waiting.delete(pending);
    if (this.#waiting.size === 0) {
      clearTimeout(this.#timeout);
      this.#timeout = undefined;
    }
    pending.socket.off('end', destroy);
    pending.handshake = undefined;
    return handshake;
  }
}

/**
 * Admission control for WebSocket handshakes. It limits the sockets of each address, and of those the admitted sockets
 * that have not sent a message yet. After a flood it admits no socket of the address for `pauseMs`. Other handshakes
 * wait in order; a pending handshake costs little memory. Addresses take turns.
 */
export class HandshakeQueue<Handshake> {
  readonly #queues = new Map<string, AddressQueue<Handshake>>();
  readonly #limit: number;
  readonly #handler: HandshakeHandler<Handshake>;
  readonly #turns = new PerTurnQueue<AddressQueue<Handshake>>(admittedPerTurn, (queue) => queue.admitNext());
  #isClosed = false;

  /** `limit`: the maximum number of sockets per address. */
  constructor(limit: number, handler: HandshakeHandler<Handshake>) {
    this.#limit = limit;
    this.#handler = handler;
  }

  /**
   * Queues a handshake, which is admitted if its socket is still open by then; false if its address has reached the
   * limit.
   */
  enter(address: string, socket: Socket, handshake: Handshake): boolean {
    if (this.#isClosed || (this.#queues.get(address)?.size ?? 0) >= this.#limit) return false;
    this.#find(address).enter(socket, handshake);
    return true;
  }

  /** Called when an admitted socket has sent its first message, or is being closed. */
  markActive(socket: Socket & WithHandshake<Handshake>): void {
    const pending = socket[pendingHandshake];
    pending?.queue.markActive(pending);
  }

  /** Admits no socket of this address for `pauseMs`. */
  pause(address: string): void {
    this.#find(address).pause();
  }

  /** Refuses all pending and all later handshakes. */
  close(): void {
    this.#isClosed = true;
    for (const queue of this.#queues.values()) queue.refuseAll();
  }

  #find(address: string): AddressQueue<Handshake> {
    const known = this.#queues.get(address);
    if (known) return known;
    const queue = new AddressQueue({
      handler: this.#handler,
      turns: this.#turns,
      onEmpty: () => this.#queues.delete(address),
    });
    this.#queues.set(address, queue);
    return queue;
  }
}

/* These listeners are shared by all sockets, because thousands of handshakes may be pending. */

function leave(this: Socket & WithHandshake<unknown>): void {
  const pending = this[pendingHandshake];
  this[pendingHandshake] = undefined;
  pending?.queue.leave(pending);
}

/** No other listener notices that the client of a pending handshake has closed its side. */
function destroy(this: Socket): void {
  this.destroy();
}
