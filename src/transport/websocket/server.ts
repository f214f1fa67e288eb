import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { CloseCode, handleProtocols, MessageType, type Server, type SubscribeMessage } from 'graphql-ws';
import { type RawData, WebSocketServer } from 'ws';
import { addressOf } from '../address.ts';
import { HandshakeQueue } from '../admission/handshake-queue.ts';
import { MessageBudget } from '../admission/message-budget.ts';
import { PerTurnQueue } from '../admission/per-turn-queue.ts';
import { sendHeldAnswers } from '../batched-writes.ts';
import { tooManyConnections } from '../http/refusal.ts';
import { linger } from '../http/socket-refusal.ts';
import type { TransportParts, Upgrade } from '../transport.ts';
import { type ClientMessage, findLengthFault, readClientMessage } from './client-message.ts';
import { Connection, clientLeft, tryAgainLater } from './connection.ts';
import { KeepAlive } from './keep-alive.ts';
import { OperationOrder } from './operation-order.ts';
import { createProtocol } from './protocol.ts';
import { findIdFault } from './seen.ts';

const maxFrameBytes = 256 * 1024;
const maxFragments = 64;
/** The maximum number of chunks of a frame: chunks of a few bytes take a hundred times their length in memory. */
const maxPieces = 1_024;
/** A refused operation takes 0.1 to 0.2 ms. */
const messagesPerTurn = 16;
/** In characters. The first message is `connection_init`: it has credentials, and the cursor of each subscription. */
const minInitLength = 65_536;
const lengthPerSeen = 500;
const closeTimeoutMs = 5_000;
const serviceRestart = 1012;
/** The error code of ws for a frame or a message in too many pieces. */
const tooManyPieces = 'WS_ERR_TOO_MANY_BUFFERED_PARTS';
/** A constant rather than a literal in the call, because the types of ws do not have `closeTimeout` yet. */
const serverOptions = {
  noServer: true,
  maxPayload: maxFrameBytes,
  maxFragments,
  maxBufferedChunks: maxPieces,
  perMessageDeflate: false,
  // A client that keeps its connection open after its close frame is disconnected after this time.
  closeTimeout: closeTimeoutMs,
  handleProtocols: (protocols: Set<string>) => handleProtocols(protocols),
};

export interface WebSocketEndpoint {
  /** The number of open sockets. */
  readonly size: number;
  upgrade: Upgrade;
  close(): Promise<void>;
}

/** The part of a request that is kept until its socket is admitted. */
interface Handshake {
  request: Pick<IncomingMessage, 'method' | 'headers'>;
  address: string;
  socket: Socket;
  head: Buffer;
  refuse: (socket: Socket, error: unknown) => void;
}

