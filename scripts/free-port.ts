import { once } from 'node:events';
import { createServer } from 'node:net';

/** Systems take the ports of outgoing connections from above this range. */
const from = 20_000;
const to = 32_000;

/**
 * A free port of the loopback address that stays free while its server is stopped: the system does not choose it for an
 * outgoing connection.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = from + Math.floor(Math.random() * (to - from));
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
