import type { IncomingMessage } from 'node:http';
import { ClientDisconnected } from '../../cancellation.ts';
import { contain } from '../../contain.ts';
import { eventStreamBytes } from '../../engine/limits/client-memory.ts';
import type { PreparedOperation } from '../../engine/operation.ts';
import type { OperationReport } from '../../engine/operation-report.ts';
import { ClientError } from '../../errors.ts';
import { readTraceContext } from '../../tracing/trace-context.ts';
import type { ReservedAnswer } from '../admission/answer-budget.ts';
import { createPageRoute } from '../pages/route.ts';
import { digestInSteps } from './entity-tag.ts';
import type { Exchange } from './exchange.ts';
import { type Accepted, eventStreamType, multipartMixedType, parseAccept } from './negotiation.ts';
import { assertNotCrossSite, corsHeaders } from './origins.ts';
import { methodNotAllowed } from './refusal.ts';
import { namesDocument, readGetRequest, receivePostRequest } from './request.ts';
import { writeAnswer } from './responses.ts';
import { HttpStream } from './stream/http-stream.ts';
import { multipart } from './stream/multipart.ts';
import { sse, writeAnswerAsStream } from './stream/sse.ts';

/* GraphQL over HTTP: https://graphql.github.io/graphql-over-http/draft/ */

const writeGraphiql = createPageRoute(new URL('../graphiql/page.ts', import.meta.url));

const needsStream =
  'A subscription needs Accept: text/event-stream or multipart/mixed;subscriptionSpec=1.0, or a WebSocket with the protocol graphql-transport-ws.';

export const graphqlMethods = ['GET', 'HEAD', 'POST', 'OPTIONS'] as const;

/** Serves /graphql. @throws the error that refuses the request. */
export async function serveGraphql(exchange: Exchange): Promise<void> {
  const { request, response, parts, address } = exchange;
  const report = startReport(exchange);
  parts.origins.assertAllowed(request);
  for (const [name, value] of Object.entries(corsHeaders(request))) response.setHeader(name, value);
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
  const prepared = await prepare(exchange, report);
  if (!prepared) return;
  if (exchange.cancellation.isCancelled) return parts.operationReports.finish(exchange);
  if (prepared.type === 'mutation' && !isPost) throw methodNotAllowed('POST');
  if (prepared.type === 'subscription') return openStream(exchange, prepared, accepted);
  if (accepted.result === undefined) throw new ClientError('NOT_ACCEPTABLE');
  parts.answerBudget.assertMayRun(address);
  const executing = prepared.execute();
  const isLongQuery = executing instanceof Promise && prepared.type === 'query';
  const executed = await (isLongQuery ? parts.answerBudget.watch(executing, exchange) : executing);
  const answer = parts.answerBudget.reserve(executed, prepared.type, { socket: request.socket, address });
  parts.operationReports.finish(exchange, answer);
  await writeResult(exchange, prepared, accepted, answer);
}

/** Undefined if the request was answered meanwhile, with an error of the HTTP parser. */
async function prepare(exchange: Exchange, report: OperationReport): Promise<PreparedOperation | undefined> {
  const { request, response, query } = exchange;
  const isPost = request.method === 'POST';
  const read = isPost ? await receivePostRequest(exchange, admitLongBody) : () => readGetRequest(query);
  if (response.headersSent) return undefined;
  report.startedAt = performance.now();
  if (request.headers.authorization !== undefined) await authenticate(exchange);
  return exchange.parts.engine.prepare(read, exchange);
}

async function authenticate(exchange: Exchange): Promise<void> {
  const { request, address, report, parts } = exchange;
  exchange.viewer = await parts.authenticate(request.headers.authorization, address, report?.span);
}

/**
 * A caller that is over the rate is refused before a long body is read. The credentials are checked again when the body
 * has arrived, because they may be revoked meanwhile. @throws RateLimited, ClientError UNAUTHENTICATED.
 */
async function admitLongBody(exchange: Exchange): Promise<void> {
  await authenticate(exchange);
  exchange.parts.engine.assertNotOverRate(exchange);
}

/** A client that sends `traceparent` continues its trace; the answer names the trace if it is recorded. */
function startReport(exchange: Exchange): OperationReport {
  const { request, response, requestId, timer, parts } = exchange;
  const report = parts.operationReports.start(requestId, readTraceContext(request.headers), timer.startedAt);
  if (report.span) response.setHeader('server-timing', `traceparent;desc="${report.span.context.traceparent}"`);
  exchange.report = report;
  return report;
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
  answer: ReservedAnswer,
): Promise<void> {
  if (answer.status === 294) exchange.response.statusMessage = 'Partial Success';
  if (accepted.result === eventStreamType && answer.status < 400) writeAnswerAsStream(exchange, answer);
  else {
    const { method, headers } = exchange.request;
    const isShared = method !== 'POST' && headers.authorization === undefined && prepared.cachePolicy.isPublic;
    const cachePolicy = answer.status === 200 && isShared ? prepared.cachePolicy : undefined;
    const digest = cachePolicy && Buffer.isBuffer(answer.json) ? await digestInSteps(answer.json) : undefined;
    writeAnswer(exchange, answer, { accepted, cachePolicy, digest });
  }
  // From here on the bytes of the written answer are counted instead.
  answer.release?.();
}

async function openStream(exchange: Exchange, prepared: PreparedOperation, accepted: Accepted): Promise<void> {
  const { request, response, viewer, address, fail, parts } = exchange;
  const { operationReports, watchCredentials, clientMemory } = parts;
  if (request.method === 'HEAD') throw methodNotAllowed('GET', 'POST');
  if (!accepted.stream) throw new ClientError('NOT_ACCEPTABLE', needsStream);
  const format = accepted.stream === multipartMixedType ? multipart : sse;
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
  const onInvalid = contain(() => stream.end(new ClientError('UNAUTHENTICATED')), fail);
  const { checked, stop } = watchCredentials(viewer, onInvalid);
  response.once('close', stop);
  await checked;
  if (response.closed) {
    stop();
    operationReports.finish(exchange);
    return stream.stop('disconnected');
  }
  operationReports.finish(exchange);
  exchange.timer.record();
  new HttpStream(exchange, stream, format, account);
}

export function writeOptions({ response }: Exchange): void {
  response.writeHead(204, { allow: graphqlMethods.join(', ') }).end();
}
