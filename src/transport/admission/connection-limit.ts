import type { Socket } from 'node:net';
import { networkOf } from '../address.ts';

const maxAnswersPerSecond = 25;
const tellingMs = 1_000;

/** The address that a socket counts for. */
const counted = Symbol('counted for');

interface Counted {
  [counted]?: string | undefined;
}

/** How many connections each address may hold that are no WebSockets, and how often it is told that it holds too many. */
export class ConnectionLimit {
  readonly #limit: number;
  readonly #held = new Map<string, number>();
  /** Within the second that goes on. */
  readonly #told = new Map<string, number>();
  readonly #release: (this: Socket) => void;

  constructor(limit: number) {
    this.#limit = limit;
    const release = (socket: Socket) => this.release(socket);
    this.#release = function (this: Socket) {
      release(this);
    };
  }

  /** Takes a place for it until it closes; false where its address has none left. */
  take(socket: Socket & Counted): boolean {
    const address = addressOf(socket);
    const held = this.#held.get(address) ?? 0;
    if (held >= this.#limit) return false;
    this.#held.set(address, held + 1);
    socket[counted] = address;
    socket.on('close', this.#release);
    return true;
  }

  /** Gives the place back; a WebSocket counts elsewhere from then on. */
  release(socket: Socket & Counted): void {
    const address = socket[counted];
    if (address === undefined) return;
    socket[counted] = undefined;
    const left = (this.#held.get(address) ?? 0) - 1;
    if (left > 0) this.#held.set(address, left);
    else this.#held.delete(address);
  }

  /**
   * Whether it is to be told that there is no room, which counts; false where its address was told so often within a second
   * that more of it only costs: to say no takes more than to ask.
   */
  mayAnswer(socket: Socket): boolean {
    if (this.#told.size === 0) setTimeout(() => this.#told.clear(), tellingMs).unref();
    const address = addressOf(socket);
    const told = this.#told.get(address) ?? 0;
    if (told >= maxAnswersPerSecond) return false;
    this.#told.set(address, told + 1);
    return true;
  }
}

function addressOf({ remoteAddress = '' }: Socket): string {
  return networkOf(remoteAddress);
}
