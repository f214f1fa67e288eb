import { randomUUID } from 'node:crypto';
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { containedEmit } from '../../common/contain.ts';
import type { Log } from '../../log/log.ts';
import type { Connections } from '../admission/connections.ts';
import type { OwnedResponse } from './exchange.ts';

interface ContainedServerParts {
  log: Pick<Log, 'error'>;
  connections: Connections;
  /** Takes over a connection above the limit, which never reaches the HTTP parser. */
  refuse(socket: Socket): void;
}

/**
 * An HTTP server of which no listener can end the process: the exception of a listener of a socket, a request or a response
 * fails the exchange. If there is none, the socket is destroyed.
 */
export function createContainedServer(
  settings: ServerOptions,
  onRequest: RequestListener,
  { log, connections, refuse }: ContainedServerParts,
): Server {
  const fail = (socket: Duplex | undefined, error: unknown, response?: OwnedResponse) => {
    if (response?.exchange) return response.exchange.fail(error);
    log.error({ connectionId: randomUUID(), err: error }, 'the work of a connection failed');
    socket?.destroy();
  };
  class ContainedRequest extends IncomingMessage {}
  ContainedRequest.prototype.emit = containedEmit<IncomingMessage>((request, error) => {
    const latest = connections.find(request.socket)?.latest;
    fail(request.socket, error, latest?.req === request ? latest : undefined);
  });
  class ContainedResponse extends ServerResponse {}
  ContainedResponse.prototype.emit = containedEmit<OwnedResponse>((response, error) =>
    fail(response.req.socket, error, response),
  );
  const classes = { IncomingMessage: ContainedRequest, ServerResponse: ContainedResponse };
  const server = createServer({ ...settings, ...classes }, onRequest);
  const emitOfSocket = containedEmit<Socket>((socket, error) => fail(socket, error, connections.find(socket)?.latest));
  const emit = containedEmit((_, error, values) => fail(findSocket(values), error));
  server.emit = (event: string, ...values: unknown[]) => {
    const [socket] = values;
    if (event !== 'connection' || !(socket instanceof Socket)) return emit.call(server, event, ...values);
    socket.emit = emitOfSocket;
    if (connections.add(socket)) return emit.call(server, event, socket);
    refuse(socket);
    return true;
  };
  return server;
}

/** The socket that an event of a server is about, if any. */
function findSocket(values: readonly unknown[]): Duplex | undefined {
  const [first] = values;
  return first instanceof IncomingMessage ? first.socket : values.find((value) => value instanceof Duplex);
}
