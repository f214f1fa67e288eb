import type { IncomingMessage } from 'node:http';
import { ClientDisconnected } from '../../engine/cancellation.ts';
import type { CachePolicy } from '../../engine/documents/cache-control.ts';
import { eventStreamBytes } from '../../engine/limits/client-memory.ts';
import type { PreparedOperation } from '../../engine/operation.ts';
import type { OperationReport } from '../../engine/operation-report.ts';
import { ClientError } from '../../errors.ts';
import { readTraceContext } from '../../tracing/trace-context.ts';
import type { HeldAnswer } from '../admission/answer-budget.ts';
import type { BodyBudget } from '../admission/body-budget.ts';
import { runHttpStream } from '../http-stream.ts';
import { multipart } from '../multipart.ts';
import { createPageRoute } from '../pages/route.ts';
import { sse, writeAnswerAsStream } from '../sse.ts';
import type { TransportParts } from '../transport.ts';
import { digestInSteps } from './entity-tag.ts';
import { type Accepted, eventStream, multipartMixed, parseAccept } from './negotiation.ts';
import { assertNotCrossSite, corsHeaders, type Origins, preflightHeaders } from './origins.ts';
import { methodNotAllowed } from './refusal.ts';
import { namesDocument, readGetRequest, readPostRequest } from './request.ts';
import { type Exchange, writeAnswer } from './responses.ts';

/* GraphQL over HTTP: https://graphql.github.io/graphql-over-http/draft/ */

export interface GraphqlParts extends TransportParts {
  origins: Origins;
  bodies: BodyBudget;
}

const writeGraphiql = createPageRoute(new URL('../graphiql/page.ts', import.meta.url));

const needsStream =
  'A subscription needs Accept: text/event-stream or multipart/mixed;subscriptionSpec=1.0, or a WebSocket with the protocol graphql-transport-ws.';

export const graphqlMethods = ['GET', 'HEAD', 'POST', 'OPTIONS'] as const;

/** Serves /graphql. @throws the error that refuses the request. */
export async function serveGraphql(parts: GraphqlParts, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  const report = startReport(parts, exchange);
  admitOrigin(parts.origins, exchange);
  if (request.method === 'OPTIONS') return void writeOptions(exchange);
  assertExpectation(request);
  const accepted = parseAccept(request.headers.accept);
  const isPost = request.method === 'POST';
  const mayExplore = !isPost && accepted.prefersPage && parts.config.graphiql;
  if (mayExplore && !namesDocument(exchange.query)) return writeGraphiql(request, response);
  if (!isPost) assertNotCrossSite(request);
  if (accepted.result === undefined && accepted.stream === undefined) throw new ClientError('NOT_ACCEPTABLE');
  response.on('close', () => {
    if (!response.writableFinished) exchange.cancellation.cancel(new ClientDisconnected());
  });
  const operation = isPost ? await readPostRequest(exchange, parts) : readGetRequest(exchange.query);
  // The parser may have rejected the request meanwhile, and an error may have been sent.
  if (response.headersSent) return;
  report.startedAt = performance.now();
  const { authorization } = request.headers;
  if (authorization !== undefined) {
    exchange.viewer = await parts.authenticate(authorization, exchange.address, report.span);
  }
  const preparing = parts.engine.prepare(operation, exchange);
  const prepared = preparing instanceof Promise ? await preparing : preparing;
  if (exchange.cancellation.isCancelled) return parts.operations.finish(exchange);
  if (prepared.type === 'mutation' && !isPost) throw methodNotAllowed('POST');
  if (prepared.type === 'subscription') return openStream(parts, exchange, prepared, accepted);
  if (accepted.result === undefined) throw new ClientError('NOT_ACCEPTABLE');
  const answer = parts.answerBudget.execute(prepared, request.socket, exchange.address);
  const finished = answer instanceof Promise ? await answer : answer;
  parts.operations.finish(exchange, finished);
  await writeResult(exchange, prepared, accepted, finished);
}

/** A client that sends `traceparent` continues its trace; the answer names the trace if it is recorded. */
function startReport({ operations }: GraphqlParts, exchange: Exchange): OperationReport {
  const { request, response, requestId, timer } = exchange;
  const report = operations.start(requestId, readTraceContext(request.headers), timer.startedAt);
  if (report.span) response.setHeader('server-timing', `traceparent;desc="${report.span.context.traceparent}"`);
  exchange.report = report;
  return report;
}

/** Pages of other origins receive no CORS header; pages of allowed origins may read the answer. */
function admitOrigin(origins: Origins, { request, response }: Exchange): void {
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

async function writeResult(
  exchange: Exchange,
  prepared: PreparedOperation,
  accepted: Accepted,
  answer: HeldAnswer,
): Promise<void> {
  if (answer.status === 294) exchange.response.statusMessage = 'Partial Success';
  if (accepted.result === eventStream && answer.status < 400) writeAnswerAsStream(exchange, answer);
  else {
    const cachePolicy = answer.status === 200 ? findSharedPolicy(exchange, prepared) : undefined;
    const digest = cachePolicy && Buffer.isBuffer(answer.json) ? await digestInSteps(answer.json) : undefined;
    writeAnswer(exchange, answer, { accepted, cachePolicy, digest });
  }
  // From here on the bytes of the written answer are counted instead.
  answer.release?.();
}

function findSharedPolicy(
  { request: { method, headers } }: Exchange,
  { cachePolicy }: PreparedOperation,
): CachePolicy | undefined {
  return method !== 'POST' && headers.authorization === undefined && cachePolicy.isPublic ? cachePolicy : undefined;
}

async function openStream(
  { engine, operations, watch, clientMemory, drain }: GraphqlParts,
  exchange: Exchange,
  prepared: PreparedOperation,
  accepted: Accepted,
): Promise<void> {
  const { request, response, viewer, address } = exchange;
  if (request.method === 'HEAD') throw methodNotAllowed('GET', 'POST');
  if (!accepted.stream) throw new ClientError('NOT_ACCEPTABLE', needsStream);
  const format = accepted.stream === multipartMixed ? multipart : sse;
  const after = request.headers['last-event-id'];
  const account = clientMemory.open(address);
  response.once('close', () => account.close());
  if (response.closed) account.close();
  account.addOrThrow(eventStreamBytes);
  const stream = await prepared.subscribe({
    account,
    transport: format.transport,
    after: typeof after === 'string' && after !== '' ? [after] : undefined,
  });
  const { checked, stop } = watch(viewer, () => stream.end(new ClientError('UNAUTHENTICATED')));
  response.once('close', stop);
  await checked;
  if (response.closed) {
    stop();
    operations.finish(exchange);
    return stream.stop('disconnected');
  }
  operations.finish(exchange);
  exchange.timer.record();
  const { requestId } = exchange;
  const refuse = (error: ClientError) => engine.refuse(error, { requestId });
  runHttpStream(response, stream, { format, address, viewer, refuse, account, drain });
}

export function writeOptions({ response }: Exchange): void {
  response.writeHead(204, { allow: graphqlMethods.join(', ') }).end();
}
