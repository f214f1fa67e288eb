import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from '../../engine/answer.ts';
import { Cancellation } from '../../engine/cancellation.ts';
import { isAnswer } from '../../engine/engine.ts';
import { eventStreamBytes } from '../../engine/limits/retained.ts';
import type { GraphQLRequest, PreparedOperation } from '../../engine/operation.ts';
import { ClientError } from '../../errors.ts';
import type { Viewer } from '../../identity/viewer.ts';
import { addressOf } from '../address.ts';
import type { BodyBudget } from '../admission/body-budget.ts';
import type { HeldAnswer } from '../admission/unsent-answers.ts';
import { writeGraphiql } from '../graphiql/route.ts';
import type { Metrics } from '../metrics.ts';
import { runEventStream, writeAnswerAsStream } from '../sse.ts';
import type { TransportParts } from '../transport.ts';
import { clientLeft } from '../websocket/connection.ts';
import { type Accepted, eventStream, json, parseAccept } from './negotiation.ts';
import { assertNotCrossSite, corsHeaders, type Origins, preflightHeaders } from './origins.ts';
import type { OwnHosts } from './own-hosts.ts';
import { HttpRefusal, methodNotAllowed } from './refusal.ts';
import { namesDocument, readGetRequest, readPostRequest } from './request.ts';
import { metadataUrlOf, resourcePaths, writeResourceMetadata } from './resource-metadata.ts';
import { type Exchange, writeAnswer } from './responses.ts';
import { readTarget } from './target.ts';

/* GraphQL over HTTP: https://graphql.github.io/graphql-over-http/draft/ */

export interface HttpParts extends TransportParts {
  origins: Origins;
  hosts: OwnHosts;
  bodies: BodyBudget;
  /** Whether operations can be served. */
  isReady: () => Promise<boolean>;
  metrics: Metrics;
}

/** Starts to answer a request. While the server stops, the answer is an error. */
export type HttpHandler = (request: IncomingMessage, response: ServerResponse, isStopping: boolean) => Exchange;

interface Route {
  methods: readonly string[];
  serve: (parts: HttpParts, exchange: Exchange) => void | Promise<void>;
}

export const graphqlMethods = ['GET', 'HEAD', 'POST', 'OPTIONS'] as const;
const reading = ['GET', 'HEAD'];

const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['/graphql', { methods: graphqlMethods, serve: serveGraphql }],
  ['/health', { methods: reading, serve: (_, { response }) => writeState(response, true) }],
  ['/ready', { methods: reading, serve: async ({ isReady }, { response }) => writeState(response, await isReady()) }],
  ['/metrics', { methods: reading, serve: ({ metrics }, { response }) => metrics.write(response) }],
  ['/', { methods: reading, serve: (_, { response }) => writeRedirect(response) }],
  ...resourcePaths.keys().map((path): [string, Route] => [path, { methods: reading, serve: describeResource }]),
  ['*', { methods: ['OPTIONS'], serve: (_, { response }) => writeOptions(response) }],
]);

export function createHttpHandler(parts: HttpParts): HttpHandler {
  return (request, response, isStopping) => {
    const resourceMetadata = metadataUrlOf(parts.config, request);
    const exchange: Exchange = {
      request,
      response,
      requestId: randomUUID(),
      address: addressOf(request, parts.config.trustProxy),
      unsent: parts.unsent,
      query: undefined,
      resourceMetadata,
    };
    if (isStopping) refuse(parts, exchange, stopping());
    else attempt(parts, exchange, () => route(parts, exchange));
    return exchange;
  };
}

/** Runs `serve`; an error that it throws, synchronously or not, becomes the answer. */
function attempt(parts: HttpParts, exchange: Exchange, serve: () => void | Promise<void>): void {
  const fail = (error: unknown) => refuse(parts, exchange, error);
  try {
    serve()?.catch(fail);
  } catch (error) {
    fail(error);
  }
}

