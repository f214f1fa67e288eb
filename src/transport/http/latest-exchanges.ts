import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { WaitingRequests } from '../admission/waiting-requests.ts';
import type { Exchange } from './exchange.ts';

/** The latest exchange of each connection that is not over. While the server stops, its answer closes the connection. */
export class LatestExchanges {
  readonly #exchanges = new Map<Duplex, Exchange>();
  readonly #waiting = new WaitingRequests();
  /** Connections whose last answer is determined. */
  readonly #closing = new WeakSet<Duplex>();
  readonly #stopping: AbortSignal;

  constructor(stopping: AbortSignal) {
    this.#stopping = stopping;
    stopping.addEventListener('abort', () => {
      for (const { response } of this.#exchanges.values()) if (!response.headersSent) this.#closeAfter(response);
    });
  }

  find(socket: Duplex): Exchange | undefined {
    return this.#exchanges.get(socket);
  }

  /** Whether a new request on the connection could not be answered, because the answer before it closes the connection. */
  isClosing(socket: Duplex): boolean {
    return this.#closing.has(socket);
  }

  /** Called before a request is handled. Returns false if too many requests of its connection wait for answers. */
  prepare(response: ServerResponse): boolean {
    if (!this.#waiting.add(response.req.socket)) return false;
    const { method, headers } = response.req;
    // No route reads the body: after the answer all of it would be parsed.
    const hasUnreadBody = method !== 'POST' && headers['transfer-encoding'] !== undefined;
    // After an upgrade that is ignored, Node drops what follows in its packet, and reports no invalid HTTP.
    if (this.#stopping.aborted || hasUnreadBody || headers.upgrade !== undefined) this.#closeAfter(response);
    response.on('close', () => this.#forget(response));
    return true;
  }

  add(socket: Duplex, exchange: Exchange): void {
    this.#exchanges.set(socket, exchange);
  }

  /** A keep-alive connection must not keep its previous request in memory. */
  #forget(response: ServerResponse): void {
    const { socket } = response.req;
    this.#waiting.remove(socket);
    if (this.#exchanges.get(socket)?.response === response) this.#exchanges.delete(socket);
  }

  #closeAfter(response: ServerResponse): void {
    response.shouldKeepAlive = false;
    this.#closing.add(response.req.socket);
  }
}
