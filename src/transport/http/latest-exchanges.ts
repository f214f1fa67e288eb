import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Exchange } from './exchange.ts';

/** Each takes 4.5 kB while it waits: for the 1,000 connections of an address 45 MB. */
const maxWaiting = 10;

interface Connection {
  /** Undefined once it is over: a keep-alive connection must not keep its previous request in memory. */
  latest: Exchange | undefined;
  /** The number of requests that wait for answers. One packet can contain 1,500 of them (pipelining). */
  waiting: number;
  /** Whether its last answer is determined. */
  isClosing: boolean;
}

/** The latest exchange of each connection that is not over. While the server stops, its answer closes the connection. */
export class LatestExchanges {
  readonly #connections = new Map<Duplex, Connection>();
  readonly #stopping: AbortSignal | undefined;

  constructor(stopping?: AbortSignal) {
    this.#stopping = stopping;
    stopping?.addEventListener('abort', () => {
      for (const connection of this.#connections.values())
        if (connection.latest?.response.headersSent === false) closeAfter(connection.latest.response, connection);
    });
  }

  find(socket: Duplex): Exchange | undefined {
    return this.#connections.get(socket)?.latest;
  }

  /** Whether a new request on the connection could not be answered, because the answer before it closes the connection. */
  isClosing(socket: Duplex): boolean {
    return this.#connections.get(socket)?.isClosing ?? false;
  }

  /** Called before a request is handled. Returns undefined if too many requests of its connection wait for answers. */
  prepare(response: ServerResponse): Connection | undefined {
    const { socket, method, headers } = response.req;
    const connection = this.#connections.get(socket) ?? this.#open(socket);
    if (connection.waiting === maxWaiting) return undefined;
    connection.waiting += 1;
    // No route reads the body: after the answer all of it would be parsed.
    const hasUnreadBody = method !== 'POST' && headers['transfer-encoding'] !== undefined;
    // After an upgrade that is ignored, Node drops what follows in its packet, and reports no invalid HTTP.
    if (this.#stopping?.aborted || hasUnreadBody || headers.upgrade !== undefined) closeAfter(response, connection);
    return connection;
  }

  /** Call it when the response is closed. */
  forget(response: ServerResponse): void {
    const connection = this.#connections.get(response.req.socket);
    if (!connection) return;
    connection.waiting -= 1;
    if (connection.latest?.response === response) connection.latest = undefined;
  }

  #open(socket: Duplex): Connection {
    const connection = { latest: undefined, waiting: 0, isClosing: false };
    this.#connections.set(socket, connection);
    socket.once('close', () => this.#connections.delete(socket));
    return connection;
  }
}

function closeAfter(response: ServerResponse, connection: Connection): void {
  response.shouldKeepAlive = false;
  connection.isClosing = true;
}
