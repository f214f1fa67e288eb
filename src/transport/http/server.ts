import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ClientError, type ErrorCode } from '../../errors.ts';
import { BodyBudget } from '../admission/body-budget.ts';
import { ConnectionLimit } from '../admission/connection-limit.ts';
import { PerTurnQueue } from '../admission/per-turn-queue.ts';
import { sendHeldAnswers } from '../batched-writes.ts';
import type { Upgrade } from '../transport.ts';
import { Origins } from './origins.ts';
import { OwnHosts } from './own-hosts.ts';
import { HttpRefusal, methodNotAllowed, noRoom } from './refusal.ts';
import type { Exchange } from './responses.ts';
import { createHttpHandler, graphqlMethods, type HttpParts, refuse } from './routes.ts';
import { writeRefusal } from './socket-refusal.ts';
import { readTarget } from './target.ts';

/** The latest exchange over a socket; on the socket itself, where it costs a collector the least. */
const latest = Symbol('latest exchange');

interface Carrier {
  [latest]?: Exchange | undefined;
}

const settings = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 1_000,
  /** Longer than that of a load balancer in front, which otherwise sends into a socket that is just closing. */
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
  // To set it takes a quarter of what it takes to accept a connection, and those of a flood may ask for nothing; see onRequest.
  noDelay: false,
  // Told in our own words instead.
  requireHostHeader: false,
  /** Whoever offers another protocol, as HTTP/2, is answered in this one. */
  shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
};

/** All that answers on the port: operations, pages, and what is refused before it is either. */
export function createHttpServer(parts: Omit<HttpParts, 'origins' | 'hosts' | 'bodies'>, upgrade: Upgrade): Server {
  const origins = new Origins(parts.config);
  const hosts = new OwnHosts(parts.config);
  const handle = createHttpHandler({ ...parts, origins, hosts, bodies: new BodyBudget(parts.config.limits.bodyBytes) });
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const carrier = request.socket as Socket & Carrier;
    carrier.setNoDelay(true);
    carrier[latest] = handle(request, response, !server.listening);
    response.on('close', forget);
  };
  const server = createServer(settings, onRequest);
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('clientError', (error, socket) => refuseBytes(parts, error, socket));
  server.on('connect', (_request, socket) => {
    sendHeldAnswers();
    refuseOn(parts, socket, methodNotAllowed(...graphqlMethods));
  });
  const refuseSocket = (socket: Socket, error: unknown) => refuseOn(parts, socket, error);
  // Behind a proxy all connections are the proxy's, which limits those of its clients.
  const limit = parts.config.trustProxy === 0 ? new ConnectionLimit(parts.config.limits.sockets) : undefined;
  // To reset a connection wakes its client, which takes as long as all else of it: of a crowd, one a turn.
  const resets = new PerTurnQueue<Socket>(1, (socket) => socket.resetAndDestroy());
  const turnAway = (socket: Socket, isQuiet = false) => {
    if (limit && !limit.mayAnswer(socket)) resets.push(socket);
    else refuseOn(parts, socket, noRoom(), isQuiet);
  };
  if (limit) limitConnections(server, limit, turnAway);
  server.on('upgrade', (request, socket: Socket, head) => {
    sendHeldAnswers();
    // It may fail before anyone else listens.
    socket.on('error', ignore);
    try {
      const { path, authority } = readTarget(request);
      hosts.assertOwn(authority);
      if (path !== '/graphql') throw new ClientError('NOT_FOUND', 'WebSockets are at /graphql.');
      origins.assertAllowed(request);
      if (upgrade(request, socket, head, refuseSocket)) limit?.release(socket);
      else turnAway(socket, head.length === 0);
    } catch (error) {
      refuseOn(parts, socket, error, head.length === 0);
    }
  });
  server.setTimeout(parts.config.stallSeconds * 1_000, (socket) => endStalled(socket));
  server.once('listening', () => {
    const { address, port } = server.address() as AddressInfo;
    origins.listenOn(port);
    hosts.listenOn(address);
  });
  return server;
}

function ignore(): void {}

/** A connection that is kept between requests keeps nothing of the last. */
function forget(this: ServerResponse): void {
  const carrier = this.req.socket as Socket & Carrier;
  if (carrier[latest]?.response === this) carrier[latest] = undefined;
}

/** What is refused never gets as far as the parser. */
function limitConnections(server: Server, limit: ConnectionLimit, turnAway: (socket: Socket) => void): void {
  const accept = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (limit.take(socket)) for (const listener of accept) listener.call(server, socket);
    else turnAway(socket.on('error', ignore));
  });
}

function refuseOn({ engine }: Pick<HttpParts, 'engine'>, socket: Duplex, error: unknown, isQuiet = false): void {
  const requestId = randomUUID();
  const headers = error instanceof HttpRefusal ? error.headers : {};
  writeRefusal(socket, engine.refuse(error, requestId), {
    headers: { 'x-request-id': requestId, ...headers },
    isQuiet,
  });
}

/** Who takes no byte of what waits for it is let go, and who asks for nothing more; who only waits for us is not. */
function endStalled(socket: Socket & Carrier): void {
  const last = socket[latest];
  const isWaiting = last && !last.response.writableFinished && last.response.writableLength === 0;
  if (!isWaiting) socket.destroy();
}

const refused = new WeakSet<Duplex>();

/** What the parser says no to. An answer that is on its way comes first. */
function refuseBytes(
  parts: Pick<HttpParts, 'engine'>,
  error: Error & { code?: string; rawPacket?: Buffer },
  socket: Duplex & Carrier,
): void {
  // The parser complains again of each packet that follows.
  if (refused.has(socket)) return;
  refused.add(socket);
  sendHeldAnswers();
  const fault = explain(error);
  const last = socket[latest];
  if (!fault || !socket.writable) return void socket.destroy();
  if (!last || last.response.writableFinished) return refuseOn(parts, socket, fault);
  if (last.response.headersSent) return void socket.destroy();
  last.response.setHeader('connection', 'close');
  if (!last.request.complete) refuse(parts, last, fault);
}

const codes: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'PAYLOAD_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

/** Undefined where the socket itself failed. */
function explain({ code = '', rawPacket }: { code?: string; rawPacket?: Buffer }): ClientError | undefined {
  const line = rawPacket?.toString('latin1', 0, 10_000) ?? '';
  if (code === 'HPE_HEADER_OVERFLOW' && /^[A-Z]+ \S{8192}/.test(line)) return new ClientError('URI_TOO_LONG');
  if (code === 'HPE_INVALID_METHOD' && /^[A-Z]+ /.test(line)) return methodNotAllowed(...graphqlMethods);
  const known = codes[code];
  if (known) return new ClientError(known);
  return code.startsWith('HPE_') ? new ClientError('BAD_REQUEST') : undefined;
}
