import { createRedisClient } from '../../common/redis-client.ts';
import type { Bus, BusOptions } from './bus.ts';
import type { BusConnection, BusDriver, ConnectionHandlers } from './checked-connection.ts';
import { NetworkBus } from './network-bus.ts';

/** The larger the events, the fewer fit into the memory that Redis keeps for a slow subscriber before it disconnects it. */
const maxMessageBytes = 2 ** 16;

export interface RedisBusOptions extends BusOptions {
  /** Identifies the database, so that several installations can share a server. */
  databaseId: string;
}

/**
 * A bus over Redis: one channel per room, and one for common messages. Channels have the number of Redis's database in their
 * names, because Redis does not keep the channels of its databases apart: a copy of an installation has the same `databaseId`.
 */
export function openRedisBus(redisUrl: string, { databaseId, ...options }: RedisBusOptions): Promise<Bus> {
  const number = new URL(redisUrl).pathname.slice(1) || '0';
  const prefix = `postroom:${number}:${databaseId}:`;
  const driver: BusDriver = {
    kind: 'redis',
    maxMessageBytes,
    maxInFlight: 4,
    connect: (handlers, signal) => connect(redisUrl, prefix, handlers, signal),
  };
  return new NetworkBus(driver, options).open();
}

async function connect(
  redisUrl: string,
  prefix: string,
  { receive, onLost }: ConnectionHandlers,
  signal: AbortSignal,
): Promise<BusConnection> {
  const open = () => openClient(redisUrl, onLost, signal);
  const [publishing, subscribing] = await Promise.all([open(), open()]);
  const channelOf = (topic: string) => prefix + topic;
  const listener = (text: string) => receive(text);
  return {
    async send(batch) {
      // The client writes all commands of one turn together.
      await Promise.all(batch.map(({ topic, text }) => publishing.publish(channelOf(topic), text)));
    },
    subscribe: (topics) => subscribing.subscribe(topics.map(channelOf), listener),
    unsubscribe: (topic) => subscribing.unsubscribe(channelOf(topic), listener),
  };
}

async function openClient(url: string, onLost: (error: Error) => void, signal: AbortSignal) {
  const client = createRedisClient(url, 'postroom-bus');
  client.on('error', onLost);
  client.on('end', () => onLost(new Error('the connection was closed')));
  signal.addEventListener('abort', () => client.destroy());
  await client.connect();
  return client;
}
