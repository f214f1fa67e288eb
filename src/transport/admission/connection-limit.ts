import type { Socket } from 'node:net';
import { networkOf } from '../address.ts';

const maxAnswersPerSecond = 25;
const tellingMs = 1_000;

/** The address for which a socket is counted. */
const counted = Symbol('counted for');

interface Counted {
  [counted]?: string | undefined;
}

/**
 * Limits the HTTP connections of each address, without WebSockets, and the rate of answers that refuse a connection.
 */
export class ConnectionLimit {
  readonly #limit: number;
  readonly #held = new Map<string, number>();
  /** The number of refusals sent to each address in the current second. */
  readonly #told = new Map<string, number>();
  readonly #release: (this: Socket) => void;

  constructor(limit: number) {
    this.#limit = limit;
    const release = (socket: Socket) => this.release(socket);
    this.#release = function (this: Socket) {
      release(this);
    };
  }

  /** Counts the socket until it closes; false if its address has reached the limit. */
  take(socket: Socket & Counted): boolean {
    const address = addressOf(socket);
    const held = this.#held.get(address) ?? 0;
    if (held >= this.#limit) return false;
    this.#held.set(address, held + 1);
    socket[counted] = address;
    socket.on('close', this.#release);
    return true;
  }

  /** Stops counting the socket, for example when it becomes a WebSocket, which has a limit of its own. */
  release(socket: Socket & Counted): void {
    const address = socket[counted];
    if (address === undefined) return;
    socket[counted] = undefined;
    const left = (this.#held.get(address) ?? 0) - 1;
    if (left > 0) this.#held.set(address, left);
    else this.#held.delete(address);
  }

  /**
   * Whether to send an answer that refuses the connection; a call that returns true is counted. False when its address
   * has received the maximum in this second: a refusal costs the server more than the request costs the client.
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
