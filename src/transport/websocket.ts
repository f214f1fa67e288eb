import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import {
  type ExecutionArgs,
  type ExecutionResult,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  OperationTypeNode,
} from 'graphql';
import {
  CloseCode,
  type CompleteMessage,
  type ConnectionInitMessage,
  type Context,
  handleProtocols,
  MessageType,
  makeServer,
  type PingMessage,
  type PongMessage,
  parseMessage,
  type Server,
  type SubscribeMessage,
  stringifyMessage,
} from 'graphql-ws';
import { type RawData, WebSocketServer } from 'ws';
import type { Answer } from '../engine/answer.ts';
import { Cancellation } from '../engine/cancellation.ts';
import { type Engine, isAnswer } from '../engine/engine.ts';
import type { Call, PreparedOperation } from '../engine/operation.ts';
import { ClientError } from '../errors.ts';
import type { Viewer } from '../identity/viewer.ts';
import { addressOf } from './address.ts';
import { Connection, clientLeft } from './connection.ts';
import { AddressCount, MessageBudget } from './flood.ts';
import { KeepAlive } from './keep-alive.ts';
import { LiveIterator } from './live-iterator.ts';
import { MessageTurns } from './message-turns.ts';
import { OperationOrder } from './operation-order.ts';
import { findRefusal, OperationRefused } from './operation-refused.ts';
import { noRoom } from './refusal.ts';
import { toGraphQLRequest } from './request.ts';
import type { Start } from './starting.ts';
import type { TransportParts } from './transport.ts';

/* graphql-transport-ws: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md */

const maxFrameBytes = 256 * 1024;
const maxFragments = 64;
const serviceRestart = 1012;
const tryAgainLater = 1013;
/** Stands for what an operation is refused with. */
const carrier = new GraphQLError('refused');
const clientMessages = new Set<MessageType>([
  MessageType.ConnectionInit,
  MessageType.Ping,
  MessageType.Pong,
  MessageType.Subscribe,
  MessageType.Complete,
]);

type ConnectionContext = Context<Record<string, unknown> | undefined, Connection>;

