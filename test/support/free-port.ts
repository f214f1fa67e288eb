import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Systems take the ports of outgoing connections from above this range. */
const from = 20_000;
const to = 32_000;

/**
 * A free port that stays free while its server is stopped: the system does not choose it for an outgoing connection.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = from + Math.floor(Math.random() * (to - from));
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    const { port: found } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return found;
  }
}
