import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Cancellation } from '../../cancellation.ts';
import { findClientError } from '../../engine/answer.ts';
import { ClientError } from '../../errors.ts';
import { addressOf } from '../address.ts';
import type { Drain } from '../drain.ts';
import type { HttpMetrics } from '../metrics/http-metrics.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { createPageRoute } from '../pages/route.ts';
import type { AllowedHosts } from './allowed-hosts.ts';
import type { OwnedResponse } from './contained-server.ts';
import type { Exchange } from './exchange.ts';
import { type GraphqlParts, graphqlMethods, serveGraphql, writeOptions } from './graphql.ts';
import { jsonType } from './negotiation.ts';
import { HttpRefusal, methodNotAllowed, retryAfter503 } from './refusal.ts';
import { resourcePaths, writeResourceMetadata } from './resource-metadata.ts';
import { writeAnswer } from './responses.ts';
import { readTarget } from './target.ts';

export interface PartStates {
  database: PartState;
  /** Only a hint: without it events arrive later. */
  bus: PartState;
}

type PartState = 'up' | 'down';

export interface HttpParts extends GraphqlParts {
  hosts: AllowedHosts;
  drain: Drain;
  /** The state of each part. Operations can be served while the database is up. */
  readState: () => Promise<PartStates>;
  /** Undefined if they are served on another port. */
  metrics: Metrics | undefined;
  httpMetrics: HttpMetrics;
}

/** Starts to answer a request. While the server stops, the answer is an error. */
export type HttpHandler = (request: IncomingMessage, response: ServerResponse, isStopping: boolean) => Exchange;

interface Route {
  methods: readonly string[];
  /** If absent, the path always exists. */
  exists?: (parts: HttpParts) => boolean;
  /** @throws the error that refuses the request. */
  serve: (parts: HttpParts, exchange: Exchange) => void | Promise<void>;
}

const reading = ['GET', 'HEAD'];
const writeConsole = createPageRoute(new URL('../console/page.ts', import.meta.url));

const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['/graphql', { methods: graphqlMethods, serve: serveGraphql }],
  ['/health', { methods: reading, serve: (_, { response }) => writeState(response, 'ok') }],
  ['/ready', { methods: reading, serve: writeReadiness }],
  [
    '/metrics',
    {
      methods: reading,
      exists: ({ metrics }) => metrics !== undefined,
      serve: ({ metrics }, { response }) => metrics?.write(response),
    },
  ],
  [
    '/console',
    {
      methods: reading,
      exists: ({ config }) => config.console,
      serve: (_, { request, response }) => writeConsole(request, response),
    },
  ],
  ['/', { methods: reading, serve: (_, { response }) => writeRedirect(response) }],
  ...resourcePaths.keys().map((path): [string, Route] => [path, { methods: reading, serve: describeResource }]),
  ['*', { methods: ['OPTIONS'], serve: (_, exchange) => writeOptions(exchange) }],
]);

export function createHttpHandler(parts: HttpParts): HttpHandler {
  return (request, response, isStopping) => {
    const exchange: Exchange = {
      request,
      response,
      requestId: randomUUID(),
      address: addressOf(request, parts.config.trustProxy),
      query: undefined,
      viewer: null,
      isResumed: request.headers['last-event-id'] !== undefined,
      cancellation: new Cancellation(),
      rate: undefined,
      report: undefined,
      timer: parts.httpMetrics.begin(request.method, response),
      parts,
      fail: (error) => fail(exchange, error),
    };
    (response as OwnedResponse).exchange = exchange;
    try {
      if (isStopping) throw stopping();
      route(parts, exchange)?.catch(exchange.fail);
    } catch (error) {
      exchange.fail(error);
    }
    return exchange;
  };
}

function route(parts: HttpParts, exchange: Exchange): void | Promise<void> {
  const { request } = exchange;
  const { path, authority, query } = readTarget(request);
  parts.hosts.assertOwn(authority);
  const found = routes.get(path);
  if (!found || found.exists?.(parts) === false) throw nothingHere();
  exchange.timer.route = path;
  if (!found.methods.includes(request.method ?? '')) throw methodNotAllowed(...found.methods);
  exchange.query = query;
  return found.serve(parts, exchange);
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
export function refuse(exchange: Exchange, error: unknown): void {
  const { request, response, parts } = exchange;
  // It logs a fault of the server.
  const answer = parts.engine.refuse(error, exchange);
  if (exchange.isRefused && findClientError(error)) return;
  if (response.headersSent) return void request.socket.destroy();
  exchange.isRefused = true;
  const headers = error instanceof HttpRefusal ? error.headers : undefined;
  parts.operationReports.finish(exchange, answer);
  writeAnswer(exchange, answer, { headers });
}

/** The connection is closed so that the client reconnects, perhaps to another process. */
function stopping(): HttpRefusal {
  return new HttpRefusal('SERVICE_UNAVAILABLE', undefined, { connection: 'close' });
}

function nothingHere(): ClientError {
  return new ClientError('NOT_FOUND', 'There is nothing here; GraphQL is at /graphql.');
}

/** Exists only if an OAuth issuer is configured. */
function describeResource({ config }: HttpParts, exchange: Exchange): void {
  const resource = resourcePaths.get(readTarget(exchange.request).path);
  if (!config.oauth || resource === undefined) throw nothingHere();
  writeResourceMetadata(config, config.oauth, exchange, resource);
}

function writeRedirect(response: ServerResponse): void {
  response.writeHead(302, { location: '/graphql', 'content-length': 0 }).end();
}

/** 503 from the beginning of a drain, so that load balancers send no more clients. */
async function writeReadiness({ readState, drain }: HttpParts, { response }: Exchange): Promise<void> {
  const states = await readState();
  const status = states.database === 'up' ? 'ok' : 'not ready';
  writeState(response, drain.hasBegun ? 'stopping' : status, states);
}

function writeState(response: ServerResponse, status: 'ok' | 'not ready' | 'stopping', states?: PartStates): void {
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
