import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Config } from '../../config/config.ts';
import { ClientError, clientErrors } from '../../errors.ts';
import type { Log } from '../../log/log.ts';
import { Connections, createContainedServer } from '../http/connections.ts';
import { AllowedHosts } from '../http/target.ts';
import type { Metrics } from './metrics.ts';

const settings = {
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  // Checked by AllowedHosts.
  requireHostHeader: false,
};
const stallMs = 60_000;
const maxConnections = 20;

/** The server of /metrics on a port of its own. */
export function createMetricsServer(config: Pick<Config, 'host' | 'publicUrl'>, metrics: Metrics, log: Log): Server {
  const hosts = new AllowedHosts(config);
  const connections = new Connections();
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    if (!connections.begin(response)) return void request.socket.destroy();
    response.on('close', () => connections.end(response));
    serve(request, response, { hosts, metrics }).catch((error) => refuse(response, error));
  };
  const server = createContainedServer(settings, onRequest, { log, connections, refuse: (socket) => socket.destroy() });
  server.maxConnections = maxConnections;
  server.setTimeout(stallMs);
  server.once('listening', () => hosts.listenOn((server.address() as AddressInfo).address));
  return server;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { hosts, metrics }: { hosts: AllowedHosts; metrics: Metrics },
): Promise<void> {
  const { path } = hosts.readTarget(request);
  if (path !== '/metrics') throw new ClientError('NOT_FOUND', 'Only /metrics is here.');
  if (request.method !== 'GET' && request.method !== 'HEAD') throw new ClientError('METHOD_NOT_ALLOWED');
  await metrics.write(response);
}

/** The rest of the request is not read. */
function refuse(response: ServerResponse, error: unknown): void {
  const { code, message } = error instanceof ClientError ? error : new ClientError('INTERNAL_SERVER_ERROR');
  const allow = code === 'METHOD_NOT_ALLOWED' ? { allow: 'GET, HEAD' } : {};
  response.writeHead(clientErrors[code].status, { 'content-type': 'text/plain', connection: 'close', ...allow });
  response.end(`${message}\n`);
}
