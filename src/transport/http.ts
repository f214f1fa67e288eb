import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from '../engine/answer.ts';
import { isAnswer } from '../engine/engine.ts';
import type { Rate } from '../engine/limits/rate.ts';
import type { PreparedOperation } from '../engine/operation.ts';
import { ClientError, type ErrorCode } from '../errors.ts';
import { eventStream, graphqlResponse, html, json, type Preferences, parseAccept } from './accept.ts';
import { addressOf } from './address.ts';
import { writeGraphiql } from './graphiql.ts';
import type { Metrics } from './metrics.ts';
import { readGetRequest, readPostRequest } from './request.ts';
import { runEventStream, writeAnswerAsStream } from './sse.ts';
import type { TransportParts } from './transport.ts';

/* GraphQL over HTTP: https://graphql.github.io/graphql-over-http/draft/ */

export interface HttpParts extends TransportParts {
  /** Whether operations can be served. */
  isReady: () => Promise<boolean>;
  metrics: Metrics;
}

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** One request and its answer. */
interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
  /** The query of the address. */
  parameters: URLSearchParams;
}

export function createHttpHandler(parts: HttpParts): HttpHandler {
  return (request, response) => {
    const [path = '', query] = (request.url ?? '').split('?', 2);
    const exchange = { request, response, requestId: randomUUID(), parameters: new URLSearchParams(query) };
    route(parts, exchange, path).catch((error) => {
      if (response.headersSent) response.destroy();
      else writeAnswer(exchange, parts.engine.refuse(error, exchange.requestId));
    });
  };
}

async function route(parts: HttpParts, exchange: Exchange, path: string): Promise<void> {
  const { response } = exchange;
  switch (path) {
    case '/graphql':
      return serveGraphql(parts, exchange);
    case '/health':
      return writeJson(response, 200, { status: 'ok' });
    case '/ready': {
      const isReady = await parts.isReady();
      return writeJson(response, isReady ? 200 : 503, { status: isReady ? 'ok' : 'not ready' });
    }
    case '/metrics':
      return parts.metrics.write(response);
    case '/':
      response.writeHead(302, { location: '/graphql' }).end();
      return;
    default:
      throw new ClientError('NOT_FOUND', 'There is nothing here; GraphQL is at /graphql.');
  }
}

async function serveGraphql(parts: HttpParts, exchange: Exchange): Promise<void> {
  const { request, response, parameters } = exchange;
  assertMethod(request);
  const accept = parseAccept(request.headers.accept);
  const isGet = request.method !== 'POST';
  if (parts.config.graphiql && isGet && !parameters.has('query') && accept.names(html)) {
    return writeGraphiql(request, response);
  }
  if ([graphqlResponse, json, eventStream].every((type) => accept.of(type as typeof json) === 0)) {
    throw new ClientError('NOT_ACCEPTABLE');
  }
  const operation = isGet ? readGetRequest(parameters) : await readPostRequest(request, parts.config.limits.bodyBytes);
  const viewer = await parts.authenticate(request.headers.authorization);
  const abort = new AbortController();
  response.once('close', () => abort.abort());
  const address = addressOf(request, parts.config.trustProxy);
  const isResumed = request.headers['last-event-id'] !== undefined;
  const call = { viewer, address, isResumed, requestId: exchange.requestId, abort };
  const prepared = await parts.engine.prepare(operation, call);
  if (isAnswer(prepared)) return writeAnswer(exchange, prepared, accept);
  await run(parts, exchange, prepared, accept);
}

async function run(
  parts: HttpParts,
  exchange: Exchange,
  prepared: PreparedOperation,
  accept: Preferences,
): Promise<void> {
  const { request, response } = exchange;
  if (prepared.type === 'mutation' && request.method !== 'POST') throw new MethodNotAllowed('POST');
  const plain = Math.max(accept.of(graphqlResponse), accept.of(json));
  if (prepared.type !== 'subscription') {
    const answer = await prepared.execute();
    return plain > 0 ? writeAnswer(exchange, answer, accept) : writeAnswerAsStream(response, answer);
  }
  if (accept.of(eventStream) === 0)
    throw new ClientError('NOT_ACCEPTABLE', 'A subscription is answered by text/event-stream.');
  const after = request.headers['last-event-id'];
  const subscriber = await prepared.subscribe(typeof after === 'string' && after !== '' ? after : undefined);
  if (isAnswer(subscriber)) return writeAnswer(exchange, subscriber, accept);
  if (response.closed) return subscriber.leave();
  runEventStream(response, subscriber, { requestId: exchange.requestId, log: parts.log });
}

/** With the header that says what is allowed. */
class MethodNotAllowed extends ClientError {
  readonly allow: string;

  constructor(allow: string) {
    super('METHOD_NOT_ALLOWED', `Use ${allow}.`);
    this.allow = allow;
  }
}

function assertMethod({ method }: IncomingMessage): void {
  if (method !== 'GET' && method !== 'HEAD' && method !== 'POST') throw new MethodNotAllowed('GET, POST');
}

/** In one write. A success is `application/json` for a client that does not ask for more. */
function writeAnswer({ request, response, requestId }: Exchange, answer: Answer, accept?: Preferences): void {
  const { status, body, rate } = answer;
  const isSuccess = status >= 200 && status < 300;
  const isPlain =
    isSuccess && accept && !(accept.names(graphqlResponse) && accept.of(graphqlResponse) >= accept.of(json));
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    'content-type': `${isPlain ? json : graphqlResponse}; charset=utf-8`,
    'content-length': bytes.length,
    'cache-control': 'private, no-store',
    'x-request-id': requestId,
    ...(rate && rateHeaders(rate, status)),
    ...errorHeaders(request, status, body.errors?.[0]?.extensions?.['code'] as ErrorCode | undefined),
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** draft-ietf-httpapi-ratelimit-headers-10 */
function rateHeaders({ limit, windowSeconds, remaining, resetMs }: Rate, status: number): Record<string, string> {
  const resetSeconds = Math.ceil(resetMs / 1_000);
  return {
    'ratelimit-policy': `"default";q=${limit};w=${windowSeconds}`,
    ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
    ...(status === 429 && { 'retry-after': String(resetSeconds) }),
  };
}

function errorHeaders(
  { headers }: IncomingMessage,
  status: number,
  code: ErrorCode | undefined,
): Record<string, string> {
  if (status === 401) {
    // RFC 6750, 3.1: no error code where no credentials were sent.
    return { 'www-authenticate': `Bearer realm="postroom"${headers.authorization ? ', error="invalid_token"' : ''}` };
  }
  if (status === 503) return { 'retry-after': '1' };
  // What is left of the body is not read.
  if (code === 'PAYLOAD_TOO_LARGE') return { connection: 'close' };
  return {};
}

function writeJson(response: ServerResponse, status: number, body: object): void {
  response
    .writeHead(status, { 'content-type': `${json}; charset=utf-8`, 'cache-control': 'no-store' })
    .end(JSON.stringify(body));
}
