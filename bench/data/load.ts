import { Agent } from 'node:http';
import { post } from '../support/client.ts';
import { percentile } from '../support/statistics.ts';
import { answerCommands } from '../support/worker.ts';

/* A worker that sends the same request repeatedly. */

export interface Command {
  port: number;
  body: string;
  connections: number;
  seconds: number;
}

export interface Load {
  requests: number;
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** The length of the last answer. */
  bytes: number;
}

const headers = { 'content-type': 'application/json', accept: 'application/graphql-response+json' };

answerCommands<Command, Load>(async ({ port, body, connections, seconds }) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const latencies: number[] = [];
  let answer = '';
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  const repeat = async () => {
    for (let now = performance.now(); now < endsAt; ) {
      answer = await post({ port, path: '/graphql', headers, body, agent });
      const before = now;
      now = performance.now();
      latencies.push(now - before);
    }
  };
  await Promise.all(Array.from({ length: connections }, repeat));
  const elapsedSeconds = (performance.now() - startedAt) / 1_000;
  agent.destroy();
  return {
    requests: latencies.length,
    requestsPerSecond: latencies.length / elapsedSeconds,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    bytes: Buffer.byteLength(answer),
  };
});