export interface WebSocketDoor {
  /** How many sockets are open. */
  readonly size: number;
  /** @throws HttpRefusal where there is no room for one more. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void;
  close(): Promise<void>;
}

export function createWebSocketDoor(parts: TransportParts): WebSocketDoor {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxFrameBytes,
    maxFragments,
    perMessageDeflate: false,
    handleProtocols: (protocols) => handleProtocols(protocols),
  });
  const protocol = createProtocol(parts);
  const keepAlive = new KeepAlive(parts.config.stallSeconds);
  const connections = new Set<Connection>();
  const held = new AddressCount(parts.config.limits.sockets);
  let isClosing = false;
  return {
    get size() {
      return connections.size;
    },
    upgrade(request, socket, head) {
      const address = addressOf(request, parts.config.trustProxy);
      if (isClosing || held.isFull(address)) throw noRoom();
      server.handleUpgrade(request, socket, head, (webSocket) => {
        const connection = new Connection(request, address, webSocket, socket);
        connections.add(connection);
        held.add(address);
        webSocket.once('close', () => {
          connections.delete(connection);
          held.remove(address);
        });
        limitMessages(connection, parts.config.limits.messages);
        keepAlive.watch(connection, socket);
        open(protocol, connection, parts);
      });
    },
    async close() {
      isClosing = true;
      keepAlive.stop();
      const closed = [...connections].map((connection) => {
        connection.end(serviceRestart, 'Shutting down');
        return new Promise((resolve) => connection.webSocket.once('close', resolve));
      });
      await Promise.all(closed);
      server.close();
    },
  };
}

/** A flood ends the socket; its client comes back later. */
function limitMessages(connection: Connection, perSecond: number): void {
  const budget = new MessageBudget(perSecond);
  const count = () => {
    if (!budget.take()) connection.end(tryAgainLater, 'Too many messages');
  };
  connection.webSocket.on('message', count);
  connection.webSocket.on('ping', count);
}

/** Between ws, which knows frames, and graphql-ws, which knows the protocol. */
function open(protocol: Server<Connection>, connection: Connection, { log }: TransportParts): void {
  const { webSocket } = connection;
  const order = new OperationOrder();
  const handle = async (data: string, listener: (data: string) => Promise<void>) => {
    const message = readClientMessage(data);
    if (!message) return connection.end(CloseCode.BadRequest, 'Invalid message received');
    if (message.type === MessageType.Subscribe) {
      const begin = () => listener(data).finally(() => connection.forget(message.id));
      return order.subscribe(message.id, begin);
    }
    if (message.type !== MessageType.Complete) return listener(data);
    return order.complete(message.id, () => {
      connection.running.get(message.id)?.cancel(clientLeft());
      return listener(data);
    });
  };
  const closed = protocol.opened(
    {
      protocol: webSocket.protocol,
      send: (data) => connection.send(data),
      close: (code, reason) => connection.end(code ?? CloseCode.BadRequest, reason ?? ''),
      onMessage: (listener) => {
        const turns = new MessageTurns((data) => {
          if (!connection.isOpen) return;
          handle(data, listener).catch((error) => {
            log.error({ err: error }, 'a message could not be handled');
            connection.end(tryAgainLater, 'Try again later');
          });
        });
        webSocket.on('message', (data: RawData) => {
          if (connection.isOpen) turns.push(String(data));
        });
      },
    },
    connection,
  );
  connection.onEnd = (code, reason) => {
    closed(code, reason).catch((error) => log.error({ err: error }, 'a socket did not close in order'));
  };
}

type ClientMessage = ConnectionInitMessage | PingMessage | PongMessage | SubscribeMessage | CompleteMessage;

/** Undefined for what no client may send. */
function readClientMessage(data: string): ClientMessage | undefined {
  try {
    const message = parseMessage(data);
    // A payload that nests deeper than the stack could be parsed, but not sent back.
    if (message.type === MessageType.Ping) stringifyMessage(message);
    return clientMessages.has(message.type) ? (message as ClientMessage) : undefined;
  } catch {
    return undefined;
  }
}

function createProtocol(parts: TransportParts): Server<Connection> {
  const { engine } = parts;
  const refusals = new WeakMap<readonly GraphQLError[], readonly GraphQLFormattedError[]>();
  return makeServer<Record<string, unknown> | undefined, Connection>({
    onConnect: (context) => connect(context, parts),
    async onPing(context, payload) {
      if (context.acknowledged && payload && 'authorization' in payload)
        await renew(context, payload['authorization'], parts);
    },
    async onSubscribe(context, id, payload) {
      const { viewer, address, seen } = context.extra;
      const call: Call = {
        viewer,
        address,
        isResumed: seen.has(id),
        requestId: randomUUID(),
        cancellation: new Cancellation(),
      };
      context.extra.running.set(id, call.cancellation);
      const start = context.extra.starting.begin();
      const prepared = await prepare(parts, context, payload, call);
      if (!isAnswer(prepared)) return toExecutionArgs({ id, call, start, prepared, connection: context.extra });
      start.stand();
      const { errors = [] } = prepared.body;
      const carriers = [carrier];
      refusals.set(carriers, errors);
      return carriers;
    },
    execute: (args) => execute(operationOf(args)),
    subscribe: (args) => subscribe(operationOf(args), engine),
    // What the engine answered leaves as it is.
    onNext: (_context, _id, _payload, _args, result) => result as FormattedExecutionResult,
    onError: (_context, _id, _payload, errors) => refusals.get(errors) ?? findRefusal(errors[0])?.body.errors,
  });
}

/** Whose socket it is, and from where its subscriptions go on; false closes it with 4403. */
async function connect({ extra, connectionParams }: ConnectionContext, parts: TransportParts): Promise<boolean> {
  const given = connectionParams?.['authorization'] ?? extra.request.headers.authorization;
  const viewer = await authenticate(extra, given, parts);
  if (viewer === undefined) return false;
  extra.seen = readSeen(connectionParams?.['live']);
  await extra.admit(viewer, parts.watch);
  return true;
}

/** Fresh credentials on a living socket, or its first; bad ones, or another user's, close it with 4403. */
async function renew({ extra }: ConnectionContext, authorization: unknown, parts: TransportParts): Promise<void> {
  const viewer = await authenticate(extra, authorization, parts);
  const isSame = viewer != null && (extra.viewer === null || viewer.user.id === extra.viewer.user.id);
  if (isSame) await extra.admit(viewer, parts.watch);
  else extra.end(CloseCode.Forbidden, 'Forbidden');
}

/** Undefined where they are bad; where they cannot be checked, the socket is closed for later. */
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

function readSeen(live: unknown): Map<string, string> {
  const seen = typeof live === 'object' && live !== null && 'seen' in live ? live.seen : undefined;
  if (typeof seen !== 'object' || seen === null) return new Map();
  return new Map(Object.entries(seen).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
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

/** graphql-ws looks at the document, and passes the rest back. */
function toExecutionArgs(operation: SocketOperation): ExecutionArgs {
  const { document, operationName } = operation.prepared;
  return { document, operationName, contextValue: operation, rootValue: undefined } as unknown as ExecutionArgs;
}

function operationOf({ contextValue }: ExecutionArgs): SocketOperation {
  return contextValue as SocketOperation;
}

async function execute({ prepared, start }: SocketOperation): Promise<ExecutionResult> {
  start.stand();
  if (prepared.type === OperationTypeNode.MUTATION) await start.earlier;
  const { body } = await prepared.execute();
  return body as ExecutionResult;
}

async function subscribe(
  { id, call, start, prepared, connection }: SocketOperation,
  engine: Engine,
): Promise<AsyncGenerator<never>> {
  const after = connection.seen.get(id);
  connection.seen.delete(id);
  const subscriber = await prepared.subscribe(after, start.stand).finally(start.stand);
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

/** A stream that ends as soon as it is looked at becomes the operation's `error` message. */
// biome-ignore lint/correctness/useYield: it has nothing to yield.
async function* refusedIterator(answer: Answer): AsyncGenerator<never> {
  throw new OperationRefused(answer);
}
