import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { type BusName, openBus } from './nodes/buses.ts';
import { createDatabase, measureCommits, prepareRooms } from './nodes/commits.ts';
import { printHeading } from './support/heading.ts';
import { ratios, spread } from './support/statistics.ts';
import { formatTable, formatTargets } from './support/table.ts';

/* npm run bench -- bus [ROUNDS] [SECONDS]. Needs PostgreSQL (POSTGRES_URL) and Redis (REDIS_URL). */

const [rounds = 3, seconds = 3] = process.argv.slice(2).map(Number);
const serverUrl = process.env['POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const redisUrl = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379';
const ratePerSecond = 1_000;

interface Sample {
  commits: number;
  count: number;
  p50: number;
  p99: number;
}

async function measure(databaseUrl: string, name: BusName): Promise<Sample> {
  const receiver = new Worker(new URL('nodes/receiver.ts', import.meta.url), {
    workerData: { name, databaseUrl, redisUrl },
  });
  await once(receiver, 'message');
  const bus = await openBus(name, databaseUrl, redisUrl);
  const publish = bus.publish.bind(bus);
  const paced = await measureCommits(databaseUrl, { seconds, publish, rate: ratePerSecond });
  await wait(200);
  receiver.postMessage('report');
  const [report] = await once(receiver, 'message');
  if (report.count < paced * seconds * 0.99)
    console.log(`${name}: ${report.count} of ${paced * seconds} events received`);
  const commits = await measureCommits(databaseUrl, { seconds, publish });
  receiver.postMessage('close');
  await Promise.all([bus.close(), once(receiver, 'exit')]);
  return { commits, ...report };
}

printHeading('bus');
const database = await createDatabase(serverUrl, `postroom_bench_${randomUUID().replaceAll('-', '')}`);
try {
  await prepareRooms(database.url);
  await measureCommits(database.url, { seconds: 1, publish: () => {} });
  const alone: number[] = [];
  const samples: Record<BusName, Sample[]> = { NOTIFY: [], Redis: [] };
  for (let round = 0; round < rounds; round += 1) {
    alone.push(await measureCommits(database.url, { seconds, publish: () => {} }));
    for (const name of ['NOTIFY', 'Redis'] as const) samples[name].push(await measure(database.url, name));
  }
  const pick = (name: BusName, key: keyof Sample) => samples[name].map((sample) => sample[key]);
  const rows = (['NOTIFY', 'Redis'] as const).map((name) => ({
    bus: name,
    'p50, ms': spread(pick(name, 'p50')),
    'p99, ms': spread(pick(name, 'p99')),
    'commits/s': spread(pick(name, 'commits'), 0),
    'commits/s without a bus': spread(alone, 0),
  }));
  const about = `8 writers, 100 rooms. From the acknowledged commit to the listener of another thread at ${ratePerSecond} commits/s; then as many commits as possible.`;
  console.log(formatTable({ title: 'bus', about, rows }));
  console.log(
    formatTargets([
      { name: 'NOTIFY: p50, ms', ratios: pick('NOTIFY', 'p50'), atMost: 1 },
      { name: 'NOTIFY: p99, ms', ratios: pick('NOTIFY', 'p99'), atMost: 15 },
      { name: 'Redis: p50, ms', ratios: pick('Redis', 'p50'), atMost: 1 },
      { name: 'Redis: p99, ms', ratios: pick('Redis', 'p99'), atMost: 15 },
      { name: 'p50: NOTIFY ÷ Redis', ratios: ratios(pick('NOTIFY', 'p50'), pick('Redis', 'p50')), atMost: 1.5 },
      { name: 'commit rate: NOTIFY ÷ none', ratios: ratios(pick('NOTIFY', 'commits'), alone), atLeast: 0.75 },
      { name: 'commit rate: Redis ÷ none', ratios: ratios(pick('Redis', 'commits'), alone), atLeast: 0.75 },
    ]),
  );
} finally {
  await database.drop();
}
