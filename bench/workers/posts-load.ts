import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { post } from '../support/client.ts';
import { percentile } from '../support/statistics.ts';
import { answerCommands } from '../support/worker.ts';

/* A worker that creates posts over connections of its own, each with the next post after the answer. */

export interface Command {
  port: number;
  body: string;
  token: string;
  connections: number;
  seconds: number;
}

export interface PostsLoad {
  posts: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
  /** The number of posts by the local port of the connection. The connections stay open. */
  byPort: [port: number, posts: number][];
  loadMicros: number;
}

const agents = new Map<number, Agent[]>();

answerCommands<Command, PostsLoad>(async ({ port, body, token, connections, seconds }) => {
  const own =
    agents.get(port) ?? Array.from({ length: connections }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  agents.set(port, own);
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const latencies: number[] = [];
  const before = process.cpuUsage();
  const startedAt = performance.now();
  const repeat = async (agent: Agent): Promise<[number, number]> => {
    let posts = 0;
    for (let now = performance.now(); now < startedAt + seconds * 1_000; posts += 1) {
      await post({ port, path: '/graphql', headers, body, agent });
      const sentAt = now;
      now = performance.now();
      latencies.push(now - sentAt);
    }
    return [portOf(agent), posts];
  };
  const byPort = await Promise.all(own.map(repeat));
  const { user, system } = process.cpuUsage(before);
  return {
    posts: latencies.length,
    seconds: (performance.now() - startedAt) / 1_000,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    byPort,
    loadMicros: user + system,
  };
});

function portOf({ freeSockets }: Agent): number {
  const [socket] = Object.values(freeSockets).flat() as Socket[];
  return socket?.localPort ?? Number.NaN;
}