export function createWebSocketEndpoint(parts: TransportParts): WebSocketEndpoint {
  const server = new WebSocketServer(serverOptions);
  const protocol = createProtocol(parts);
  const keepAlive = new KeepAlive(parts.config.stallSeconds);
  const connections = new Set<Connection>();
  // Its functions live as long as the socket, so they must not close over the request.
  const openConnection = (connection: Connection, socket: Socket) => {
    const { webSocket } = connection;
    connections.add(connection);
    webSocket.once('close', () => connections.delete(connection));
    const markActive = () => handshakes.markActive(connection.address, socket);
    webSocket.once('message', markActive);
    limitMessages(connection, parts.config.limits.messages, handshakes);
    keepAlive.watch(connection, socket);
    // Runs after the listener of ws, which has then read the data.
    socket.on('data', () => connection.countUnfinished());
    open(protocol, connection, parts, markActive);
  };
  const admit = ({ request, address, socket, head }: Handshake) => {
    let isUpgraded = false;
    // ws reads only the method and the headers of the request.
    server.handleUpgrade(request as IncomingMessage, socket, head, (webSocket) => {
      isUpgraded = true;
      const { authorization } = request.headers;
      const account = parts.retained.open(address);
      const { unsent } = parts;
      openConnection(new Connection({ address, authorization, webSocket, socket, unsent, account }), socket);
    });
    // ws has already answered with an error.
    if (!isUpgraded) linger(socket);
  };
  const handshakes = new HandshakeQueue<Handshake>(parts.config.limits.sockets, {
    admit,
    refuse: ({ socket, refuse }) => refuse(socket, tooManyConnections()),
  });
  return {
    get size() {
      return connections.size;
    },
    upgrade(request, socket, head, refuse) {
      const { method, headers } = request;
      const address = addressOf(request, parts.config.trustProxy);
      if (!parts.retained.acceptsSocket(address)) return false;
      return handshakes.enter(address, socket, { request: { method, headers }, address, socket, head, refuse });
    },
    async close() {
      handshakes.close();
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

/** Closes a socket that sends too many messages, with a code that tells its client to try again later. */
function limitMessages(connection: Connection, perSecond: number, handshakes: HandshakeQueue<Handshake>): void {
  const budget = new MessageBudget(perSecond);
  const count = () => {
    if (!connection.isOpen || budget.take()) return;
    handshakes.pause(connection.address);
    connection.end(tryAgainLater, 'Too many messages');
  };
  connection.webSocket.on('message', count);
  connection.webSocket.on('ping', count);
  // Runs before the other listeners, which admit the next socket.
  connection.webSocket.prependListener('error', (fault: Error & { code?: string }) => {
    if (fault.code === tooManyPieces) handshakes.pause(connection.address);
  });
}

/** Connects ws, which handles frames, and graphql-ws, which handles the protocol. */
function open(
  protocol: Server<Connection>,
  connection: Connection,
  { log, config: { limits } }: TransportParts,
  onEnd: () => void,
): void {
  const maxInitLength = Math.max(minInitLength, lengthPerSeen * limits.subscriptions);
  const { webSocket } = connection;
  const order = new OperationOrder();
  const handle = (data: string, listener: Listener): Promise<void> | undefined => {
    const message = readClientMessage(data);
    if (!message) return void connection.end(CloseCode.BadRequest, 'Invalid message received');
    const lengthFault = findLengthFault(message, data.length);
    if (lengthFault) return void connection.end(CloseCode.BadRequest, lengthFault);
    if (!('id' in message)) return listener(message);
    const fault = findIdFault(message.id);
    if (fault) return void connection.end(CloseCode.BadRequest, fault);
    if (message.type === MessageType.Subscribe) {
      connection.keepMessage(message.id, data.length);
      return order.subscribe(message.id, () => begin(connection, listener, message));
    }
    return order.complete(message.id, () => {
      connection.running.get(message.id)?.cancel(clientLeft());
      return listener(message);
    });
  };
  const closed = protocol.opened(
    {
      protocol: webSocket.protocol,
      send: (data) => connection.send(data),
      close: (code, reason) => connection.end(code ?? CloseCode.BadRequest, reason ?? ''),
      onMessage: (listener) => {
        let isFirst = true;
        let isPaused = false;
        const turns = new PerTurnQueue<string>(messagesPerTurn, (data) => {
          if (isPaused && turns.isEmpty) {
            isPaused = false;
            connection.resumeReading();
          }
          if (!connection.isOpen) return;
          // An operation may take long, and one turn may handle many.
          sendHeldAnswers();
          handle(data, listener as unknown as Listener)?.catch((error) => {
            log.error({ err: error }, 'a message could not be handled');
            connection.end(tryAgainLater, 'Try again later');
          });
        });
        webSocket.on('message', (data: RawData) => {
          if (!connection.isOpen) return;
          const text = String(data);
          if (isFirst && text.length > maxInitLength) {
            return connection.end(CloseCode.BadRequest, `The first message has at most ${maxInitLength} characters`);
          }
          isFirst = false;
          turns.push(text);
          // Later messages wait in the network until the queued ones are handled.
          if (turns.isEmpty || isPaused) return;
          isPaused = true;
          connection.pauseReading();
        });
      },
    },
    connection,
  );
  connection.onEnd = (code, reason) => {
    onEnd();
    closed(code, reason).catch((error) => log.error({ err: error }, 'a socket did not close in order'));
  };
}

/** The listener of graphql-ws, which accepts a parsed message as well as a text. */
type Listener = (message: ClientMessage) => Promise<void>;

/** The callback lives until the operation is over, so it closes over the id only and not over the message. */
function begin(connection: Connection, listener: Listener, message: SubscribeMessage): Promise<void> {
  const { id } = message;
  return listener(message).finally(() => connection.forget(id));
}
