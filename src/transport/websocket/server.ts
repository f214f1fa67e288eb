import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { CloseCode, GRAPHQL_TRANSPORT_WS_PROTOCOL, handleProtocols } from 'graphql-ws';
import { type RawData, WebSocketServer } from 'ws';
import { contain } from '../../common/contain.ts';
import { ClientError } from '../../errors.ts';
import { addressOf } from '../address.ts';
import { AddressLimit } from '../admission/address-limit.ts';
import { HandshakeQueue } from '../admission/handshake-queue.ts';
import { linger, refuseSocket } from '../http/refusal.ts';
import type { TransportParts } from '../transport.ts';
import { serviceRestart, WebSocketConnection } from './connection.ts';
import { createFrameLimits } from './frame-limits.ts';
import { createKeepAlive } from './keep-alive.ts';
import { SocketProtocol } from './protocol.ts';

/** A constant rather than a literal in the call, because the types of ws do not have `closeTimeout` yet. */
const serverOptions = {
  noServer: true,
  maxPayload: 256 * 1024,
  maxFragments: 64,
  // Chunks of a few bytes take a hundred times their length in memory.
  maxBufferedChunks: 1_024,
  perMessageDeflate: false,
  // A client that keeps its connection open after its close frame is disconnected after this time, in milliseconds.
  closeTimeout: 5_000,
  handleProtocols: (protocols: Set<string>) => handleProtocols(protocols),
};

export type WebSocketEndpoint = ReturnType<typeof createWebSocketEndpoint>;

export function createWebSocketEndpoint(parts: TransportParts) {
  const server = new WebSocketServer(serverOptions);
  const keepAlive = createKeepAlive(parts.config.stallSeconds);
  const handshakes = new HandshakeQueue(new AddressLimit(parts.config.limits.sockets, 'webSockets', parts.parent));
  const limitFrames = createFrameLimits(handshakes, parts.config.limits.messages);
  // Its functions live as long as the socket, so they must not close over the request.
  const openConnection = (connection: WebSocketConnection, authorization: string | undefined) => {
    const { webSocket, socket } = connection;
    parts.longConnections.add(connection);
    webSocket.once('close', () => parts.longConnections.delete(connection));
    const markActive = () => handshakes.markActive(connection.address, socket);
    webSocket.once('message', markActive);
    limitFrames(connection);
    keepAlive.watch(connection);
    // Runs after the listener of ws, which has then read the data.
    socket.on('data', () => connection.countUnfinished());
    if (webSocket.protocol !== GRAPHQL_TRANSPORT_WS_PROTOCOL) {
      return connection.end(CloseCode.SubprotocolNotAcceptable, 'Subprotocol not acceptable');
    }
    const protocol = new SocketProtocol(parts, connection, authorization);
    webSocket.on('message', (data: RawData) => protocol.read(String(data)));
    connection.onEnd = () => {
      markActive();
      protocol.stop();
    };
  };
  return {
    /** The number of open sockets. */
    get size() {
      return server.clients.size;
    },
    /** Takes over the socket of a handshake. False if a limit of sockets or of memory is reached. */
    upgrade(request: IncomingMessage, socket: Socket, head: Buffer): boolean {
      const { method, headers } = request;
      const address = addressOf(request, parts.config.trustProxy);
      if (!parts.clientMemory.acceptsSocket(address)) return false;
      const admit = () => {
        let isUpgraded = false;
        // ws reads only these parts of the request, which wait with its socket.
        server.handleUpgrade({ method, headers } as IncomingMessage, socket, head, (webSocket) => {
          isUpgraded = true;
          const account = parts.clientMemory.open(address);
          const connection = new WebSocketConnection({ address, webSocket, socket, account }, parts.log);
          contain(() => openConnection(connection, headers.authorization), connection.fail)();
        });
        // ws has already answered with an error.
        if (!isUpgraded) linger(socket);
      };
      return handshakes.enter(address, socket, {
        admit,
        refuse: (reason = new ClientError('SERVICE_UNAVAILABLE')) => refuseSocket(parts.engine, socket, reason),
      });
    },
    /** Refuses all pending and later handshakes. */
    stopAccepting: () => handshakes.close(),
    /** Closes all sockets; a socket whose client does not answer is terminated. */
    async close() {
      keepAlive.stop();
      for (const connection of parts.longConnections.byId.values())
        if (connection instanceof WebSocketConnection) connection.end(serviceRestart, 'Shutting down');
      await Promise.all(Array.from(server.clients, (each) => new Promise((resolve) => each.once('close', resolve))));
      server.close();
    },
  };
}