function route(parts: HttpParts, exchange: Exchange): void | Promise<void> {
  const { request } = exchange;
  const { path, authority, query } = readTarget(request);
  parts.hosts.assertOwn(authority);
  const found = routes.get(path);
  if (!found) throw nothingHere();
  if (!found.methods.includes(request.method ?? '')) throw methodNotAllowed(...found.methods);
  exchange.query = query;
  return found.serve(parts, exchange);
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

/** Answers with an error; if the headers are already sent, it closes the connection. */
export function refuse({ engine }: Pick<HttpParts, 'engine'>, exchange: Exchange, error: unknown): void {
  if (exchange.response.headersSent) return void exchange.response.destroy();
  const headers = error instanceof HttpRefusal ? error.headers : undefined;
  writeAnswer(exchange, engine.refuse(error, exchange.requestId), { headers });
}

function serveGraphql(parts: HttpParts, exchange: Exchange): void | Promise<void> {
  const { request, response } = exchange;
  admitPage(parts.origins, exchange);
  if (request.method === 'OPTIONS') return writeOptions(response);
  assertExpectation(request);
  const accepted = parseAccept(request.headers.accept);
  const isPost = request.method === 'POST';
  const mayExplore = !isPost && accepted.prefersPage && parts.config.graphiql;
  if (mayExplore && !namesDocument(exchange.query)) return writeGraphiql(request, response);
  if (!isPost) assertNotCrossSite(request);
  if (accepted.result === undefined) throw new ClientError('NOT_ACCEPTABLE');
  const cancellation = new Cancellation();
  const reservation = isPost ? parts.bodies.open() : undefined;
  response.on('close', () => {
    reservation?.close();
    if (!response.writableFinished) cancellation.cancel(clientLeft());
  });
  const serve = (operation: GraphQLRequest) => serveOperation(parts, exchange, { accepted, cancellation, operation });
  if (!reservation) return serve(readGetRequest(exchange.query));
  const proceed = () => {
    if (request.headers.expect !== undefined) response.writeContinue();
  };
  const options = { maxBytes: parts.config.limits.bodyBytes, reservation, proceed };
  readPostRequest(request, options, (read) => {
    // The parser may have rejected the request meanwhile, and an error may have been sent.
    if (!response.headersSent) attempt(parts, exchange, () => serve(read()));
  });
}

/** Pages of other origins receive no CORS header; pages of allowed origins may read the answer. */
function admitPage(origins: Origins, { request, response }: Exchange): void {
  origins.assertAllowed(request);
  const { origin } = request.headers;
  if (origin === undefined) return;
  const isPreflight = request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
  const headers = { ...corsHeaders(origin), ...(isPreflight && preflightHeaders()) };
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

function assertExpectation({ headers }: IncomingMessage): void {
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    throw new ClientError('EXPECTATION_FAILED');
  }
}

/** The operation of a request, and the accepted kinds of answers. */
interface Wanted {
  accepted: Accepted;
  /** Cancels the operation when the client disconnects. */
  cancellation: Cancellation;
  operation: GraphQLRequest;
}

/** Authenticates the viewer, then prepares and runs the operation. */
function serveOperation(parts: HttpParts, exchange: Exchange, wanted: Wanted): Promise<void> {
  const { address, request } = exchange;
  const { headers } = request;
  const serve = (viewer: Viewer | null): Promise<void> => {
    const isResumed = headers['last-event-id'] !== undefined;
    const { requestId } = exchange;
    const call = { viewer, address, isResumed, requestId, cancellation: wanted.cancellation };
    const prepared = parts.engine.prepare(wanted.operation, call);
    return prepared.then((operation) => run(parts, exchange, { ...wanted, viewer }, operation));
  };
  const { authorization } = headers;
  return authorization === undefined ? serve(null) : parts.authenticate(authorization, address).then(serve);
}

/** A request whose credentials have been checked. */
interface Admitted extends Wanted {
  viewer: Viewer | null;
}

function run(
  parts: HttpParts,
  exchange: Exchange,
  wanted: Admitted,
  prepared: PreparedOperation | Answer,
): void | Promise<void> {
  if (isAnswer(prepared)) return writeAnswer(exchange, prepared);
  if (wanted.cancellation.isCancelled) return;
  const isPost = exchange.request.method === 'POST';
  if (prepared.type === 'mutation' && !isPost) throw methodNotAllowed('POST');
  if (prepared.type === 'subscription') return stream(parts, exchange, prepared, wanted);
  const answer = parts.unsent.execute(prepared, exchange.request.socket, exchange.address);
  const { accepted } = wanted;
  const write = (done: HeldAnswer) => {
    if (done.status === 294) exchange.response.statusMessage = 'Partial Success';
    if (accepted.result === eventStream && done.status < 400) writeAnswerAsStream(exchange, done);
    else writeAnswer(exchange, done, { accepted, cachePolicy: isPost ? undefined : prepared.cachePolicy });
    // From here on the bytes of the written answer are counted instead.
    done.release?.();
  };
  return answer instanceof Promise ? answer.then(write) : write(answer);
}

async function stream(
  { log, watch, retained, config }: HttpParts,
  exchange: Exchange,
  prepared: PreparedOperation,
  { accepted, viewer }: Admitted,
): Promise<void> {
  const { request, response, requestId } = exchange;
  if (request.method === 'HEAD') throw methodNotAllowed('GET', 'POST');
  if (!accepted.stream) throw new ClientError('NOT_ACCEPTABLE', 'A subscription is answered by text/event-stream.');
  const after = request.headers['last-event-id'];
  const account = retained.open(addressOf(request, config.trustProxy));
  response.once('close', () => account.close());
  if (response.closed) account.close();
  account.reserve(eventStreamBytes);
  const subscriber = await prepared.subscribe({
    account,
    after: typeof after === 'string' && after !== '' ? after : undefined,
  });
  if (isAnswer(subscriber)) return writeAnswer(exchange, subscriber);
  const { checked, stop } = watch(viewer, () => subscriber.end(new ClientError('UNAUTHENTICATED')));
  response.once('close', stop);
  await checked;
  if (response.closed) {
    stop();
    return subscriber.leave();
  }
  runEventStream(response, subscriber, { expiresAt: viewer?.expiresAt, answerOptions: { requestId, log }, account });
}

function writeOptions(response: ServerResponse): void {
  response.writeHead(204, { allow: graphqlMethods.join(', ') }).end();
}

function writeRedirect(response: ServerResponse): void {
  response.writeHead(302, { location: '/graphql', 'content-length': 0 }).end();
}

function writeState(response: ServerResponse, isWell: boolean): void {
  const content = JSON.stringify({ status: isWell ? 'ok' : 'not ready' });
  response.writeHead(isWell ? 200 : 503, {
    'content-type': `${json}; charset=utf-8`,
    'content-length': content.length,
    'cache-control': 'no-store',
    ...(!isWell && { 'retry-after': '1' }),
  });
  response.end(content);
}
