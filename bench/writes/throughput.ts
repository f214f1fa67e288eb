import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type CandidateName, candidates, start } from '../http/candidates.ts';
import { load } from '../http/load.ts';
import type { Run } from '../nodes/rows/run.ts';
import { measureInTurn } from '../support/rounds.ts';
import { ratios, spread } from '../support/statistics.ts';
import type { TableWithTargets } from '../support/table.ts';
import { Worker } from '../support/worker.ts';
import type { Command } from './loop.ts';
import { record } from './record.ts';
import { bodyFor, createFolder, startPostroom, type Target } from './target.ts';

const many = 32;
const memoryFolder = '/dev/shm';

interface Sample {
  perSecond: number;
  p99Ms: number;
  cpuMicros: number;
}

async function startPeer(name: CandidateName, folder: string): Promise<Target> {
  const recording = await record(join(folder, `${name}.db`));
  const environment = { RECORDING: JSON.stringify(recording) };
  return { server: await start(name, { environment }), file: recording.file, body: bodyFor('1') };
}

/** @throws Error if a request that was answered has not stored a post: errors of a stock server have the status 200, too. */
async function measure({ server, file, token, body }: Target, connections: number, seconds: number): Promise<Sample> {
  const postsBefore = countPosts(file);
  const before = await server.usage();
  const options = { port: server.port, body, connections, seconds };
  const authorization = token === undefined ? undefined : `Bearer ${token}`;
  const { requests, requestsPerSecond, p99Ms } = await load({ ...options, authorization });
  const after = await server.usage();
  const stored = countPosts(file) - postsBefore;
  if (stored < requests) throw new Error(`${requests} requests stored ${stored} posts in ${file}.`);
  return { perSecond: requestsPerSecond, p99Ms, cpuMicros: (after.cpuMicros - before.cpuMicros) / requests };
}

function countPosts(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(database.prepare('select count(*) as posts from posts').get()?.['posts']);
  } finally {
    database.close();
  }
}

/** Posts per second on a disk, and CPU per post on a file system in memory. */
export async function throughput({ rounds, seconds }: Run): Promise<TableWithTargets> {
  const folder = createFolder();
  const names: readonly CandidateName[] = ['mercurius-jit', 'apollo', 'yoga'];
  const recording = await record(join(folder, 'loop.db'));
  const loop = new Worker<Command, { perSecond: number }>(new URL('./loop.ts', import.meta.url));
  const disk = await startPostroom(folder);
  const memory = await startPostroom(createFolder(memoryFolder));
  const peers: Target[] = [];
  // One after the other, because a recording takes all statements of this process.
  for (const name of names) peers.push(await startPeer(name, folder));
  const kinds: Record<string, () => Promise<Partial<Sample>>> = {
    'node:sqlite in a loop, one flush per post': () => loop.send({ recording, seconds }),
    [`Postroom, ${many} connections`]: () => measure(disk, many, seconds),
    'Postroom, 1 connection': () => measure(disk, 1, seconds),
    [`Postroom, ${many} connections, ${memoryFolder}`]: () => measure(memory, many, seconds),
    ...Object.fromEntries(
      peers.map((peer, index) => [
        `${candidates[names[index] ?? 'yoga'].title}, ${many} connections`,
        () => measure(peer, many, seconds),
      ]),
    ),
  };
  try {
    const samples = await measureInTurn(Object.values(kinds), { rounds, warmUpRounds: 2 }, (measure) => measure());
    const all = (index: number, figure: keyof Sample) =>
      (samples[index] ?? []).map((sample) => sample[figure] ?? Number.NaN);
    const [plain, crowd, lone] = [0, 1, 2].map((index) => all(index, 'perSecond')) as [number[], number[], number[]];
    return {
      title: 'createPost',
      about: `The loop and the other servers run the ${recording.statements.length} statements of Postroom's createPost.`,
      rows: Object.keys(kinds).map((kind, index) => ({
        '': kind,
        'posts/s': spread(all(index, 'perSecond'), 0),
        '÷ loop': spread(ratios(all(index, 'perSecond'), plain)),
        'p99, ms': spread(all(index, 'p99Ms'), 1),
        'CPU per post, µs': spread(all(index, 'cpuMicros'), 0),
      })),
      targets: [
        { name: `${many} connections ÷ loop`, ratios: ratios(crowd, plain), atLeast: 1.2 },
        { name: '1 connection ÷ loop', ratios: ratios(lone, plain), atLeast: 0.5 },
        { name: `CPU per post on ${memoryFolder}, µs`, ratios: all(3, 'cpuMicros'), atMost: 180 },
        ...names.map((name, index) => ({
          name: `÷ ${candidates[name].title}`,
          ratios: ratios(crowd, all(4 + index, 'perSecond')),
          atLeast: 3,
        })),
      ],
    };
  } finally {
    loop.stop();
    for (const { server } of [disk, memory, ...peers]) await server.stop();
  }
}
