import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { withinTime } from '../common/within-time.ts';
import type { ServerStatus } from '../live/inventory/server-status.ts';
import type { Presence } from '../live/presence/presence.ts';
import type { StateStreams } from '../live/states/state-streams.ts';
import { boundConnections } from './admission/descriptor-limit.ts';
import { type HttpParts, replaced } from './http/exchange.ts';
import { createHttpServer } from './http/server.ts';
import { createMetricsServer } from './metrics/metrics-port.ts';
import { createMetrics, type MeasuredParts } from './metrics/server-metrics.ts';
import type { TransportParts } from './transport.ts';
import { createWebSocketEndpoint } from './websocket/server.ts';

/** The maximum time for running operations to finish after all long connections were asked to close. */
const closeGraceMs = 5_000;
const sweepMs = 50;

type ServersParts = TransportParts &
  Pick<HttpParts, 'readState'> &
  Omit<MeasuredParts, 'webSockets' | 'droppedConnections'> & {
    statusStreams: StateStreams<ServerStatus>;
    presence: Presence;
  };

/** Creates the HTTP server with its WebSockets, and the server of the metrics if they have a port of their own. */
export function createServers(parts: ServersParts) {
  const { config, log, longConnections } = parts;
  const stopping = new AbortController();
  const droppedConnections = { count: 0 };
  const webSockets = createWebSocketEndpoint(parts);
  const { metrics, httpMetrics, stop } = createMetrics({ ...parts, webSockets, droppedConnections });
  const metricsServer = config.metricsPort === undefined ? undefined : createMetricsServer(config, metrics, log);
  const http = createHttpServer(
    { ...parts, stopping: stopping.signal, metrics: metricsServer ? undefined : metrics, httpMetrics },
    webSockets.upgrade,
  );
  return {
    /** Resolves with their URLs; the metrics have one only if they have a port of their own. */
    async listen() {
      const metricsUrl = metricsServer && `${await listen(metricsServer, config.host, config.metricsPort)}/metrics`;
      const url = await listen(http, config.host, config.port);
      boundConnections(http, droppedConnections, log, metricsServer);
      return { url, metricsUrl };
    },
    /**
     * Moves the clients to other servers, waits for running operations, and closes all connections. For `delayMs` new
     * connections are still accepted; then long connections are asked to close, within DRAIN_SECONDS. `isReplaced`: others
     * serve on its port.
     */
    async close(delayMs: number, isReplaced: boolean) {
      stopping.abort(isReplaced ? replaced : undefined);
      if (delayMs > 0) await wait(delayMs);
      const closed = new Promise<unknown>((done) => http.close(done));
      webSockets.stopAccepting();
      // A client may keep its connection open after its stream has ended, so idle connections are closed repeatedly.
      const sweeping = setInterval(() => http.closeIdleConnections(), sweepMs);
      await longConnections.drain(config.drainSeconds);
      await withinTime(closeGraceMs, closed, () => {});
      clearInterval(sweeping);
      await webSockets.close();
      parts.statusStreams.close();
      await parts.presence.close();
      await parts.fanOut.close();
      http.closeAllConnections();
      await closed;
    },
    /** Closes the server of the metrics, and stops the measurements. */
    stopMetrics() {
      metricsServer?.close().closeAllConnections();
      stop();
    },
  };
}

/** Resolves with the URL of the server. @throws an Error with a code such as EADDRINUSE. */
async function listen(server: Server, host: string, port: number | undefined): Promise<string> {
  await once(server.listen({ host, port, backlog: 4_096 }), 'listening');
  const { port: actual } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${actual}`;
}
