import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { load } from '../http/load.ts';
import type { Run } from '../nodes/rows/run.ts';
import { ask } from '../support/client.ts';
import { measureInTurn } from '../support/rounds.ts';
import { percentile, ratios, spread } from '../support/statistics.ts';
import type { TableWithTargets } from '../support/table.ts';
import { createFolder, type OwnTarget, startPostroom } from './target.ts';

const writers = 32;
const delayMicros = 5_000;
const pauseMs = 2;

interface Sample {
  queryP99Ms: number;
  deliveryP99Ms: number;
  requestsPerSecond: number;
  flushesPerPost: number;
}

interface Traced extends OwnTarget {
  trace: string;
}

/** Starts the program with strace, which traces and delays only flushes of the disk. */
async function startTraced(faults: readonly string[]): Promise<Traced> {
  const folder = createFolder();
  const trace = join(folder, 'trace');
  const calls = ['-e', 'trace=fdatasync,fsync', ...faults];
  return { ...(await startPostroom(folder, ['strace', '-D', '-f', '--seccomp-bpf', '-o', trace, ...calls])), trace };
}

function countFlushes({ trace }: Traced): number {
  return readFileSync(trace, 'utf8').match(/\d+ +f(data)?sync\(/g)?.length ?? 0;
}

/** Latencies of small queries, and from the request of a mutation to the event at a subscriber. */
async function measure(target: Traced, connections: number, seconds: number, body = target.body): Promise<Sample> {
  const { server, token } = target;
  const before = countFlushes(target);
  const end = new AbortController();
  const queries = repeat(end.signal, () => measureQuery(target));
  const deliveries = measureDeliveries(target, end.signal);
  const authorization = `Bearer ${token}`;
  const writing =
    connections === 0 ? sleep(seconds * 1_000) : load({ port: server.port, body, connections, seconds, authorization });
  const { requests = 0, requestsPerSecond = 0 } = (await writing) ?? {};
  const flushes = countFlushes(target) - before;
  end.abort();
  return {
    queryP99Ms: percentile(await queries, 0.99),
    deliveryP99Ms: percentile(await deliveries, 0.99),
    requestsPerSecond,
    flushesPerPost: flushes / requests,
  };
}

async function repeat(signal: AbortSignal, work: () => Promise<number>): Promise<number[]> {
  const results = [];
  for (; !signal.aborted; await sleep(pauseMs)) results.push(await work());
  return results;
}

function queryOf(room: string): string {
  return `{ room(id: "${room}") { name } }`;
}

async function measureQuery({ server, room }: Traced): Promise<number> {
  const startedAt = performance.now();
  await ask(server.port, { query: queryOf(room) });
  return performance.now() - startedAt;
}

/** Each post has its own title, by which its event is found. */
async function measureDeliveries({ server, token, room }: Traced, signal: AbortSignal): Promise<number[]> {
  const arrivals = new Map<string, number>();
  const leave = new AbortController();
  const response = await fetch(`http://127.0.0.1:${server.port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: `subscription { postAdded(room: "${room}") { title } }` }),
    signal: leave.signal,
  });
  const reading = (async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      for (const [title] of chunk.matchAll(/measured \d+/g)) arrivals.set(title, performance.now());
    }
  })().catch(() => {});
  let count = 0;
  const requests = new Map<string, number>();
  const query = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';
  while (!signal.aborted) {
    const title = `measured ${count++}`;
    requests.set(title, performance.now());
    await ask(server.port, { query, variables: { input: { room, title } }, token });
    await sleep(pauseMs);
  }
  while (arrivals.size < requests.size) await sleep(pauseMs);
  leave.abort();
  await reading;
  return [...requests].map(([title, at]) => (arrivals.get(title) ?? Number.NaN) - at);
}

/** Other requests beside writers, with a disk whose flushes take 5 ms longer. */
export async function slowDisk({ rounds, seconds }: Run): Promise<TableWithTargets> {
  const fast = await startTraced([]);
  const slow = await startTraced(['-e', `inject=fdatasync,fsync:delay_exit=${delayMicros}`]);
  const kinds: Record<string, () => Promise<Sample>> = {
    'no writers': () => measure(fast, 0, seconds),
    [`${writers} writers`]: () => measure(fast, writers, seconds),
    'no writers, slow disk': () => measure(slow, 0, seconds),
    [`${writers} writers, slow disk`]: () => measure(slow, writers, seconds),
    // The same number of connections that only send the small query.
    [`${writers} readers, slow disk`]: () =>
      measure(slow, writers, seconds, JSON.stringify({ query: queryOf(slow.room) })),
  };
  try {
    const samples = await measureInTurn(Object.values(kinds), { rounds, warmUpRounds: 1 }, (measure) => measure());
    const all = (index: number, figure: keyof Sample) => (samples[index] ?? []).map((sample) => sample[figure]);
    return {
      title: 'A slow disk',
      about: `Each flush takes ${delayMicros / 1_000} ms longer. All servers run with strace, which takes time itself.`,
      rows: Object.keys(kinds).map((kind, index) => ({
        '': kind,
        'query p99, ms': spread(all(index, 'queryP99Ms'), 1),
        'delivery p99, ms': spread(all(index, 'deliveryP99Ms'), 1),
        'requests/s': spread(all(index, 'requestsPerSecond'), 0),
        'flushes per post': kind.startsWith(`${writers} writers`) ? spread(all(index, 'flushesPerPost')) : '',
      })),
      targets: [
        ...(['queryP99Ms', 'deliveryP99Ms'] as const).flatMap((figure) => [
          {
            name: `${figure}: slow ÷ fast, ${writers} writers`,
            ratios: ratios(all(3, figure), all(1, figure)),
            atMost: 2,
          },
          {
            name: `${figure}: ${writers} writers ÷ none, slow`,
            ratios: ratios(all(3, figure), all(2, figure)),
            atMost: 2,
          },
          {
            name: `${figure}: ${writers} writers ÷ ${writers} readers, slow`,
            ratios: ratios(all(3, figure), all(4, figure)),
            atMost: 1.2,
          },
        ]),
        { name: 'flushes per post', ratios: all(1, 'flushesPerPost'), atMost: 0.2 },
        { name: 'flushes per post, slow', ratios: all(3, 'flushesPerPost'), atMost: 0.2 },
      ],
    };
  } finally {
    for (const { server } of [fast, slow]) await server.stop();
  }
}
