import type { Socket } from 'node:net';
import { noRoom } from './refusal.ts';

/** A client speaks as soon as it is let in: more than these come only of those who do not mean to. */
const maxSilent = 100;
const pauseMs = 1_000;
const patienceMs = 10_000;

export interface Visit {
  admit: () => void;
  /** It has waited too long. */
  refuse: () => void;
}

class Visitor {
  readonly socket: Socket;
  isSilent = false;
  /** Until it is let in, or refused. */
  visit: Visit | undefined;
  timer: NodeJS.Timeout | undefined;

  constructor(socket: Socket, visit: Visit) {
    this.socket = socket;
    this.visit = visit;
  }
}

/** Of one address. */
class Door {
  /** In front of it and behind it. */
  size = 0;
  silent = 0;
  readonly waiting = new Set<Visitor>();
  pause: NodeJS.Timeout | undefined;
}

/**
 * Where the sockets of each address come in: so many and no more. Few at a time stand behind it that have not spoken, and
 * nobody is let in for a moment after one of them flooded: the others wait in front, in order, where a socket costs little.
 */
export class Entrance {
  readonly #doors = new Map<string, Door>();
  readonly #visitors = new WeakMap<Socket, Visitor>();
  readonly #limit: number;
  #isClosed = false;

  /** `limit`: sockets of an address. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Admits, now or later, whoever is still there by then. @throws HttpRefusal where there is no room for one more. */
  enter(address: string, socket: Socket, visit: Visit): void {
    if (this.#isClosed || (this.#doors.get(address)?.size ?? 0) >= this.#limit) throw noRoom();
    const door = this.#find(address);
    const visitor = new Visitor(socket, visit);
    this.#visitors.set(socket, visitor);
    door.size += 1;
    door.waiting.add(visitor);
    this.#leaveWith(socket, address);
    this.#open(address, door);
    if (!visitor.visit) return;
    visitor.timer = setTimeout(() => this.#refuse(door, visitor), patienceMs);
    socket.once('end', destroy);
  }

  /** It was let in, and has said something, or has been told to go. */
  hear(address: string, socket: Socket): void {
    const visitor = this.#visitors.get(socket);
    const door = this.#find(address);
    if (visitor) this.#endSilence(door, visitor);
    this.#open(address, door);
  }

  /** Nobody comes in from there for a moment. */
  pause(address: string): void {
    const door = this.#find(address);
    // One that is on is not drawn out: who floods over and over does not shut out whoever else comes from there.
    if (door.pause) return;
    const end = () => {
      door.pause = undefined;
      this.#open(address, door);
    };
    door.pause = setTimeout(end, pauseMs).unref();
  }

  /** Nobody is let in any more. */
  close(): void {
    this.#isClosed = true;
    for (const door of this.#doors.values()) for (const visitor of door.waiting) this.#refuse(door, visitor);
  }

  #find(address: string): Door {
    const door = this.#doors.get(address) ?? new Door();
    this.#doors.set(address, door);
    return door;
  }

  #open(address: string, door: Door): void {
    for (const visitor of door.waiting) {
      if (door.pause || door.silent >= maxSilent) return;
      door.silent += 1;
      visitor.isSilent = true;
      this.#take(door, visitor)?.admit();
    }
    if (door.size === 0 && !door.pause) this.#doors.delete(address);
  }

  #refuse(door: Door, visitor: Visitor): void {
    this.#take(door, visitor)?.refuse();
  }

  /** It waits no longer. What it came with is not kept for as long as its socket. */
  #take(door: Door, visitor: Visitor): Visit | undefined {
    const { visit } = visitor;
    door.waiting.delete(visitor);
    clearTimeout(visitor.timer);
    visitor.socket.off('end', destroy);
    visitor.visit = undefined;
    visitor.timer = undefined;
    return visit;
  }

  /** Here, what listens to the socket keeps nothing else. */
  #leaveWith(socket: Socket, address: string): void {
    socket.once('close', () => this.#leave(address, socket));
  }

  #leave(address: string, socket: Socket): void {
    const visitor = this.#visitors.get(socket);
    const door = this.#find(address);
    if (!visitor) return;
    door.size -= 1;
    this.#take(door, visitor);
    this.#endSilence(door, visitor);
    this.#open(address, door);
  }

  #endSilence(door: Door, visitor: Visitor): void {
    if (visitor.isSilent) door.silent -= 1;
    visitor.isSilent = false;
  }
}

/** Of those that wait nobody else sees that the client has gone. */
function destroy(this: Socket): void {
  this.destroy();
}
