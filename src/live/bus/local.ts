import { once } from 'node:events';
import {
  createServer,
  type ListenOptions,
  type NetConnectOpts,
  connect as openSocket,
  type Server,
  type Socket,
} from 'node:net';
import { type Bus, type BusOptions, commonTopic } from './bus.ts';
import type { BusConnection, BusDriver, ConnectionHandlers } from './checked-connection.ts';
import { NetworkBus } from './network-bus.ts';

/*
 * A bus between the processes of one machine, over a socket of their parent. Each line is a word, a topic and, after a tab, a
 * message; neither topics nor messages contain tabs or line breaks. `sync` is answered after all lines before it.
 */

/** As with Redis, the larger the events, the fewer fit into the memory of a connection that reads slowly. */
const maxMessageBytes = 2 ** 16;
/** A process that reads so slowly loses its connection, and with it the messages: it then compares its heads with the database. */
const maxWaitingBytes = 2 ** 26;

/** Passes messages between the processes that connect to an address. */
export async function openLocalExchange(address: ListenOptions): Promise<Server> {
  const subscribers = new Map<string, Set<Socket>>();
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {});
    socket.on('close', () => {
      for (const [topic, subscribed] of subscribers) unsubscribe(topic, subscribed, socket);
    });
    onLine(socket, (word, topic, text) => {
      const subscribed = subscribers.get(topic) ?? new Set();
      // A process delivers its own messages itself. Its pings, on the common topic, must come back.
      const receives = (each: Socket) => each !== socket || topic === commonTopic;
      if (word === 'publish')
        for (const each of subscribed) if (receives(each)) write(each, `message ${topic}\t${text}\n`);
      if (word === 'subscribe') subscribers.set(topic, subscribed.add(socket));
      if (word === 'unsubscribe') unsubscribe(topic, subscribed, socket);
      if (word === 'sync') write(socket, 'synced \n');
    });
  });
  const unsubscribe = (topic: string, subscribed: Set<Socket>, socket: Socket) => {
    subscribed.delete(socket);
    if (subscribed.size === 0) subscribers.delete(topic);
  };
  await once(server.listen(address), 'listening');
  return server;
}

/** A bus over the exchange of `openLocalExchange`. */
export function openLocalBus(address: NetConnectOpts, options: BusOptions): Promise<Bus> {
  const driver: BusDriver = {
    kind: 'local',
    maxMessageBytes,
    maxInFlight: 4,
    connect: (handlers, signal) => connect(address, handlers, signal),
  };
  return new NetworkBus(driver, options).open();
}

async function connect(
  address: NetConnectOpts,
  { receive, onLost }: ConnectionHandlers,
  signal: AbortSignal,
): Promise<BusConnection> {
  const socket = openSocket({ ...address, noDelay: true });
  socket.on('error', onLost);
  socket.on('close', () => onLost(new Error('the connection was closed')));
  signal.addEventListener('abort', () => socket.destroy());
  await once(socket, 'connect', { signal });
  /** What waits for `synced`, in order. */
  const waiting: (() => void)[] = [];
  onLine(socket, (word, _, text) => {
    if (word === 'message') receive(text);
    if (word === 'synced') waiting.shift()?.();
  });
  const send = (lines: readonly string[]) =>
    new Promise<void>((resolve) => {
      waiting.push(resolve);
      socket.write(`${lines.join('\n')}\nsync \n`);
    });
  return {
    send: (batch) => send(batch.map(({ topic, text }) => `publish ${topic}\t${text}`)),
    subscribe: (topics) => send(topics.map((topic) => `subscribe ${topic}`)),
    unsubscribe: (topic) => send([`unsubscribe ${topic}`]),
  };
}

function write(socket: Socket, lines: string): void {
  if (socket.writableLength > maxWaitingBytes) return void socket.destroy();
  // The answers to all lines that are read together leave together.
  if (socket.writableCorked === 0) {
    socket.cork();
    process.nextTick(() => socket.uncork());
  }
  socket.write(lines);
}

function onLine(socket: Socket, read: (word: string, topic: string, text: string) => void): void {
  let rest = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, word = '', topic = '', text = ''] = /^(\w+) ([^\t]*)\t?(.*)$/s.exec(line) ?? [];
      read(word, topic, text);
    }
  });
}
