import type { Socket } from 'node:net';
import { FixedWindow } from '../../fixed-window.ts';
import { networkOf } from '../address.ts';

const maxAnswersPerSecond = 25;

/**
 * Limits the HTTP connections of each address, without WebSockets, and the rate of answers that refuse a connection.
 */
export class ConnectionLimit {
  readonly #limit: number;
  readonly #counts = new Map<string, number>();
  /** The address for which a socket is counted; a closed socket no longer has its address. */
  readonly #addresses = new WeakMap<Socket, string>();
  readonly #answers = new FixedWindow({ limit: maxAnswersPerSecond, windowSeconds: 1 });

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts the socket until it closes; false if its address has reached the limit. */
  add(socket: Socket): boolean {
    const address = addressOf(socket);
    const count = this.#counts.get(address) ?? 0;
    if (count >= this.#limit) return false;
    this.#counts.set(address, count + 1);
    this.#addresses.set(socket, address);
    socket.once('close', () => this.release(socket));
    return true;
  }

  /** Stops counting the socket, for example when it becomes a WebSocket, which has a limit of its own. */
  release(socket: Socket): void {
    const address = this.#addresses.get(socket);
    if (address === undefined) return;
    this.#addresses.delete(socket);
    const left = (this.#counts.get(address) ?? 0) - 1;
    if (left > 0) this.#counts.set(address, left);
    else this.#counts.delete(address);
  }

  /**
   * Whether to send an answer that refuses the connection; a call that returns true is counted. False when its address
   * has received the maximum in this second: a refusal costs the server more than the request costs the client.
   */
  mayAnswer(socket: Socket): boolean {
    return !this.#answers.charge(addressOf(socket)).isOver;
  }
}

function addressOf({ remoteAddress = '' }: Socket): string {
  return networkOf(remoteAddress);
}
