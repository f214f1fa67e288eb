import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import {
  CloseCode,
  type CompleteMessage,
  type ConnectionInitMessage,
  handleProtocols,
  MessageType,
  type PingMessage,
  type PongMessage,
  parseMessage,
  type Server,
  type SubscribeMessage,
  stringifyMessage,
} from 'graphql-ws';
import { type RawData, WebSocketServer } from 'ws';
import { addressOf } from './address.ts';
import { Connection, clientLeft, tryAgainLater } from './connection.ts';
import { Entrance } from './entrance.ts';
import { MessageBudget } from './flood.ts';
import { KeepAlive } from './keep-alive.ts';
import { OperationOrder } from './operation-order.ts';
import { createProtocol } from './protocol.ts';
import { noRoom } from './refusal.ts';
import { linger } from './socket-refusal.ts';
import type { TransportParts, Upgrade } from './transport.ts';
import { sendHeldAnswers } from './turn-end.ts';
import { Turns } from './turns.ts';

const maxFrameBytes = 256 * 1024;
const maxFragments = 64;
/** A frame that comes in more is held in pieces of a few bytes each, which take a hundred times as much. */
const maxPieces = 1_024;
/** A refused operation takes 0.1 to 0.2 ms. */
const messagesPerTurn = 16;
const serviceRestart = 1012;
/** What ws says of a frame or a message in too many pieces. */
const tooManyPieces = 'WS_ERR_TOO_MANY_BUFFERED_PARTS';
const clientMessages = new Set<MessageType>([
  MessageType.ConnectionInit,
  MessageType.Ping,
  MessageType.Pong,
  MessageType.Subscribe,
  MessageType.Complete,
]);

export interface WebSocketDoor {
  /** How many sockets are open. */
  readonly size: number;
  upgrade: Upgrade;
  close(): Promise<void>;
}

/** What is kept of a request until its socket is let in. */
interface Handshake {
  request: Pick<IncomingMessage, 'method' | 'headers'>;
  address: string;
  socket: Socket;
  head: Buffer;
  refuse: (socket: Socket, error: unknown) => void;
}

/** Of those who wait to be asked before they speak. */
const nothing = Buffer.alloc(0);

export function createWebSocketDoor(parts: TransportParts): WebSocketDoor {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxFrameBytes,
    maxFragments,
    maxBufferedChunks: maxPieces,
    perMessageDeflate: false,
    handleProtocols: (protocols) => handleProtocols(protocols),
  });
  const protocol = createProtocol(parts);
  const keepAlive = new KeepAlive(parts.config.stallSeconds);
  const connections = new Set<Connection>();
  const admit = ({ request, address, socket, head }: Handshake) => {
    // What is made below lives as long as the socket, and keeps no more of its request than this.
    const { authorization } = request.headers;
    let isWelcome = false;
    // Of the request, ws reads no more than method and header fields.
    server.handleUpgrade(request as IncomingMessage, socket, head, (webSocket) => {
      isWelcome = true;
      const connection = new Connection({ address, authorization, webSocket, socket, unsent: parts.unsent });
      connections.add(connection);
      webSocket.once('close', () => connections.delete(connection));
      const hear = () => entrance.hear(socket);
      webSocket.once('message', hear);
      limitMessages(connection, parts.config.limits.messages, entrance);
      keepAlive.watch(connection, socket);
      open(protocol, connection, parts, hear);
    });
    // ws has said what is wrong with it.
    if (!isWelcome) linger(socket);
  };
  const entrance = new Entrance<Handshake>(parts.config.limits.sockets, {
    admit,
    refuse: ({ socket, refuse }) => refuse(socket, noRoom()),
  });
  return {
    get size() {
      return connections.size;
    },
    upgrade(request, socket, head, refuse) {
      const { method, headers } = request;
      const address = addressOf(request, parts.config.trustProxy);
      const said = head.length > 0 ? head : nothing;
      return entrance.enter(address, socket, { request: { method, headers }, address, socket, head: said, refuse });
    },
    async close() {
      entrance.close();
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
function limitMessages(connection: Connection, perSecond: number, entrance: Entrance<Handshake>): void {
  const budget = new MessageBudget(perSecond);
  const count = () => {
    if (!connection.isOpen || budget.take()) return;
    entrance.pause(connection.address);
    connection.end(tryAgainLater, 'Too many messages');
  };
  connection.webSocket.on('message', count);
  connection.webSocket.on('ping', count);
  // Before others hear of it, and let in the next.
  connection.webSocket.prependListener('error', (fault: Error & { code?: string }) => {
    if (fault.code === tooManyPieces) entrance.pause(connection.address);
  });
}

/** Between ws, which knows frames, and graphql-ws, which knows the protocol. */
function open(protocol: Server<Connection>, connection: Connection, { log }: TransportParts, onEnd: () => void): void {
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
        const turns = new Turns<string>(messagesPerTurn, (data) => {
          if (!connection.isOpen) return;
          // An operation may take long, and many come in a turn.
          sendHeldAnswers();
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
  // Not a function literal behind the `=`: V8 allocates those among the old objects, where all that they close over stays.
  const end = (code: number, reason: string) => {
    onEnd();
    closed(code, reason).catch((error) => log.error({ err: error }, 'a socket did not close in order'));
  };
  connection.onEnd = end;
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
