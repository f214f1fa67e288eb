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
import { containedEmit, type Failing } from '../../common/contain.ts';
import type { Log } from '../../log/log.ts';

/** A response, and the exchange that it belongs to. */
export interface OwnedResponse extends ServerResponse {
  exchange?: Failing;
}

interface ContainedServerParts {
  log: Pick<Log, 'error'>;
  /** The latest exchange of a socket. */
  find?: (socket: Duplex) => (Failing & { request: IncomingMessage }) | undefined;
  /** Takes over a connection that is refused, which never reaches the HTTP parser, and returns true. */
  refuses?: (socket: Socket) => boolean;
}

/**
 * An HTTP server of which no listener can end the process: the exception of a listener of a socket, a request or a response
 * fails the exchange. If there is none, the socket is destroyed.
 */
export function createContainedServer(
  settings: ServerOptions,
  onRequest: RequestListener,
  { log, find = () => undefined, refuses = () => false }: ContainedServerParts,
): Server {
  const fail = (socket: Duplex | undefined, error: unknown, exchange?: Failing) => {
    if (exchange) return exchange.fail(error);
    log.error({ connectionId: randomUUID(), err: error }, 'the work of a connection failed');
    socket?.destroy();
  };
  class ContainedRequest extends IncomingMessage {}
  ContainedRequest.prototype.emit = containedEmit<IncomingMessage>((request, error) => {
    const latest = find(request.socket);
    fail(request.socket, error, latest?.request === request ? latest : undefined);
  });
  class ContainedResponse extends ServerResponse {}
  ContainedResponse.prototype.emit = containedEmit<OwnedResponse>((response, error) =>
    fail(response.req.socket, error, response.exchange),
  );
  const classes = { IncomingMessage: ContainedRequest, ServerResponse: ContainedResponse };
  const server = createServer({ ...settings, ...classes }, onRequest);
  const emitOfSocket = containedEmit<Socket>((socket, error) => fail(socket, error, find(socket)));
  const emit = containedEmit((_, error, values) => fail(findSocket(values), error));
  server.emit = (event: string, ...values: unknown[]) => {
    const [socket] = values;
    if (event !== 'connection' || !(socket instanceof Socket)) return emit.call(server, event, ...values);
    socket.emit = emitOfSocket;
    return refuses(socket) || emit.call(server, event, socket);
  };
  return server;
}

/** The socket that an event of a server is about, if any. */
function findSocket(values: readonly unknown[]): Duplex | undefined {
  const [first] = values;
  return first instanceof IncomingMessage ? first.socket : values.find((value) => value instanceof Duplex);
}
