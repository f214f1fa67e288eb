import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Cancellation, ClientDisconnected } from '../../common/cancellation.ts';
import { containOne } from '../../common/contain.ts';
import { PerTurnQueue } from '../../common/event-loop.ts';
import { createRequestId } from '../../common/ids.ts';
import type { Config } from '../../config/config.ts';
import { findClientError } from '../../engine/answer.ts';
import { ClientError, statusAsJson } from '../../errors.ts';
import { addressOf, exactAddressOf } from '../address.ts';
import { AddressLimit } from '../admission/address-limit.ts';
import { BodyBudget } from '../admission/memory-budgets.ts';
import { flushAnswers } from '../batched-writes.ts';
import { writeConsole } from '../pages/route.ts';
import type { WebSocketEndpoint } from '../websocket/server.ts';
import { Connections, createContainedServer, type OwnedResponse, piecesPerRequest } from './connections.ts';
import { type DependencyStates, type Exchange, type HttpParts, replaced, type Serve } from './exchange.ts';
import { serveGraphql, writeOptions } from './graphql.ts';
import { jsonType, parseAccept } from './negotiation.ts';
import { createOrigins } from './origins.ts';
import {
  answerParseError,
  graphqlMethods,
  HttpRefusal,
  methodNotAllowed,
  refuseSocket,
  retryAfter503,
} from './refusal.ts';
import { resourcePaths, writeResourceMetadata } from './resource-metadata.ts';
import { writeAnswer } from './responses.ts';
import { AllowedHosts, loopbackAddress } from './target.ts';

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

interface Route {
  methods: readonly string[];
  serve: Serve;
}

/** A refusal takes about 40 µs. */
const requestsPerTurn = 100;
const reading = ['GET', 'HEAD'];
const redirect = { location: '/graphql', 'content-length': 0 };

