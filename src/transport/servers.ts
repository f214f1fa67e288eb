import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { boundConnections } from './admission/descriptor-limit.ts';
import type { HttpParts } from './http/exchange.ts';
import { createHttpServer } from './http/server.ts';
import { createMetricsServer } from './metrics/metrics-port.ts';
import { createMetrics, type MeasuredParts } from './metrics/server-metrics.ts';
import type { TransportParts } from './transport.ts';
import { createWebSocketEndpoint } from './websocket/server.ts';

type ServersParts = TransportParts &
  Pick<HttpParts, 'stopping' | 'readState'> &
  Omit<MeasuredParts, 'webSockets' | 'droppedConnections'>;

/** Creates the HTTP server with its WebSockets, and the server of the metrics if they have a port of their own. */
export function createServers(parts: ServersParts) {
  const { config, log } = parts;
  const droppedConnections = { count: 0 };
  const webSockets = createWebSocketEndpoint(parts);
  const { metrics, httpMetrics, stop } = createMetrics({ ...parts, webSockets, droppedConnections });
  const metricsServer = config.metricsPort === undefined ? undefined : createMetricsServer(config, metrics, log);
  const http = createHttpServer(
    { ...parts, metrics: metricsServer ? undefined : metrics, httpMetrics },
    webSockets.upgrade,
  );
  return {
    http,
    webSockets,
    /** Resolves with their URLs; the metrics have one only if they have a port of their own. */
    async listen() {
      const metricsUrl = metricsServer && `${await listen(metricsServer, config.host, config.metricsPort)}/metrics`;
      const url = await listen(http, config.host, config.port);
      boundConnections(http, droppedConnections, log, metricsServer);
      return { url, metricsUrl };
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
