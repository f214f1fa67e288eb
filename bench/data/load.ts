import { Agent, request } from 'node:http';
import { percentile } from '../fan-out/statistics.ts';

/** What the load process is to send, over and over. */
export interface Order {
  url: string;
  /** The body of a POST; absent: a GET. */
  body?: string;
  connections: number;
  seconds: number;
}

export interface Load {
  requests: number;
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** The length of an answer. */
  bytes: number;
}

const headers = { 'content-type': 'application/json', accept: 'application/graphql-response+json' };

process.on('message', (order: Order) => {
  void run(order).then((load) => process.send?.(load));
});

async function run(order: Order): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: order.connections });
  const latencies: number[] = [];
  let bytes = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + order.seconds * 1_000;
  const work = async () => {
    for (let now = performance.now(); now < endsAt; ) {
      bytes = await send(order, agent);
      const before = now;
      now = performance.now();
      latencies.push(now - before);
    }
  };
  await Promise.all(Array.from({ length: order.connections }, work));
  const seconds = (performance.now() - startedAt) / 1_000;
  agent.destroy();
  return {
    requests: latencies.length,
    requestsPerSecond: latencies.length / seconds,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    bytes,
  };
}

/** The length of the answer; fails unless its status is 200. */
function send({ url, body }: Order, agent: Agent): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = request(url, { agent, headers, method: body === undefined ? 'GET' : 'POST' });
  sent.once('error', reject);
  sent.once('response', (response) => {
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    response.once('end', () => {
      if (response.statusCode === 200) resolve(bytes);
      else reject(new Error(`${url} answers ${response.statusCode}`));
    });
  });
  sent.end(body);
  return promise;
}
