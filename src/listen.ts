import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Resolves with the URL of the server. @throws an Error with a code such as EADDRINUSE. */
export function listen(server: Server, host: string, port: number | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 4_096 }, () => {
      server.off('error', reject);
      const { port: actual } = server.address() as AddressInfo;
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${actual}`);
    });
  });
}