/** The HTTP server: operations, pages, WebSocket handshakes, and the errors of connections without a valid request. */
export function createHttpServer(
  parts: Omit<HttpParts, 'origins' | 'hosts' | 'bodies' | 'connections'>,
  upgrade: WebSocketEndpoint['upgrade'],
): Server {
  const { limits, trustProxy } = parts.config;
  const origins = createOrigins(parts.config, parts.log);
  const hosts = new AllowedHosts(parts.config);
  const bodies = new BodyBudget(limits.bodyBytes);
  // With a proxy in front, all connections come from the proxy, which limits those of its clients.
  const limit = trustProxy === 0 ? new AddressLimit(limits.sockets, 'connections', parts.parent) : undefined;
  const connections = new Connections({ limit, stopping: parts.stopping });
  const latestOf = (socket: Duplex) => connections.find(socket)?.latest?.exchange as Exchange | undefined;
  const handle = createHttpHandler({ ...parts, origins, hosts, bodies, connections });
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    connections.count(socket, piecesPerRequest);
    // A client may not have seen yet that the server stops: one more request of each connection is answered.
    const isStopping = connections.find(socket)?.isClosing === true;
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
  server.on('clientError', (error, socket) => answerParseError(parts.engine, error, socket, latestOf(socket)));
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

function createRoutes({ config, metrics }: HttpParts): Map<string, Route> {
  const routes = new Map<string, Route>([
    ['/graphql', { methods: graphqlMethods, serve: serveGraphql }],
    ['/health', { methods: reading, serve: ({ response }) => writeState(response, 'ok') }],
    ['/ready', { methods: reading, serve: writeReadiness }],
    ['/', { methods: reading, serve: ({ response }) => void response.writeHead(302, redirect).end() }],
    ['*', { methods: ['OPTIONS'], serve: writeOptions }],
  ]);
  if (metrics) routes.set('/metrics', { methods: reading, serve: ({ response }) => metrics.write(response) });
  if (config.console) routes.set('/console', { methods: reading, serve: writeConsole });
  for (const [path, resource] of config.oauth ? resourcePaths : []) {
    routes.set(path, { methods: reading, serve: (exchange) => writeResourceMetadata(exchange, resource) });
  }
  return routes;
}

/** The result starts to answer a request. While the server stops, the answer is an error. */
function createHttpHandler(parts: HttpParts) {
  const routes = createRoutes(parts);
  const begin = (exchange: Exchange) => {
    // Its client has left, or has sent something that was refused, while the request waited.
    if (exchange.isRefused || exchange.request.socket.destroyed) return;
    containOne(exchange, route, routes);
  };
  const turns = new PerTurnQueue(requestsPerTurn, begin, ({ address }) => address);
  return (request: IncomingMessage, response: ServerResponse, isStopping: boolean): void => {
    const exchange: Exchange = {
      request,
      response,
      requestId: createRequestId(),
      address: addressOf(request, parts.config.trustProxy),
      query: undefined,
      viewer: null,
      isResumed: request.headers['last-event-id'] !== undefined,
      cancellation: new Cancellation(),
      rate: undefined,
      report: undefined,
      route: '',
      startedAt: performance.now(),
      isRecorded: false,
      body: undefined,
      parts,
      fail: (error) => fail(exchange, error),
    };
    parts.httpMetrics.begin();
    (response as OwnedResponse).exchange = exchange;
    response.on('close', () => {
      parts.connections.end(response);
      parts.httpMetrics.end(exchange);
      if (!response.writableFinished) exchange.cancellation.cancel(new ClientDisconnected());
      exchange.body?.abort();
    });
    // The connection is closed so that the client reconnects, perhaps to another process.
    if (isStopping) exchange.fail(new HttpRefusal('SERVICE_UNAVAILABLE', undefined, { connection: 'close' }));
    else turns.push(exchange);
  };
}

function route(exchange: Exchange, routes: ReadonlyMap<string, Route>): void | Promise<void> {
  const { request, parts } = exchange;
  const { path, query } = parts.hosts.readTarget(request);
  // For a client that may not read the metrics, the path does not exist.
  const isHidden = path === '/metrics' && !mayReadMetrics(request, parts.config);
  const found = isHidden ? undefined : routes.get(path);
  if (!found) throw new ClientError('NOT_FOUND', 'There is nothing here; GraphQL is at /graphql.');
  exchange.route = path;
  if (!found.methods.includes(request.method ?? '')) throw methodNotAllowed(...found.methods);
  exchange.query = query;
  return found.serve(exchange);
}

/** Answers with an error. If the answer has begun, or cannot be written, the connection is closed. */
function fail(exchange: Exchange, error: unknown): void {
  try {
    refuse(exchange, error);
  } catch (fault) {
    exchange.parts.log.error({ requestId: exchange.requestId, err: fault }, 'an error could not be answered');
    exchange.request.socket.destroy();
  }
}

/**
 * Answers with an error, once: after an error of the parser was answered, the rest of the body may cause another error.
 * If the headers of another answer are already sent, it closes the connection.
 */
function refuse(exchange: Exchange, error: unknown): void {
  const { request, response, parts } = exchange;
  // It logs a fault of the server.
  const answer = parts.engine.refuse(error, exchange);
  const found = findClientError(error);
  if (exchange.isRefused && found) return;
  if (response.headersSent) return void request.socket.destroy();
  exchange.isRefused = true;
  const headers = error instanceof HttpRefusal ? error.headers : undefined;
  parts.operationReports.finish(exchange, answer);
  const accepted = parseAccept(request.headers.accept);
  const status = found && accepted.acceptsJson ? statusAsJson[found.code] : undefined;
  if (status === undefined) writeAnswer(exchange, answer, { headers });
  else writeAnswer(exchange, { ...answer, status }, { accepted: { ...accepted, result: jsonType } });
}

/** 503 as soon as the server stops, so that load balancers send no more clients. */
async function writeReadiness({ response, parts }: Exchange): Promise<void> {
  const isStopping = parts.stopping.aborted && parts.stopping.reason !== replaced;
  const states = await parts.readState();
  const status = states.database === 'up' ? 'ok' : 'not ready';
  writeState(response, isStopping ? 'stopping' : status, states);
}

function writeState(
  response: ServerResponse,
  status: 'ok' | 'not ready' | 'stopping',
  states?: DependencyStates,
): void {
  const isWell = status === 'ok';
  const content = JSON.stringify({ status, ...states });
  response.writeHead(isWell ? 200 : 503, {
    'content-type': `${jsonType}; charset=utf-8`,
    'content-length': content.length,
    'cache-control': 'no-store',
    ...(!isWell && { 'retry-after': retryAfter503 }),
  });
  response.end(content);
}

/** Whether the client may read the metrics on the public port. */
function mayReadMetrics(request: IncomingMessage, config: Config): boolean {
  const address = exactAddressOf(request, config.trustProxy);
  // A loopback address that was forwarded is one of the proxy's machine.
  const isLocal = loopbackAddress.test(address) && loopbackAddress.test(request.socket.remoteAddress ?? '');
  if (config.metricsPublic || isLocal) return true;
  return isIP(address) !== 0 && config.metricsNetworks.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
}
