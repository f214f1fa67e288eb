import { randomUUID } from 'node:crypto';
import {
  type ExecutionArgs,
  type ExecutionResult,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  OperationTypeNode,
} from 'graphql';
import { CloseCode, type Context, makeServer, type Server } from 'graphql-ws';
import type { Answer } from '../../engine/answer.ts';
import { Cancellation } from '../../engine/cancellation.ts';
import { type Engine, isAnswer } from '../../engine/engine.ts';
import type { Call, PreparedOperation } from '../../engine/operation.ts';
import { ClientError } from '../../errors.ts';
import type { Viewer } from '../../identity/viewer.ts';
import { toGraphQLRequest } from '../http/request.ts';
import type { TransportParts } from '../transport.ts';
import { clearPayload } from './client-message.ts';
import { type Connection, tryAgainLater } from './connection.ts';
import { LiveIterator } from './live-iterator.ts';
import { findRefusal, OperationRefused } from './operation-refused.ts';
import { findSeenFault, readSeen } from './seen.ts';
import type { Start } from './starting.ts';

/* graphql-transport-ws: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md */

/** A placeholder for the errors of a refused operation; `onError` replaces it with the real ones. */
const placeholder = new GraphQLError('refused');

type ConnectionContext = Context<Record<string, unknown> | undefined, Connection>;

/** The callbacks of graphql-ws: authentication, preparing operations, and running them. */
export function createProtocol(parts: TransportParts): Server<Connection> {
  const { engine } = parts;
  const refusals = new WeakMap<readonly GraphQLError[], readonly GraphQLFormattedError[]>();
  return makeServer<Record<string, unknown> | undefined, Connection>({
    onConnect: (context) => connect(context, parts),
    async onPing(context, payload) {
      if (context.acknowledged && payload && 'authorization' in payload)
        await renew(context, payload['authorization'], parts);
    },
    async onSubscribe(context, id, payload) {
      const { viewer, address } = context.extra;
      const call: Call = {
        viewer,
        address,
        isResumed: context.extra.hasSeen(id),
        requestId: randomUUID(),
        cancellation: new Cancellation(),
      };
      context.extra.running.set(id, call.cancellation);
      const start = context.extra.starting.begin();
      const prepared = await prepare(parts, context, payload, call);
      clearPayload(payload);
      if (!isAnswer(prepared)) return toExecutionArgs({ id, call, start, prepared, connection: context.extra });
      start.markStarted();
      const { errors = [] } = prepared.body;
      const placeholders = [placeholder];
      refusals.set(placeholders, errors);
      return placeholders;
    },
    execute: (args) => execute(operationOf(args), engine),
    subscribe(args) {
      const operation = operationOf(args);
      // graphql-ws keeps the arguments until the stream ends.
      Object.assign(args, { contextValue: undefined });
      return subscribe(operation, engine);
    },
    // The engine has already formatted the result.
    onNext: (_context, _id, _payload, _args, result) => result as FormattedExecutionResult,
    onError: (_context, _id, _payload, errors) => refusals.get(errors) ?? findRefusal(errors[0])?.body.errors,
  });
}

/** Finds the viewer, and the cursors after which subscriptions resume; false closes the socket with 4403. */
async function connect(context: ConnectionContext, parts: TransportParts): Promise<boolean> {
  const { extra, connectionParams } = context;
  const given = connectionParams?.['authorization'] ?? extra.authorization;
  const seen = readSeen(connectionParams?.['live']);
  // Neither is needed again, and both may be long.
  delete (context as { connectionParams?: unknown }).connectionParams;
  extra.authorization = undefined;
  const fault = findSeenFault(seen, parts.config.limits.subscriptions);
  if (fault) extra.end(CloseCode.BadRequest, fault);
  if (!extra.isOpen) return false;
  const viewer = await authenticate(extra, given, parts);
  if (viewer === undefined) return false;
  extra.keepSeen(seen);
  await extra.admit(viewer, parts.watch);
  return true;
}

