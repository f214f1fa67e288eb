import { subtle } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { contain } from '../../common/contain.ts';
import { eventStreamBytes } from '../../engine/limits/client-memory.ts';
import type { PreparedOperation } from '../../engine/operation.ts';
import { ClientError } from '../../errors.ts';
import type { ReservedAnswer } from '../admission/memory-budgets.ts';
import { writeGraphiql } from '../pages/route.ts';
import type { Exchange } from './exchange.ts';
import { HttpStream, multipart, sse, writeAnswerAsStream } from './http-stream.ts';
import { type Accepted, eventStreamType, multipartMixedType, parseAccept } from './negotiation.ts';
import { assertNotCrossSite, setCorsHeaders } from './origins.ts';
import { graphqlMethods, methodNotAllowed } from './refusal.ts';
import { mayBeLong, namesDocument, readRequest, receiveBody } from './request.ts';
import { type AnswerTraits, writeAnswer } from './responses.ts';

/* GraphQL over HTTP: https://http-spec.graphql.org/September2026/ */

const needsStream =
  'A subscription needs Accept: text/event-stream or multipart/mixed;subscriptionSpec=1.0, or a WebSocket with the protocol graphql-transport-ws.';

/**
 * Serves /graphql. What is complete at once is not awaited, because each `await` allocates memory.
 * @throws the error that refuses the request.
 */
export function serveGraphql(exchange: Exchange): void | Promise<void> {
  const { request, response, query, parts } = exchange;
  startReport(exchange);
  parts.origins.assertAllowed(request);
  setCorsHeaders(request, response);
  if (request.method === 'OPTIONS') return writeOptions(exchange);
  assertExpectation(request);
  const accepted = parseAccept(request.headers.accept);
  const isPost = request.method === 'POST';
  const mayExplore = !isPost && accepted.prefersPage && parts.config.graphiql;
  if (mayExplore && !namesDocument(query)) return writeGraphiql(exchange);
  if (!isPost) assertNotCrossSite(request);
  if (accepted.result === undefined && accepted.stream === undefined) throw new ClientError('NOT_ACCEPTABLE');
  const onWhole = () => serveOperation(exchange, accepted);
  if (!isPost) return onWhole();
  if (!mayBeLong(exchange)) return receiveBody(exchange, onWhole);
  return admitLongBody(exchange).then(() => receiveBody(exchange, onWhole));
}

function serveOperation(exchange: Exchange, accepted: Accepted): void | Promise<void> {
  const { request, response, report } = exchange;
  // It was answered meanwhile, with an error of the HTTP parser.
  if (response.headersSent) return;
  if (report) report.startedAt = performance.now();
  if (request.headers.authorization === undefined) return prepareAndServe(exchange, accepted);
  return authenticate(exchange).then(() => prepareAndServe(exchange, accepted));
}

function prepareAndServe(exchange: Exchange, accepted: Accepted): void | Promise<void> {
  const prepared = exchange.parts.engine.prepare(() => readRequest(exchange), exchange);
  if (!(prepared instanceof Promise)) return serve(exchange, prepared, accepted);
  return prepared.then((operation) => serve(exchange, operation, accepted));
}

function serve(exchange: Exchange, prepared: PreparedOperation, accepted: Accepted): void | Promise<void> {
  const { request, parts } = exchange;
  if (exchange.cancellation.isCancelled) return parts.operationReports.finish(exchange);
  if (prepared.type === 'mutation' && request.method !== 'POST') throw methodNotAllowed('POST');
  if (prepared.type === 'subscription') return openStream(exchange, prepared, accepted);
  if (accepted.result === undefined) throw new ClientError('NOT_ACCEPTABLE');
  const running = parts.answerBudget.run(prepared, exchange, request.socket);
  if (!(running instanceof Promise)) return writeResult(exchange, prepared, accepted, running);
  return running.then((answer) => writeResult(exchange, prepared, accepted, answer));
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
function startReport(exchange: Exchange): void {
  const { request, response, requestId, startedAt, parts } = exchange;
  const report = parts.operationReports.start(requestId, request.headers, startedAt);
  if (report.span) response.setHeader('server-timing', `traceparent;desc="${report.span.context.traceparent}"`);
  exchange.report = report;
}

function assertExpectation({ headers }: IncomingMessage): void {
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    throw new ClientError('EXPECTATION_FAILED');
  }
}

function writeResult(
  exchange: Exchange,
  prepared: PreparedOperation,
  accepted: Accepted,
  answer: ReservedAnswer,
): void | Promise<void> {
  exchange.parts.operationReports.finish(exchange, answer);
  const { method, headers } = exchange.request;
  if (answer.status === 294) exchange.response.statusMessage = 'Partial Success';
  const mayBeShared = answer.status === 200 && method !== 'POST' && headers.authorization === undefined;
  const cachePolicy = mayBeShared && prepared.cachePolicy.isPublic ? prepared.cachePolicy : undefined;
  if (!cachePolicy || !Buffer.isBuffer(answer.json)) return write(exchange, answer, { accepted, cachePolicy });
  // In a thread: the digest of 8 MB takes 10 ms.
  return subtle.digest('SHA-256', answer.json as Buffer<ArrayBuffer>).then((bytes) => {
    write(exchange, answer, { accepted, cachePolicy, digest: Buffer.from(bytes).toString('base64url') });
  });
}

function write(exchange: Exchange, answer: ReservedAnswer, traits: AnswerTraits & { accepted: Accepted }): void {
  if (traits.accepted.result === eventStreamType && answer.status < 400) writeAnswerAsStream(exchange, answer);
  else writeAnswer(exchange, answer, traits);
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
  operationReports.finish(exchange);
  if (response.closed) {
    stop();
    return stream.stop('disconnected');
  }
  parts.httpMetrics.record(exchange);
  new HttpStream(exchange, stream, format, account);
}

export function writeOptions({ response }: Exchange): void {
  response.writeHead(204, { allow: graphqlMethods.join(', ') }).end();
}
