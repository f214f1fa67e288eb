import type { Socket } from 'node:net';
import { PerTurnQueue } from './per-turn-queue.ts';

/** A client speaks as soon as it is let in: more than these come only of those who do not mean to. */
const maxSilent = 100;
const pauseMs = 1_000;
const patienceMs = 10_000;
/** As node takes on one connection a turn: of a crowd that comes back at once nobody else waits for more than one. */
const admittedPerTurn = 1;

/** Decides nothing: does what comes of it. */
export interface HandshakeHandler<Visit> {
  admit(visit: Visit): void;
  /** It has waited too long. */
  refuse(visit: Visit): void;
}

/** On the socket itself, where it costs a collector the least. */
const seat = Symbol('who came over it');

interface PendingHandshake<Visit> {
  readonly socket: Socket & WithHandshake<Visit>;
  readonly door: AddressQueue<Visit>;
  readonly since: number;
  isSilent: boolean;
  /** Until it is let in, or refused. */
  visit: Visit | undefined;
}

interface WithHandshake<Visit> {
  [seat]?: PendingHandshake<Visit> | undefined;
}

interface AddressQueueParts<Visit> {
  keeper: HandshakeHandler<Visit>;
  /** The doors that may let in the first of those in front of them. */
  turns: PerTurnQueue<AddressQueue<Visit>>;
  onEmpty: () => void;
}

/** Of one address. */
class AddressQueue<Visit> {
  /** In front of it and behind it. */
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
    // One that is on is not drawn out: who floods over and over does not shut out whoever else comes from there.
    this.#pause ??= setTimeout(() => {
      this.#pause = undefined;
      this.#lineUp();
    }, pauseMs).unref();
  }

  /** Its turn has come. */
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

  /** Those whose patience is over: the first have waited longest. */
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

  /** It waits no longer. What it came with is not kept for as long as its socket. */
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
 * Where the sockets of each address come in: so many and no more. Few at a time stand behind it that have not spoken, and
 * nobody is let in for a moment after one of them flooded: the others wait in front, in order, where a socket costs little.
 * Addresses take turns.
 */
export class HandshakeQueue<Visit> {
  readonly #doors = new Map<string, AddressQueue<Visit>>();
  readonly #limit: number;
  readonly #keeper: HandshakeHandler<Visit>;
  readonly #turns = new PerTurnQueue<AddressQueue<Visit>>(admittedPerTurn, (door) => door.admitFirst());
  #isClosed = false;

  /** `limit`: sockets of an address. */
  constructor(limit: number, keeper: HandshakeHandler<Visit>) {
    this.#limit = limit;
    this.#keeper = keeper;
  }

  /** Admits, now or later, whoever is still there by then; false where there is no room for one more. */
  enter(address: string, socket: Socket, visit: Visit): boolean {
    if (this.#isClosed || (this.#doors.get(address)?.size ?? 0) >= this.#limit) return false;
    this.#find(address).enter(socket, visit);
    return true;
  }

  /** It was let in, and has said something, or has been told to go. */
  hear(socket: Socket & WithHandshake<Visit>): void {
    const visitor = socket[seat];
    visitor?.door.hear(visitor);
  }

  /** Nobody comes in from there for a moment. */
  pause(address: string): void {
    this.#find(address).pause();
  }

  /** Nobody is let in any more. */
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

/* One of each for all sockets: thousands may wait. */

function leave(this: Socket & WithHandshake<unknown>): void {
  const visitor = this[seat];
  this[seat] = undefined;
  visitor?.door.leave(visitor);
}

/** Of those that wait nobody else sees that the client has gone. */
function destroy(this: Socket): void {
  this.destroy();
}
