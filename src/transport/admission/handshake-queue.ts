import type { Socket } from 'node:net';
import { PerTurnQueue } from './per-turn-queue.ts';

/** Per address: admitted sockets that have not sent a message. A normal client sends one as soon as it is admitted. */
const maxSilent = 100;
const pauseMs = 1_000;
const patienceMs = 10_000;
/**
 * Node also accepts one connection per turn of the event loop. When many clients reconnect at the same time, other work
 * waits for one handshake at most.
 */
const admittedPerTurn = 1;

/** Carries out the decisions of the queue. */
export interface HandshakeHandler<Visit> {
  admit(visit: Visit): void;
  /** Called when the handshake has waited too long, or when the queue is closed. */
  refuse(visit: Visit): void;
}

/** A property of the socket rather than an entry of a map: this costs the garbage collector the least. */
const seat = Symbol('who came over it');

interface PendingHandshake<Visit> {
  readonly socket: Socket & WithHandshake<Visit>;
  readonly door: AddressQueue<Visit>;
  readonly since: number;
  isSilent: boolean;
  /** Undefined after the handshake is admitted or refused. */
  visit: Visit | undefined;
}

interface WithHandshake<Visit> {
  [seat]?: PendingHandshake<Visit> | undefined;
}

interface AddressQueueParts<Visit> {
  keeper: HandshakeHandler<Visit>;
  /** The addresses that may admit their first pending handshake. */
  turns: PerTurnQueue<AddressQueue<Visit>>;
  onEmpty: () => void;
}

/** The pending handshakes and the sockets of one address. */
class AddressQueue<Visit> {
  /** The number of open sockets: pending and admitted. */
  size = 0;
  readonly #keeper: HandshakeHandler<Visit>;
  readonly #turns: PerTurnQueue<AddressQueue<Visit>>;
  readonly #onEmpty: () => void;
  readonly #waiting = new Set<PendingHandshake<Visit>>();
  #silent = 0;
  #isInLine = false;
  #pause: NodeJS.Timeout | undefined;
  #patience: NodeJS.Timeout | undefined;

  constructor({ keeper, turns, onEmpty }: AddressQueueParts<Visit>) {
    this.#keeper = keeper;
    this.#turns = turns;
    this.#onEmpty = onEmpty;
  }

  enter(socket: Socket & WithHandshake<Visit>, visit: Visit): void {
    const visitor = { socket, door: this, since: performance.now(), isSilent: false, visit };
    socket[seat] = visitor;
    this.size += 1;
    socket.on('close', leave);
    this.#waiting.add(visitor);
    this.#lineUp();
    if (!visitor.visit) return;
    socket.on('end', destroy);
    this.#patience ??= setTimeout(() => this.#refuseImpatient(), patienceMs);
  }

  hear(visitor: PendingHandshake<Visit>): void {
    if (visitor.isSilent) this.#silent -= 1;
    visitor.isSilent = false;
    this.#lineUp();
  }

  leave(visitor: PendingHandshake<Visit>): void {
    this.size -= 1;
    this.#take(visitor);
    this.hear(visitor);
  }

  pause(): void {
    // A pause is never extended: a client that floods repeatedly must not lock out other clients of its address.
    this.#pause ??= setTimeout(() => {
      this.#pause = undefined;
      this.#lineUp();
    }, pauseMs).unref();
  }

  /** Called by the queue of turns. */
  admitFirst(): void {
    this.#isInLine = false;
    const [visitor] = this.#waiting;
    if (!visitor || !this.#isOpen()) return;
    this.#silent += 1;
    visitor.isSilent = true;
    const visit = this.#take(visitor);
    if (visit) this.#keeper.admit(visit);
    this.#lineUp();
  }

  refuseAll(): void {
    for (const visitor of this.#waiting) this.#refuse(visitor);
  }

  #isOpen(): boolean {
    return !this.#pause && this.#silent < maxSilent;
  }

  #lineUp(): void {
    if (this.#waiting.size > 0 && this.#isOpen() && !this.#isInLine) {
      this.#isInLine = true;
      this.#turns.push(this);
    }
    if (this.size === 0 && !this.#pause) this.#onEmpty();
  }

  /** Refuses the handshakes that have waited for `patienceMs`. The set is ordered: the first has waited longest. */
  #refuseImpatient(): void {
    this.#patience = undefined;
    const now = performance.now();
    for (const visitor of this.#waiting) {
      const left = visitor.since + patienceMs - now;
      if (left > 0) {
        this.#patience = setTimeout(() => this.#refuseImpatient(), left);
        return;
      }
      this.#refuse(visitor);
    }
  }

  #refuse(visitor: PendingHandshake<Visit>): void {
    const visit = this.#take(visitor);
    if (visit) this.#keeper.refuse(visit);
  }

  /** Removes a handshake from the queue, and its request from the socket, which may stay open much longer. */
  #take(visitor: PendingHandshake<Visit>): Visit | undefined {
    const { visit } = visitor;
    this.#waiting.delete(visitor);
    if (this.#waiting.size === 0) {
      clearTimeout(this.#patience);
      this.#patience = undefined;
    }
    visitor.socket.off('end', destroy);
    visitor.visit = undefined;
    return visit;
  }
}

/**
 * Admission control for WebSocket handshakes. It limits the sockets of each address, and of those the admitted sockets
 * that have not sent a message yet. After a flood it admits no socket of the address for `pauseMs`. Other handshakes
 * wait in order; a pending handshake costs little memory. Addresses take turns.
 */
export class HandshakeQueue<Visit> {
  readonly #doors = new Map<string, AddressQueue<Visit>>();
  readonly #limit: number;
  readonly #keeper: HandshakeHandler<Visit>;
  readonly #turns = new PerTurnQueue<AddressQueue<Visit>>(admittedPerTurn, (door) => door.admitFirst());
  #isClosed = false;

  /** `limit`: the maximum number of sockets per address. */
  constructor(limit: number, keeper: HandshakeHandler<Visit>) {
    this.#limit = limit;
    this.#keeper = keeper;
  }

  /**
   * Queues a handshake, which is admitted if its socket is still open by then; false if its address has reached the
   * limit.
   */
  enter(address: string, socket: Socket, visit: Visit): boolean {
    if (this.#isClosed || (this.#doors.get(address)?.size ?? 0) >= this.#limit) return false;
    this.#find(address).enter(socket, visit);
    return true;
  }

  /** Called when an admitted socket has sent its first message, or is being closed. */
  hear(socket: Socket & WithHandshake<Visit>): void {
    const visitor = socket[seat];
    visitor?.door.hear(visitor);
  }

  /** Admits no socket of this address for `pauseMs`. */
  pause(address: string): void {
    this.#find(address).pause();
  }

  /** Refuses all pending and all later handshakes. */
  close(): void {
    this.#isClosed = true;
    for (const door of this.#doors.values()) door.refuseAll();
  }

  #find(address: string): AddressQueue<Visit> {
    const known = this.#doors.get(address);
    if (known) return known;
    const door = new AddressQueue({
      keeper: this.#keeper,
      turns: this.#turns,
      onEmpty: () => this.#doors.delete(address),
    });
    this.#doors.set(address, door);
    return door;
  }
}

/* These listeners are shared by all sockets, because thousands of handshakes may be pending. */

function leave(this: Socket & WithHandshake<unknown>): void {
  const visitor = this[seat];
  this[seat] = undefined;
  visitor?.door.leave(visitor);
}

/** No other listener notices that the client of a pending handshake has closed its side. */
function destroy(this: Socket): void {
  this.destroy();
}