/** Renews the credentials of an open socket, or sets its first. Invalid credentials, or those of another user: 4403. */
async function renew({ extra }: ConnectionContext, authorization: unknown, parts: TransportParts): Promise<void> {
  const viewer = await authenticate(extra, authorization, parts);
  const isSame = viewer != null && (extra.viewer === null || viewer.user.id === extra.viewer.user.id);
  if (isSame) await extra.admit(viewer, parts.watch);
  else extra.end(CloseCode.Forbidden, 'Forbidden');
}

/** Undefined if the credentials are invalid. If they cannot be checked, the socket is also closed with 1013. */
async function authenticate(
  connection: Connection,
  authorization: unknown,
  parts: TransportParts,
): Promise<Viewer | null | undefined> {
  if (authorization !== undefined && typeof authorization !== 'string') return undefined;
  try {
    return await parts.authenticate(authorization, connection.address);
  } catch (error) {
    const code = error instanceof ClientError ? error.code : undefined;
    if (code === 'UNAUTHENTICATED') return undefined;
    if (code !== 'RATE_LIMITED') parts.log.error({ err: error }, 'credentials could not be checked');
    connection.end(tryAgainLater, 'Try again later');
    return undefined;
  }
}

async function prepare(
  { engine, config }: TransportParts,
  { subscriptions }: ConnectionContext,
  payload: unknown,
  call: Call,
): Promise<PreparedOperation | Answer> {
  try {
    if (Object.keys(subscriptions).length > config.limits.subscriptions) {
      throw new ClientError('SUBSCRIPTION_LIMIT_EXCEEDED');
    }
    return await engine.prepare(toGraphQLRequest(payload), call);
  } catch (error) {
    return engine.refuse(error, call.requestId);
  }
}

interface SocketOperation {
  id: string;
  call: Call;
  start: Start;
  prepared: PreparedOperation;
  connection: Connection;
}

/** graphql-ws reads the document, and passes `contextValue` back unchanged. */
function toExecutionArgs(operation: SocketOperation): ExecutionArgs {
  const { document, operationName } = operation.prepared;
  return { document, operationName, contextValue: operation, rootValue: undefined } as unknown as ExecutionArgs;
}

function operationOf({ contextValue }: ExecutionArgs): SocketOperation {
  return contextValue as SocketOperation;
}

async function execute(
  { id, prepared, start, call, connection }: SocketOperation,
  engine: Engine,
): Promise<ExecutionResult | AsyncGenerator<never>> {
  start.markStarted();
  if (prepared.type === OperationTypeNode.MUTATION) await start.earlier;
  try {
    const { body, json } = await connection.execute(id, prepared);
    return json === undefined ? (body as ExecutionResult) : sendSerialized(connection, id, json);
  } catch (error) {
    return engine.refuse(error, call.requestId).body as ExecutionResult;
  }
}

/** Sends a long answer whose JSON exists already: graphql-ws would serialise a result again. It sends `complete`. */
// biome-ignore lint/correctness/useYield: it has nothing to yield.
async function* sendSerialized(connection: Connection, id: string, json: string): AsyncGenerator<never> {
  await connection.send(`{"id":${JSON.stringify(id)},"type":"next","payload":${json}}`);
}

async function subscribe(
  { id, call, start, prepared, connection }: SocketOperation,
  engine: Engine,
): Promise<AsyncGenerator<never>> {
  const after = connection.takeSeen(id);
  const subscriber = await prepared
    .subscribe({ account: connection.account, after, onFound: start.markStarted })
    .finally(start.markStarted);
  if (isAnswer(subscriber)) return refusedIterator(subscriber);
  connection.addStream(id, { subscriber, begunBy: call.viewer });
  return new LiveIterator({
    id,
    subscriber,
    writer: connection.writer,
    announce: (cursor) => void connection.send(JSON.stringify({ type: 'ping', payload: { live: { [id]: cursor } } })),
    refuse: (error) => engine.refuse(error, call.requestId),
  });
}

/** A stream that throws on its first `next()` becomes the operation's `error` message. */
// biome-ignore lint/correctness/useYield: it has nothing to yield.
async function* refusedIterator(answer: Answer): AsyncGenerator<never> {
  throw new OperationRefused(answer);
}
