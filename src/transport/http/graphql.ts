import type { IncomingMessage } from 'node:http';
import { ClientDisconnected } from '../../engine/cancellation.ts';
import { eventStreamBytes } from '../../engine/limits/client-memory.ts';
import type { PreparedOperation } from '../../engine/operation.ts';
import { OperationReport } from '../../engine/operation-report.ts';
import { ClientError } from '../../errors.ts';
import type { HeldAnswer } from '../admission/answer-budget.ts';
import type { BodyBudget } from '../admission/body-budget.ts';
import { writeGraphiql } from '../graphiql/route.ts';
import { runEventStream, writeAnswerAsStream } from '../sse.ts';
import type { TransportParts } from '../transport.ts';
import { type Accepted, eventStream, parseAccept } from './negotiation.ts';
import { assertNotCrossSite, corsHeaders, type Origins, preflightHeaders } from './origins.ts';
import { methodNotAllowed } from './refusal.ts';
import { namesDocument, readGetRequest, readPostRequest } from './request.ts';
import { type Exchange, writeAnswer } from './responses.ts';

/* GraphQL over HTTP: https://graphql.github.io/graphql-over-http/draft/ */

export interface GraphqlParts extends TransportParts {
  origins: Origins;
  bodies: BodyBudget;
}

export const graphqlMethods = ['GET', 'HEAD', 'POST', 'OPTIONS'] as const;

/** Serves /graphql. @throws the error that refuses the request. */
export async function serveGraphql(parts: GraphqlParts, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  exchange.report = new OperationReport(exchange.timer.startedAt);
  admitOrigin(parts.origins, exchange);
  if (request.method === 'OPTIONS') return void writeOptions(exchange);
  assertExpectation(request);
  const accepted = parseAccept(request.headers.accept);
  const isPost = request.method === 'POST';
  const mayExplore = !isPost && accepted.prefersPage && parts.config.graphiql;
  if (mayExplore && !namesDocument(exchange.query)) return writeGraphiql(request, response);
  if (!isPost) assertNotCrossSite(request);
  if (accepted.result === undefined) throw new ClientError('NOT_ACCEPTABLE');
  response.on('close', () => {
    if (!response.writableFinished) exchange.cancellation.cancel(new ClientDisconnected());
  });
  const operation = isPost ? await readPostRequest(exchange, parts) : readGetRequest(exchange.query);
  // The parser may have rejected the request meanwhile, and an error may have been sent.
  if (response.headersSent) return;
  exchange.report.startedAt = performance.now();
  const { authorization } = request.headers;
  if (authorization !== undefined) exchange.viewer = await parts.authenticate(authorization, exchange.address);
  const preparing = parts.engine.prepare(operation, exchange);
  const prepared = preparing instanceof Promise ? await preparing : preparing;
  if (exchange.cancellation.isCancelled) return parts.operations.finish(exchange);
  if (prepared.type === 'mutation' && !isPost) throw methodNotAllowed('POST');
  if (prepared.type === 'subscription') return openStream(parts, exchange, prepared, accepted);
  const answer = parts.answerBudget.execute(prepared, request.socket, exchange.address);
  const finished = answer instanceof Promise ? await answer : answer;
  parts.operations.finish(exchange, finished);
  writeResult(exchange, prepared, accepted, finished);
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

function writeResult(exchange: Exchange, prepared: PreparedOperation, accepted: Accepted, answer: HeldAnswer): void {
  if (answer.status === 294) exchange.response.statusMessage = 'Partial Success';
  if (accepted.result === eventStream && answer.status < 400) writeAnswerAsStream(exchange, answer);
  else {
    const cachePolicy = exchange.request.method === 'POST' ? undefined : prepared.cachePolicy;
    writeAnswer(exchange, answer, { accepted, cachePolicy });
  }
  // From here on the bytes of the written answer are counted instead.
  answer.release?.();
}

async function openStream(
  { engine, operations, watch, clientMemory, drain }: GraphqlParts,
  exchange: Exchange,
  prepared: PreparedOperation,
  accepted: Accepted,
): Promise<void> {
  const { request, response, viewer, address } = exchange;
  if (request.method === 'HEAD') throw methodNotAllowed('GET', 'POST');
  if (!accepted.stream) throw new ClientError('NOT_ACCEPTABLE', 'A subscription needs Accept: text/event-stream.');
  const after = request.headers['last-event-id'];
  const account = clientMemory.open(address);
  response.once('close', () => account.close());
  if (response.closed) account.close();
  account.addOrThrow(eventStreamBytes);
  const stream = await prepared.subscribe({
    account,
    transport: 'sse',
    after: typeof after === 'string' && after !== '' ? after : undefined,
  });
  const { checked, stop } = watch(viewer, () => stream.end(new ClientError('UNAUTHENTICATED')));
  response.once('close', stop);
  await checked;
  if (response.closed) {
    stop();
    operations.finish(exchange);
    return stream.stop('client');
  }
  operations.finish(exchange);
  exchange.timer.record();
  const { requestId } = exchange;
  const refuse = (error: ClientError) => engine.refuse(error, { requestId });
  runEventStream(response, stream, { expiresAt: viewer?.expiresAt, refuse, account, drain });
}

export function writeOptions({ response }: Exchange): void {
  response.writeHead(204, { allow: graphqlMethods.join(', ') }).end();
}
