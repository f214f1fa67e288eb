import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Resolves with the URL of the server. @throws an Error with a code such as EADDRINUSE. */
export async function listen(server: Server, host: string, port: number | undefined): Promise<string> {
  await once(server.listen({ host, port, backlog: 4_096 }), 'listening');
  const { port: actual } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${actual}`;
}
