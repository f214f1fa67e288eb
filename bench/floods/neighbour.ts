import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../fan-out/statistics.ts';
import { obey } from './worker.ts';

/* Well-behaved clients: each at an address of its own, over a connection that is kept, one request a second. */

export interface Order {
  port: number;
  query: string;
  seconds: number;
}

export interface Service {
  p50Ms: number;
  p99Ms: number;
}

const clients = 200;
const agents = Array.from(
  { length: clients },
  (_, index) => new Agent({ keepAlive: true, maxSockets: 1, localAddress: `127.200.0.${index + 1}` }),
);

obey<Order, Service>(async (order) => {
  const startedAt = performance.now();
  const count = clients * order.seconds;
  const answers: Promise<number>[] = [];
  for (let index = 0; index < count; index += 1) {
    const wait = startedAt + (index * 1_000) / clients - performance.now();
    if (wait > 0) await sleep(wait);
    answers.push(ask(order, agents[index % clients]));
  }
  const latencies = await Promise.all(answers);
  return { p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) };
});

/** Milliseconds to the whole answer. */
function ask({ port, query }: Order, agent: Agent | undefined): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sentAt = performance.now();
  const headers = { 'content-type': 'application/json' };
  const sent = request({ host: '127.0.0.1', port, path: '/graphql', method: 'POST', agent, headers });
  sent.once('error', reject);
  sent.once('response', (response) => {
    if (response.statusCode !== 200) reject(new Error(`a well-behaved client got ${response.statusCode}`));
    response.once('error', reject);
    response.resume().once('end', () => resolve(performance.now() - sentAt));
  });
  sent.end(JSON.stringify({ query }));
  return promise;
}
