import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ClientError, type ErrorCode } from '../../errors.ts';
import { Connections, piecesPerRequest } from '../admission/connections.ts';
import { BodyBudget } from '../admission/memory-budgets.ts';
import { flushAnswers } from '../batched-writes.ts';
import type { WebSocketEndpoint } from '../websocket/server.ts';
import { createContainedServer } from './contained-server.ts';
import type { Exchange, HttpParts, OwnedResponse } from './exchange.ts';
import { graphqlMethods } from './graphql.ts';
import { Origins } from './origins.ts';
import { linger, methodNotAllowed, refuseSocket } from './refusal.ts';
import { createHttpHandler, refuse } from './routes.ts';
import { AllowedHosts } from './target.ts';

const settings = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 1_000,
  /** Longer than that of usual load balancers, which would otherwise send requests to a socket that is being closed. */
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
  // Checked by AllowedHosts, which answers with an error of its own.
  requireHostHeader: false,
  /** A request that offers another protocol, such as HTTP/2, is answered in HTTP/1.1. */
  shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
};

/** The HTTP server: operations, pages, WebSocket handshakes, and the errors of connections without a valid request. */
export function createHttpServer(
  parts: Omit<HttpParts, 'origins' | 'hosts' | 'bodies' | 'connections'>,
  upgrade: WebSocketEndpoint['upgrade'],
): Server {
  const { limits, trustProxy } = parts.config;
  const origins = new Origins(parts.config, parts.log);
  const hosts = new AllowedHosts(parts.config);
  const bodies = new BodyBudget(limits.bodyBytes);
  // With a proxy in front, all connections come from the proxy, which limits those of its clients.
  const limit = trustProxy === 0 ? limits.sockets : Number.POSITIVE_INFINITY;
  const connections = new Connections({ limit, stopping: parts.stopping });
  const latestOf = (socket: Duplex) => (connections.find(socket)?.latest as OwnedResponse | undefined)?.exchange;
  const handle = createHttpHandler({ ...parts, origins, hosts, bodies, connections });
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    connections.count(socket, piecesPerRequest);
    const isStopping = !server.listening || connections.find(socket)?.isClosing === true;
    // The rest of the packet is parsed nevertheless.
    if (connections.begin(response)) handle(request, response, isStopping);
    else socket.destroy();
  };
  const refuseConnection = (socket: Socket, isQuiet = false) => {
    if (!connections.mayAnswer(socket)) return void socket.resetAndDestroy();
    refuseSocket(parts.engine, socket, new ClientError('SERVICE_UNAVAILABLE'), isQuiet);
  };
  const server = createContainedServer(settings, onRequest, {
    log: parts.log,
    connections,
    refuse: (socket) => refuseConnection(socket.on('error', ignore)),
  });
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('clientError', (error, socket) => answerParseError(parts, error, socket, latestOf(socket)));
  server.on('connect', (_request, socket) => {
    flushAnswers();
    refuseSocket(parts.engine, socket, methodNotAllowed(...graphqlMethods));
  });
  server.on('upgrade', (request, socket: Socket, head) => {
    flushAnswers();
    // The socket may fail before another listener is added.
    socket.on('error', ignore);
    try {
      const { path } = hosts.readTarget(request);
      if (path !== '/graphql') throw new ClientError('NOT_FOUND', 'WebSockets are at /graphql.');
      origins.assertAllowed(request);
      if (upgrade(request, socket, head)) connections.release(socket);
      else refuseConnection(socket, head.length === 0);
    } catch (error) {
      refuseSocket(parts.engine, socket, error, head.length === 0);
    }
  });
  server.setTimeout(parts.config.stallSeconds * 1_000, (socket) => {
    const last = latestOf(socket);
    // A client that reads nothing or sends no request is disconnected, and one that waits for its answer is not.
    const isWaiting = last && !last.response.writableFinished && last.response.writableLength === 0;
    if (!isWaiting) socket.destroy();
  });
  server.once('listening', () => {
    const { address, port } = server.address() as AddressInfo;
    origins.listenOn(port);
    hosts.listenOn(address);
  });
  return server;
}

function ignore(): void {}

const refused = new WeakSet<Duplex>();

/** Answers bytes that the parser rejects. A pending answer is sent first. */
function answerParseError(
  parts: Pick<HttpParts, 'engine'>,
  error: Error & { code?: string; rawPacket?: Buffer },
  socket: Duplex,
  last: Exchange | undefined,
): void {
  // The parser reports the error again for each later packet.
  if (refused.has(socket)) return;
  refused.add(socket);
  flushAnswers();
  const fault = explain(error);
  if (!fault || !socket.writable) return void socket.destroy();
  if (!last || last.response.writableFinished) return refuseSocket(parts.engine, socket, fault);
  // An answer that is complete may wait for those before it.
  if (last.response.writableEnded) return void last.response.once('finish', () => linger(socket.end()));
  if (last.response.headersSent) return void socket.destroy();
  last.response.setHeader('connection', 'close');
  if (!last.request.complete) refuse(last, fault);
}

const codes: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'PAYLOAD_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

/** The error for the client; undefined if the socket itself has failed. */
function explain({ code = '', rawPacket }: { code?: string; rawPacket?: Buffer }): ClientError | undefined {
  const line = rawPacket?.toString('latin1', 0, 10_000) ?? '';
  if (code === 'HPE_HEADER_OVERFLOW' && /^[A-Z]+ \S{8192}/.test(line)) return new ClientError('URI_TOO_LONG');
  if (code === 'HPE_INVALID_METHOD' && /^[A-Z]+ /.test(line)) return methodNotAllowed(...graphqlMethods);
  const clientCode = codes[code];
  if (clientCode) return new ClientError(clientCode);
  return code.startsWith('HPE_') ? new ClientError('BAD_REQUEST') : undefined;
}
