import { median } from '../support/statistics.ts';
import type { Table } from '../support/table.ts';
import { type CandidateName, candidates, start } from './candidates.ts';
import { load } from './load.ts';
import { type Run, smallQuery } from './rows.ts';

const names: readonly CandidateName[] = ['raw', 'postroom', 'mercurius-jit'];
const body = JSON.stringify({ query: smallQuery });
const environment = { ANSWER: '{"data":{"user":{"id":"u3","name":"User 3"}}}' };
/** So large that almost nothing is collected while a round is measured. */
const withoutCollections = ['--min-semi-space-size=512', '--max-semi-space-size=512'];
const warmUpSeconds = 4;

/** What one small request allocates, and the asynchronous resources that it makes, of a server that is warm. */
export async function measureAllocations({ rounds }: Run): Promise<Table> {
  const rows = [];
  for (const name of names) {
    const bytes = await measureBytes(name, rounds);
    const counts = await countResources(name);
    const of = (type: string) => (counts[type] ?? 0).toFixed(1);
    rows.push({
      server: candidates[name].title,
      'bytes, kB': (bytes / 1_000).toFixed(1),
      promises: of('PROMISE'),
      'next ticks': of('TickObject'),
      immediates: of('Immediate'),
      timers: of('Timeout'),
    });
  }
  return { title: 'What a small request allocates', about: `\`${smallQuery}\` on one connection`, rows };
}

async function measureBytes(name: CandidateName, rounds: number): Promise<number> {
  const server = await start(name, { environment, nodeOptions: withoutCollections });
  try {
    await send(server.port, warmUpSeconds);
    const samples = [];
    for (let round = 0; round < rounds; round += 1) {
      const before = await server.usage();
      const requests = await send(server.port, 1);
      const after = await server.usage();
      const grown = after.heapUsedBytes - before.heapUsedBytes;
      // Otherwise a collection has run.
      if (grown > 0) samples.push(grown / requests);
    }
    return median(samples);
  } finally {
    await server.stop();
  }
}

/** By type of async_hooks, per request. */
async function countResources(name: CandidateName): Promise<Record<string, number>> {
  const server = await start(name, { environment: { ...environment, COUNT_RESOURCES: '1' } });
  try {
    await send(server.port, 1);
    const before = (await server.usage()).resources;
    const requests = await send(server.port, 1);
    const after = (await server.usage()).resources;
    return Object.fromEntries(
      Object.entries(after).map(([type, count]) => [type, (count - (before[type] ?? 0)) / requests]),
    );
  } finally {
    await server.stop();
  }
}

async function send(port: number, seconds: number): Promise<number> {
  return (await load({ port, body, connections: 1, seconds })).requests;
}
