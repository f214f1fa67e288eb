import { Agent, request } from 'node:http';
import type { Prepared } from './prepare.ts';

const clients = 200;
/** Below the rate of an address. */
const requestsEach = 90;

/**
 * Ordinary work at full speed, from addresses that do nothing else. A process that was not under load yet grows under any by
 * what V8 sets aside for young objects, which is no growth of the flood's. Another pass comes from other addresses: none goes
 * beyond its rate.
 */
export async function warmUp(port: number, { room }: Prepared, { pass }: { pass: number }): Promise<void> {
  const body = JSON.stringify({ query: `{ posts(limit: 20, filter: { room: "${room}" }) { data { id title } } }` });
  const work = async (_: unknown, index: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress: `127.201.${pass}.${index + 1}` });
    for (let sent = 0; sent < requestsEach; sent += 1) await send(port, agent, body);
    agent.destroy();
  };
  await Promise.all(Array.from({ length: clients }, work));
}

function send(port: number, agent: Agent, body: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const headers = { 'content-type': 'application/json' };
  const sent = request({ host: '127.0.0.1', port, path: '/graphql', method: 'POST', agent, headers });
  sent.once('error', reject);
  sent.once('response', (response) => {
    if (response.statusCode !== 200) reject(new Error(`a client of the warm-up got ${response.statusCode}`));
    response.once('error', reject);
    response.resume().once('end', resolve);
  });
  sent.end(body);
  return promise;
}
