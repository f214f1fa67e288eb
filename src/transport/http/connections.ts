import { randomUUID } from 'node:crypto';
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { containedEmit, type Failing } from '../../common/contain.ts';
import { TurnBudget } from '../../common/event-loop.ts';
import { FixedWindow } from '../../common/fixed-window.ts';
import type { Log } from '../../log/log.ts';
import { networkOf } from '../address.ts';
import type { AddressLimit } from '../admission/address-limit.ts';

const maxAnswersPerSecond = 25;
/** To read a piece of a body takes 4 µs, and to parse a request takes as long as `piecesPerRequest` pieces. */
const piecesPerTurn = 2_048;
export const piecesPerRequest = 5;
/** Each takes 4.5 kB while it waits: for the 1,000 connections of an address 45 MB. */
const maxWaiting = 10;

/** A response, and the exchange that it belongs to. */
export interface OwnedResponse extends ServerResponse {
  exchange?: Failing;
}

interface Connection {
  readonly socket: Socket;
  readonly ofAddress: AddressConnections;
  /** The latest response; undefined once it is closed: a keep-alive connection must not keep its previous request in memory. */
  latest: OwnedResponse | undefined;
  /** The number of requests that wait for answers. One packet can contain 1,500 of them (pipelining). */
  waiting: number;
  /** Whether its last answer is determined: a further request could not be answered. */
  isClosing: boolean;
  /** Whether its further bytes are left in the network. */
  isStopped: boolean;
}

interface AddressConnections {
  address: string;
  open: Set<Connection>;
  /** The pieces of requests that may still arrive in this turn of the event loop. */
  budget: TurnBudget;
}

interface ConnectionsOptions {
  /** Undefined if all are from a proxy, which limits its clients. */
  limit?: AddressLimit | undefined;
  /** Aborted when the server begins to stop: from then on each answer closes its connection. */
  stopping?: AbortSignal;
}

/**
 * The HTTP connections of each address, without WebSockets, and the latest response of each. Limits their number, the
 * rate of answers that refuse a connection, the requests of a connection that wait, and the pieces of requests that are
 * read in one turn of the event loop.
 */
export class Connections {
  readonly #limit: AddressLimit | undefined;
  readonly #stopping: AbortSignal | undefined;
  readonly #byAddress = new Map<string, AddressConnections>();
  /** A closed socket no longer has its address. */
  readonly #bySocket = new WeakMap<Duplex, Connection>();
  readonly #answers = new FixedWindow({ limit: maxAnswersPerSecond, windowSeconds: 1 });

