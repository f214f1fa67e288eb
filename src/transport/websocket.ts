import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import {
  type ExecutionArgs,
  type ExecutionResult,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
} from 'graphql';
import { CloseCode, type Context, handleProtocols, makeServer, type Server } from 'graphql-ws';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import type { Answer } from '../engine/answer.ts';
import { type Engine, isAnswer } from '../engine/engine.ts';
import type { Call, PreparedOperation } from '../engine/operation.ts';
import { ClientError } from '../errors.ts';
import type { Viewer } from '../identity/viewer.ts';
import { addressOf } from './address.ts';
import { AddressCount, MessageBudget } from './flood.ts';
import { KeepAlive, terminateLater } from './keep-alive.ts';
import { LiveIterator } from './live-iterator.ts';
import { findRefusal, OperationRefused } from './operation-refused.ts';
import { toGraphQLRequest } from './request.ts';
import { SocketWriter } from './socket-writer.ts';
import type { TransportParts } from './transport.ts';

/* graphql-transport-ws: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md */

const maxFrameBytes = 256 * 1024;
const maxFragments = 64;
const serviceRestart = 1012;
const tryAgainLater = 1013;
const tooManySockets = 'HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\n\r\n';

/** What belongs to one socket. */
interface Connection {
  request: IncomingMessage;
  address: string;
  webSocket: WebSocket;
  writer: SocketWriter;
  viewer: Viewer | null;
  /** Where operations of these ids went on to before the client came back; each is used once. */
  seen: Map<string, string>;
  expiry: NodeJS.Timeout | undefined;
  /** Aborted when the client leaves. */
  running: Set<AbortController>;
}

type ConnectionContext = Context<Record<string, unknown> | undefined, Connection>;

export interface WebSocketDoor {
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void;
  /** Ends what streams to a user whose account is gone. */
  endUser(userId: string): void;
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
  return {
    upgrade(request, socket, head) {
      const address = addressOf(request, parts.config.trustProxy);
      if (held.isFull(address)) return void socket.end(tooManySockets);
      server.handleUpgrade(request, socket, head, (webSocket) => {
        const writer = new SocketWriter(socket);
        const connection = createConnection(request, address, webSocket, writer);
        connections.add(connection);
        held.add(address);
        webSocket.once('close', () => {
          connections.delete(connection);
          held.remove(address);
        });
        limitMessages(webSocket, parts.config.limits.messages);
        keepAlive.watch(webSocket, socket);
        open(protocol, connection, parts);
      });
    },
    endUser(userId) {
      for (const { viewer, webSocket } of connections) {
        if (viewer?.user.id === userId) webSocket.close(CloseCode.Forbidden, 'Forbidden');
      }
    },
    async close() {
      keepAlive.stop();
      const closed = [...connections].map(({ webSocket }) => {
        webSocket.close(serviceRestart, 'Shutting down');
        terminateLater(webSocket);
        return new Promise((resolve) => webSocket.once('close', resolve));
      });
      await Promise.all(closed);
      server.close();
    },
  };
}

/** A flood ends the socket; its client comes back later. */
function limitMessages(webSocket: WebSocket, perSecond: number): void {
  const budget = new MessageBudget(perSecond);
  const count = () => {
    if (budget.take() || webSocket.readyState !== webSocket.OPEN) return;
    webSocket.close(tryAgainLater, 'Too many messages');
    terminateLater(webSocket);
  };
  webSocket.on('message', count);
  webSocket.on('ping', count);
}

function createConnection(
  request: IncomingMessage,
  address: string,
  webSocket: WebSocket,
  writer: SocketWriter,
): Connection {
  return { request, address, webSocket, writer, viewer: null, seen: new Map(), expiry: undefined, running: new Set() };
}

