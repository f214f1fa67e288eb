import type { Socket } from 'node:net';
import { TurnBudget } from '../../common/event-loop.ts';
import { FixedWindow } from '../../common/fixed-window.ts';
import { networkOf } from '../address.ts';

const maxAnswersPerSecond = 25;
/** To read a piece of a body takes 4 µs, and to parse a request takes as long as `piecesPerRequest` pieces. */
const piecesPerTurn = 2_048;
export const piecesPerRequest = 5;

interface AddressConnections {
  address: string;
  sockets: Set<Socket>;
  /** The pieces of requests that may still arrive in this turn of the event loop. */
  budget: TurnBudget;
}

/**
 * The HTTP connections of each address, without WebSockets. Limits their number, the rate of answers that refuse a
 * connection, and the pieces of requests that are read in one turn of the event loop.
 */
export class Connections {
  readonly #limit: number;
  readonly #byAddress = new Map<string, AddressConnections>();
  /** A closed socket no longer has its address. */
  readonly #bySocket = new WeakMap<Socket, AddressConnections>();
  readonly #stopped = new WeakSet<Socket>();
  readonly #answers = new FixedWindow({ limit: maxAnswersPerSecond, windowSeconds: 1 });

  /** `limit`: the maximum number for each address; infinite if all are from a proxy, which limits its clients. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts the socket until it closes; false if its address has reached the limit. */
  add(socket: Socket): boolean {
    const address = addressOf(socket);
    const own = this.#byAddress.get(address) ?? { address, sockets: new Set(), budget: new TurnBudget(piecesPerTurn) };
    if (own.sockets.size >= this.#limit) return false;
    this.#byAddress.set(address, own);
    this.#bySocket.set(socket, own);
    own.sockets.add(socket);
    socket.once('close', () => this.release(socket));
    return true;
  }

  /** Stops counting the socket, for example when it becomes a WebSocket, which has a limit of its own. */
  release(socket: Socket): void {
    const own = this.#bySocket.get(socket);
    if (own?.sockets.delete(socket) && own.sockets.size === 0) this.#byAddress.delete(own.address);
  }

  /**
   * Whether to send an answer that refuses the connection; a call that returns true is counted. False when its address
   * has received the maximum in this second: a refusal costs the server more than the request costs the client.
   */
  mayAnswer(socket: Socket): boolean {
    return this.#limit === Number.POSITIVE_INFINITY || !this.#answers.charge(addressOf(socket)).isOver;
  }

  /** Counts what was read. After the maximum of a turn, no connection of the address is read until the next turn. */
  count(socket: Socket, pieces = 1): void {
    const own = this.#bySocket.get(socket);
    if (!own) return;
    const left = own.budget.spend(pieces);
    if (left <= 0 && left + pieces > 0) this.#pauseUntilNextTurn(own.sockets, socket);
  }

  /** Leaves all further bytes of the connection in the network. */
  stopReading(socket: Socket): void {
    this.#stopped.add(socket);
    socket.pause();
  }

  #pauseUntilNextTurn(sockets: Set<Socket>, latest: Socket): void {
    // It is read after the others.
    if (sockets.delete(latest)) sockets.add(latest);
    const paused = [...sockets].filter((socket) => !socket.isPaused());
    for (const socket of paused) socket.pause();
    setImmediate(() => {
      for (const socket of paused) if (!this.#stopped.has(socket)) socket.resume();
    });
  }
}

function addressOf({ remoteAddress = '' }: Socket): string {
  return networkOf(remoteAddress);
}
