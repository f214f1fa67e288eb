import type { Server } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { FanOut } from '../live/fan-out.ts';
import type { ServerStatus } from '../live/inventory/server-status.ts';
import type { Presence } from '../live/presence/presence.ts';
import type { StateStreams } from '../live/states/state-streams.ts';
import type { LongConnections } from './long-connections.ts';
import type { WebSocketEndpoint } from './websocket/server.ts';

/** The maximum time for running operations to finish after all long connections were asked to close. */
const closeGraceMs = 5_000;
const sweepMs = 50;

interface OpenTransport {
  http: Server;
  webSockets: WebSocketEndpoint;
  fanOut: FanOut;
  statusStreams: StateStreams<ServerStatus>;
  presence: Presence;
  longConnections: LongConnections;
  stopping: AbortController;
}

/**
 * Moves the clients to other servers, waits for running operations, and closes all connections. For `delayMs` new
 * connections are still accepted; long connections are asked to close within `drainSeconds`.
 */
export async function closeTransport(
  { http, webSockets, fanOut, statusStreams, presence, longConnections, stopping }: OpenTransport,
  delayMs: number,
  drainSeconds: number,
): Promise<void> {
  stopping.abort();
  if (delayMs > 0) await wait(delayMs);
  const closed = new Promise((done) => http.close(done));
  webSockets.stopAccepting();
  // A client may keep its connection open after its stream has ended, so idle connections are closed repeatedly.
  const sweeping = setInterval(() => http.closeIdleConnections(), sweepMs);
  await longConnections.drain(drainSeconds);
  await Promise.race([closed, wait(closeGraceMs, undefined, { ref: false })]);
  clearInterval(sweeping);
  await webSockets.close();
  statusStreams.close();
  await presence.close();
  await fanOut.close();
  http.closeAllConnections();
  await closed;
}
