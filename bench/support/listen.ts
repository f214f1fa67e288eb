import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on PORT, or on a free port, and prints the URL, which the benchmark reads. */
export function listen(server: Server): void {
  server.listen({ port: Number(process.env['PORT'] ?? 0), host: '127.0.0.1', backlog: 4_096 }, () => printUrl(server));
}

export function printUrl(server: Server): void {
  const { port } = server.address() as AddressInfo;
  console.log(`The server is at http://127.0.0.1:${port}/graphql`);
  // Node writes the profile of --cpu-prof only when the process exits by itself.
  process.once('SIGTERM', () => process.exit());
}