/** Between ws, which knows frames, and graphql-ws, which knows the protocol. */
function open(protocol: Server<Connection>, connection: Connection, { log }: TransportParts): void {
  const { webSocket, writer } = connection;
  // A frame fault: ws closes the socket by itself, with the code that fits.
  webSocket.on('error', () => {});
  const closed = protocol.opened(
    {
      protocol: webSocket.protocol,
      send: (data) =>
        new Promise((resolve) => {
          writer.flush();
          // One that left hears nothing; its close says the rest.
          webSocket.send(data, () => resolve());
        }),
      close: (code, reason) => webSocket.close(code, reason),
      onMessage: (listener) =>
        webSocket.on('message', (data: RawData) => {
          if (webSocket.readyState !== webSocket.OPEN) return;
          listener(String(data)).catch((error) => {
            log.debug({ err: error }, 'a message that the protocol does not know');
            webSocket.close(CloseCode.BadRequest, 'Invalid message received');
          });
        }),
    },
    connection,
  );
  webSocket.once('close', (code, reason) => {
    clearTimeout(connection.expiry);
    for (const abort of connection.running) abort.abort();
    closed(code, String(reason)).catch((error) => log.error({ err: error }, 'a socket did not close in order'));
  });
}

function createProtocol(parts: TransportParts): Server<Connection> {
  const { engine } = parts;
  const refusals = new WeakMap<readonly GraphQLError[], readonly GraphQLFormattedError[]>();
  return makeServer<Record<string, unknown> | undefined, Connection>({
    onConnect: (context) => connect(context, parts),
    async onSubscribe(context, id, payload) {
      const { viewer, address, seen } = context.extra;
      const call: Call = {
        viewer,
        address,
        isResumed: seen.has(id),
        requestId: randomUUID(),
        abort: new AbortController(),
      };
      const prepared = await prepare(parts, context, payload, call);
      if (!isAnswer(prepared)) return toExecutionArgs({ id, call, prepared, connection: context.extra });
      const { errors = [] } = prepared.body;
      const carriers = errors.map(({ message }) => new GraphQLError(message));
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
async function connect(
  { extra, connectionParams }: ConnectionContext,
  { authenticate, log }: TransportParts,
): Promise<boolean> {
  const given = connectionParams?.['authorization'] ?? extra.request.headers.authorization;
  if (given !== undefined && typeof given !== 'string') return false;
  try {
    extra.viewer = await authenticate(given);
  } catch (error) {
    if (error instanceof ClientError) return false;
    log.error({ err: error }, 'credentials could not be checked');
    extra.webSocket.close(tryAgainLater, 'Try again later');
    return true;
  }
  if (extra.viewer) extra.expiry = setTimeout(() => endExpired(extra), extra.viewer.expiresAt - Date.now());
  extra.seen = readSeen(connectionParams?.['live']);
  return true;
}

function endExpired({ webSocket }: Connection): void {
  webSocket.close(CloseCode.Forbidden, 'Forbidden');
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

async function execute({ prepared, connection, call }: SocketOperation): Promise<ExecutionResult> {
  connection.running.add(call.abort);
  try {
    const { body } = await prepared.execute();
    return body as ExecutionResult;
  } finally {
    connection.running.delete(call.abort);
  }
}

async function subscribe(
  { id, call, prepared, connection }: SocketOperation,
  engine: Engine,
): Promise<AsyncGenerator<never>> {
  const after = connection.seen.get(id);
  connection.seen.delete(id);
  const subscriber = await prepared.subscribe(after);
  if (isAnswer(subscriber)) return refusedIterator(subscriber);
  return new LiveIterator({
    id,
    subscriber,
    writer: connection.writer,
    announce: (cursor) =>
      connection.webSocket.send(JSON.stringify({ type: 'ping', payload: { live: { [id]: cursor } } })),
    refuse: (error) => engine.refuse(error, call.requestId),
  });
}

/** A stream that ends as soon as it is looked at becomes the operation's `error` message. */
// biome-ignore lint/correctness/useYield: it has nothing to yield.
async function* refusedIterator(answer: Answer): AsyncGenerator<never> {
  throw new OperationRefused(answer);
}
