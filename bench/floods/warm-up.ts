import { Agent } from 'node:http';
import { post } from '../support/client.ts';

const clients = 200;
/** Fewer than the rate limit of an address. */
const requestsEach = 90;
const headers = { 'content-type': 'application/json' };

/**
 * Puts ordinary load on a server. Under its first load a process grows because V8 reserves memory for young objects, and this
 * growth must not count as growth of a flood. Each pass uses other addresses, because of the rate limit.
 */
export async function warmUp(port: number, room: string, pass: number): Promise<void> {
  const body = JSON.stringify({ query: `{ posts(limit: 20, filter: { room: "${room}" }) { data { id title } } }` });
  const sendAll = async (_: unknown, index: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress: `127.201.${pass}.${index + 1}` });
    for (let sent = 0; sent < requestsEach; sent += 1) await post({ port, path: '/graphql', headers, body, agent });
    agent.destroy();
  };
  await Promise.all(Array.from({ length: clients }, sendAll));
}
