import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { createPostroomClient } from '../../packages/client/src/index.ts';

export interface ClientOptions {
  port: number;
  /** The id of the room; only Postroom's clients need it. */
  room: string;
  /** The address of this machine that the client connects from. */
  localAddress: string;
  /** The time from the loss of a connection to the next attempt; undefined: the client's own delays, at random. */
  offlineMs?: number | undefined;
  onOpen: () => void;
  onClosed: () => void;
  onMessage: (text: string) => void;
}

/** A subscriber that connects again when its connection was lost. */
export interface ReconnectingClient {
  /** Ends the connection without a close frame. */
  cut: () => void;
}

export type ClientKind = 'postroom' | 'socket-io' | 'ws';

/** The module is not imported by its name, because its packages are installed only for the benchmark. */
const socketIoClient = new URL('../comparison/reconnects/socket-io-client.ts', import.meta.url).href;

export async function importClient(kind: ClientKind): Promise<(options: ClientOptions) => ReconnectingClient> {
  if (kind === 'socket-io') return (await import(socketIoClient)).createSocketIoClient;
  return kind === 'postroom' ? createResumingClient : createPlainClient;
}

const query = 'subscription ($room: ID!) { roomEvents(room: $room) { ... on PostCreated { post { title } } } }';

interface Data {
  roomEvents: { post: { title: string } };
}

/** A stock client of graphql-ws with the options of @postroom/client. */
function createResumingClient(options: ClientOptions): ReconnectingClient {
  const { port, room, localAddress, offlineMs, onOpen, onClosed, onMessage } = options;
  let socket: WebSocket | undefined;
  class LocalSocket extends WebSocket {
    constructor(url: string, protocol: string) {
      super(url, protocol, { localAddress });
      socket = this;
      this.on('open', onOpen);
    }
  }
  const { live } = createPostroomClient({
    url: `http://127.0.0.1:${port}/graphql`,
    createClient,
    webSocket: { webSocketImpl: LocalSocket },
    ...(offlineMs !== undefined && { retryWaitMs: () => offlineMs }),
  });
  live.on('closed', onClosed);
  const fail = (reason?: unknown) => {
    throw new Error('A subscription has ended.', { cause: reason });
  };
  live.subscribe<Data>(
    { query, variables: { room } },
    {
      next: ({ data, errors }) => (data ? onMessage(data.roomEvents.post.title) : fail(errors)),
      error: fail,
      complete: fail,
    },
  );
  return { cut: () => socket?.terminate() };
}

const maxDelayMs = 5_000;

/** A client without a protocol of its own. Its delays are those of @postroom/client. */
function createPlainClient(options: ClientOptions): ReconnectingClient {
  const { port, localAddress, offlineMs, onOpen, onClosed, onMessage } = options;
  let socket: WebSocket;
  let attempt = 0;
  const connect = () => {
    socket = new WebSocket(`ws://127.0.0.1:${port}`, { localAddress });
    socket.on('open', () => {
      attempt = 0;
      onOpen();
    });
    socket.on('message', (data) => onMessage(String(data)));
    socket.on('error', () => {});
    socket.on('close', () => {
      onClosed();
      attempt += 1;
      setTimeout(connect, offlineMs ?? Math.random() * Math.min(maxDelayMs, 500 * 2 ** attempt));
    });
  };
  connect();
  return { cut: () => socket.terminate() };
}
