import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { answerCommands } from '../support/worker.ts';

/* A worker that is a network between a program and a server: it delays what passes, and counts what the program sends. */

export type ProxyCommand =
  | { type: 'listen'; host: string; port: number; delayMs: number }
  /** Counts from 0 again. */
  | { type: 'count' };

/** The port of the proxy, and the number of packets that the program has sent since the last command. */
export interface ProxyReply {
  port: number;
  packets: number;
}

let port = 0;
let packets = 0;

answerCommands<ProxyCommand, ProxyReply>(async (command) => {
  if (command.type === 'listen') port = await listen(command);
  const reply = { port, packets };
  packets = 0;
  return reply;
});

async function listen({ host, port, delayMs }: { host: string; port: number; delayMs: number }): Promise<number> {
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host, port, noDelay: true });
    client.on('data', () => {
      packets += 1;
    });
    forward(client, upstream, delayMs);
    forward(upstream, client, delayMs);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Timers of equal length fire in their order. */
function forward(from: Socket, to: Socket, delayMs: number): void {
  const later = delayMs === 0 ? (work: () => void) => work() : (work: () => void) => void setTimeout(work, delayMs);
  from.on('data', (chunk) => later(() => to.write(chunk)));
  from.on('close', () => later(() => to.end()));
  from.on('error', () => to.destroy());
}
