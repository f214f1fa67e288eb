import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/* A worker thread with ordinary clients, each with its own address. They send small queries and measure the latency. */

export type NeighbourCommand = 'next' | 'stop';

/** Milliseconds until the complete answer. */
export interface Latencies {
  p50: number;
  p99: number;
  failures: number;
}

const clients = 60;
const intervalMs = 20;
const body = JSON.stringify({ query: '{ users(limit: 1) { data { id } } }' });
const { port } = workerData as { port: number };
const agents = Array.from({ length: clients }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
let latencies: number[] = [];
/** The start times of requests without an answer. They count with the time that has passed. */
let waiting = new Set<number>();
let failures = 0;
let isStopped = false;

function ask(index: number): void {
  const startedAt = performance.now();
  const asked = waiting;
  asked.add(startedAt);
  const measured = latencies;
  const end = (isAnswered: boolean) => {
    if (!asked.delete(startedAt)) return;
    if (isAnswered) measured.push(performance.now() - startedAt);
    else failures += 1;
  };
  const agent = agents[index % clients];
  const call = request(
    {
      host: '127.0.0.1',
      port,
      ...(agent && { agent }),
      localAddress: `127.77.0.${1 + (index % clients)}`,
      path: '/graphql',
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': body.length },
      timeout: 20_000,
    },
    (response) => {
      response.resume();
      response.once('end', () => end(response.statusCode === 200));
    },
  );
  call.on('error', () => end(false));
  call.end(body);
}

function summarize(): Latencies {
  const now = performance.now();
  const all = [...latencies, ...[...waiting].map((startedAt) => now - startedAt)].sort((one, other) => one - other);
  const summary = { p50: at(all, 0.5), p99: at(all, 0.99), failures };
  latencies = [];
  waiting = new Set();
  failures = 0;
  return summary;
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

parentPort?.on('message', (command: NeighbourCommand) => {
  parentPort?.postMessage(summarize());
  if (command === 'stop') isStopped = true;
});

for (let index = 0; !isStopped; index += 1) {
  ask(index);
  await sleep(intervalMs);
}
process.exit();