  constructor({ limit, stopping }: ConnectionsOptions = {}) {
    this.#limit = limit;
    this.#stopping = stopping;
    stopping?.addEventListener('abort', () => {
      for (const { open } of this.#byAddress.values())
        for (const connection of open)
          if (connection.latest?.headersSent === false) closeAfter(connection.latest, connection);
    });
  }

  /** Counts the socket until it closes; false if its address has reached the limit. */
  add(socket: Socket): boolean {
    const address = addressOf(socket);
    const own = this.#byAddress.get(address) ?? { address, open: new Set(), budget: new TurnBudget(piecesPerTurn) };
    if (this.#limit?.allows(address, own.open.size) === false) return false;
    this.#byAddress.set(address, own);
    const connection = { socket, ofAddress: own, latest: undefined, waiting: 0, isClosing: false, isStopped: false };
    this.#bySocket.set(socket, connection);
    own.open.add(connection);
    this.#limit?.report(address, own.open.size);
    socket.once('close', () => this.release(socket));
    return true;
  }

  /** Stops counting the socket, for example when it becomes a WebSocket, which has a limit of its own. */
  release(socket: Socket): void {
    const connection = this.#bySocket.get(socket);
    if (!connection) return;
    const { open, address } = connection.ofAddress;
    if (!open.delete(connection)) return;
    if (open.size === 0) this.#byAddress.delete(address);
    this.#limit?.report(address, open.size);
  }

  /**
   * Whether to send an answer that refuses the connection; a call that returns true is counted. False when its address
   * has received the maximum in this second: a refusal costs the server more than the request costs the client.
   */
  mayAnswer(socket: Socket): boolean {
    return this.#limit === undefined || !this.#answers.charge(addressOf(socket)).isOver;
  }

  find(socket: Duplex): Readonly<Connection> | undefined {
    return this.#bySocket.get(socket);
  }

  /** Call it before a request is handled. False if too many requests of its connection wait for answers. */
  begin(response: ServerResponse): boolean {
    const { socket, method, headers } = response.req;
    const connection = this.#bySocket.get(socket);
    if (!connection || connection.waiting === maxWaiting) return false;
    connection.waiting += 1;
    connection.latest = response;
    // No route reads the body: after the answer all of it would be parsed.
    const hasUnreadBody = method !== 'POST' && headers['transfer-encoding'] !== undefined;
    // After an upgrade that is ignored, Node drops what follows in its packet, and reports no invalid HTTP.
    if (this.#stopping?.aborted || hasUnreadBody || headers.upgrade !== undefined) closeAfter(response, connection);
    return true;
  }

  /** Call it when the response is closed. */
  end(response: ServerResponse): void {
    const connection = this.#bySocket.get(response.req.socket);
    if (!connection) return;
    connection.waiting -= 1;
    if (connection.latest === response) connection.latest = undefined;
  }

  /** Counts what was read. After the maximum of a turn, no connection of the address is read until the next turn. */
  count(socket: Socket, pieces = 1): void {
    const connection = this.#bySocket.get(socket);
    if (!connection) return;
    const left = connection.ofAddress.budget.spend(pieces);
    if (left <= 0 && left + pieces > 0) pauseUntilNextTurn(connection);
  }

  /** Leaves all further bytes of the connection in the network. */
  stopReading(socket: Socket): void {
    const connection = this.#bySocket.get(socket);
    if (connection) connection.isStopped = true;
    socket.pause();
  }
}

/** Pauses all connections of the address. */
function pauseUntilNextTurn(latest: Connection): void {
  const { open } = latest.ofAddress;
  // It is read after the others.
  if (open.delete(latest)) open.add(latest);
  const paused = [...open].filter(({ socket }) => !socket.isPaused());
  for (const { socket } of paused) socket.pause();
  setImmediate(() => {
    for (const { socket, isStopped } of paused) if (!isStopped) socket.resume();
  });
}

function closeAfter(response: ServerResponse, connection: Connection): void {
  response.shouldKeepAlive = false;
  connection.isClosing = true;
}

function addressOf({ remoteAddress = '' }: Socket): string {
  return networkOf(remoteAddress);
}

interface ContainedServerParts {
  log: Pick<Log, 'error'>;
  connections: Connections;
  /** Takes over a connection above the limit, which never reaches the HTTP parser. */
  refuse(socket: Socket): void;
}

/**
 * An HTTP server of which no listener can end the process: the exception of a listener of a socket, a request or a response
 * fails the exchange. If there is none, the socket is destroyed.
 */
export function createContainedServer(
  settings: ServerOptions,
  onRequest: RequestListener,
  { log, connections, refuse }: ContainedServerParts,
): Server {
  const fail = (socket: Duplex | undefined, error: unknown, response?: OwnedResponse) => {
    if (response?.exchange) return response.exchange.fail(error);
    log.error({ connectionId: randomUUID(), err: error }, 'the work of a connection failed');
    socket?.destroy();
  };
  class ContainedRequest extends IncomingMessage {}
  ContainedRequest.prototype.emit = containedEmit<IncomingMessage>((request, error) => {
    const latest = connections.find(request.socket)?.latest;
    fail(request.socket, error, latest?.req === request ? latest : undefined);
  });
  class ContainedResponse extends ServerResponse {}
  ContainedResponse.prototype.emit = containedEmit<OwnedResponse>((response, error) =>
    fail(response.req.socket, error, response),
  );
  const classes = { IncomingMessage: ContainedRequest, ServerResponse: ContainedResponse };
  const server = createServer({ ...settings, ...classes }, onRequest);
  const emitOfSocket = containedEmit<Socket>((socket, error) => fail(socket, error, connections.find(socket)?.latest));
  const emit = containedEmit((_, error, values) => fail(findSocket(values), error));
  server.emit = (event: string, ...values: unknown[]) => {
    const [socket] = values;
    if (event !== 'connection' || !(socket instanceof Socket)) return emit.call(server, event, ...values);
    socket.emit = emitOfSocket;
    if (connections.add(socket)) return emit.call(server, event, socket);
    refuse(socket);
    return true;
  };
  return server;
}

/** The socket that an event of a server is about, if any. */
function findSocket(values: readonly unknown[]): Duplex | undefined {
  const [first] = values;
  return first instanceof IncomingMessage ? first.socket : values.find((value) => value instanceof Duplex);
}
