import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ClientError, type ErrorCode } from '../errors.ts';
import { networkOf } from './address.ts';
import type { Exchange } from './answer-writer.ts';
import { AddressCount, BodyRoom } from './flood.ts';
import { createHttpHandler, graphqlMethods, type HttpParts, refuse } from './http.ts';
import { Origins } from './origins.ts';
import { HttpRefusal, methodNotAllowed, noRoom } from './refusal.ts';
import { refuseSocket } from './socket-refusal.ts';
import { readTarget } from './target.ts';
import type { Upgrade } from './transport.ts';
import { sendHeldAnswers } from './turn-end.ts';

/** The latest exchange over a socket; on the socket itself, where it costs a collector the least. */
const latest = Symbol('latest exchange');
/** Gives the place of a socket back, which is a WebSocket from now on. */
const release = Symbol('release');

interface Carrier {
  [latest]?: Exchange;
  [release]?: () => void;
}

const settings = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 1_000,
  /** Longer than that of a load balancer in front, which otherwise sends into a socket that is just closing. */
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
  // Told in our own words instead.
  requireHostHeader: false,
  /** Whoever offers another protocol, as HTTP/2, is answered in this one. */
  shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
};

/** All that answers on the port: operations, pages, and what is refused before it is either. */
export function createHttpServer(parts: Omit<HttpParts, 'origins' | 'bodies'>, upgrade: Upgrade): Server {
  const origins = new Origins(parts.config);
  const handle = createHttpHandler({ ...parts, origins, bodies: new BodyRoom(parts.config.limits.bodyBytes) });
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const carrier = request.socket as Socket & Carrier;
    carrier[latest] = handle(request, response, !server.listening);
  };
  const server = createServer(settings, onRequest);
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('clientError', (error, socket) => refuseBytes(parts, error, socket));
  server.on('connect', (_request, socket) => {
    sendHeldAnswers();
    refuseOn(parts, socket, methodNotAllowed(...graphqlMethods));
  });
  server.on('upgrade', (request, socket: Socket & Carrier, head) => {
    sendHeldAnswers();
    // It may fail before anyone else listens.
    socket.on('error', () => {});
    try {
      if (readTarget(request).path !== '/graphql') throw new ClientError('NOT_FOUND', 'WebSockets are at /graphql.');
      origins.assertAllowed(request);
      upgrade(request, socket, head, (error) => refuseOn(parts, socket, error));
      socket[release]?.();
    } catch (error) {
      refuseOn(parts, socket, error);
    }
  });
  server.setTimeout(parts.config.stallSeconds * 1_000, (socket) => endStalled(socket));
  // Behind a proxy all connections are the proxy's, which limits those of its clients.
  if (parts.config.trustProxy === 0) limitConnections(server, parts);
  server.once('listening', () => origins.listenOn((server.address() as AddressInfo).port));
  return server;
}

/** So many an address and no more; a WebSocket counts elsewhere. What is refused never gets as far as the parser. */
function limitConnections(server: Server, parts: Pick<HttpParts, 'config' | 'engine'>): void {
  const held = new AddressCount(parts.config.limits.sockets);
  const accept = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket & Carrier) => {
    const address = networkOf(socket.remoteAddress ?? '');
    if (held.isFull(address)) return refuseOn(parts, socket, noRoom());
    held.add(address);
    const leave = () => {
      socket.off('close', leave);
      held.remove(address);
    };
    socket.once('close', leave);
    socket[release] = leave;
    for (const listener of accept) listener.call(server, socket);
  });
}

function refuseOn({ engine }: Pick<HttpParts, 'engine'>, socket: Duplex, error: unknown): void {
  const requestId = randomUUID();
  const headers = error instanceof HttpRefusal ? error.headers : {};
  refuseSocket(socket, engine.refuse(error, requestId), { 'x-request-id': requestId, ...headers });
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
