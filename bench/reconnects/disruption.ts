import { setTimeout as wait } from 'node:timers/promises';
import { percentile } from '../support/statistics.ts';
import { Clients } from './clients.ts';
import { Publisher, publishEveryMs } from './publisher.ts';
import type { Running } from './servers.ts';

const quietMs = 3_000;
/** More than in the time that the clients have to come back. */
const maxMessages = 300;

export interface Disruption {
  /** Clients that have lost their connection. */
  disconnected: number;
  /** Milliseconds from the first loss of a connection until each of these clients had one again that it kept. */
  backMs: number[];
  neverBack: number;
  /** Milliseconds in which each of these clients had no connection. */
  offlineMs: number[];
  messages: number;
  lost: number;
  repeated: number;
}

/** Ends connections of the server by `disrupt`, while it publishes two messages per second. */
export async function measureDisruption(
  server: Running,
  count: number,
  disrupt: () => void | Promise<void>,
): Promise<Disruption> {
  const clients = await Clients.connect(server, count, { maxMessages });
  try {
    const publisher = new Publisher(server);
    const published = publisher.publish(maxMessages - 1);
    await wait(quietMs);
    await disrupt();
    // A client notices the loss of its connection a little later.
    await wait(publishEveryMs);
    await clients.waitUntilConnected();
    await wait(quietMs);
    publisher.stop();
    await published;
    await clients.waitUntilReceived(publisher.confirmed.length * count);
    const { losses, lost, repeated } = await clients.report(publisher.confirmed);
    const firstAt = losses.reduce((first, { lostAt }) => Math.min(first, lostAt), Number.POSITIVE_INFINITY);
    const backMs = losses.flatMap(({ openedAt }) => (openedAt === undefined ? [] : [openedAt - firstAt]));
    return {
      disconnected: losses.length,
      backMs,
      neverBack: losses.length - backMs.length,
      offlineMs: losses.map(({ offlineMs }) => offlineMs),
      messages: publisher.confirmed.length,
      lost,
      repeated,
    };
  } finally {
    clients.stop();
  }
}

export function describe({ disconnected, backMs, neverBack, offlineMs, messages, lost, repeated }: Disruption) {
  const seconds = (ms: readonly number[], shares: readonly number[]) =>
    shares.map((share) => (percentile(ms, share) / 1_000).toFixed(2)).join('; ');
  return {
    disconnected: String(disconnected),
    'back after, s: p50; p95; all': seconds(backMs, [0.5, 0.95, 1]),
    'without a connection, s: p50; p99': seconds(offlineMs, [0.5, 0.99]),
    'never back': String(neverBack),
    messages: String(messages),
    lost: String(lost),
    repeated: String(repeated),
  };
}
