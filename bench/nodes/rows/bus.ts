import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ratios, spread } from '../../support/statistics.ts';
import type { TableWithTargets } from '../../support/table.ts';
import { type BusName, busNames, openBus } from '../buses.ts';
import { measureCommits, prepareRooms } from '../commits.ts';
import { redisUrl, withDatabase } from '../database.ts';
import type { Run } from './run.ts';

const ratePerSecond = 1_000;

interface Sample {
  commits: number;
  count: number;
  p50: number;
  p99: number;
}

/** From the acknowledged commit to the listener of another thread; then as many commits as possible. */
export function bus({ rounds, seconds }: Run): Promise<TableWithTargets> {
  return withDatabase(async (url) => {
    await prepareRooms(url);
    await measureCommits(url, { seconds: 1, publish: () => {} });
    const alone: number[] = [];
    const samples: Record<BusName, Sample[]> = { NOTIFY: [], Redis: [] };
    for (let round = 0; round < rounds; round += 1) {
      alone.push(await measureCommits(url, { seconds, publish: () => {} }));
      for (const name of busNames) samples[name].push(await measure(url, name, seconds));
    }
    const pick = (name: BusName, key: keyof Sample) => samples[name].map((sample) => sample[key]);
    return {
      title: 'The bus',
      about: `8 writers, 100 rooms. From the acknowledged commit to the listener of another thread at ${ratePerSecond} commits/s; then as many commits as possible.`,
      rows: busNames.map((name) => ({
        bus: name,
        'p50, ms': spread(pick(name, 'p50')),
        'p99, ms': spread(pick(name, 'p99')),
        'commits/s': spread(pick(name, 'commits'), 0),
        'commits/s without a bus': spread(alone, 0),
      })),
      targets: [
        ...busNames.flatMap((name) => [
          { name: `${name}: p50, ms`, ratios: pick(name, 'p50'), atMost: 1 },
          { name: `${name}: p99, ms`, ratios: pick(name, 'p99'), atMost: 15 },
          { name: `commit rate: ${name} ÷ none`, ratios: ratios(pick(name, 'commits'), alone), atLeast: 0.75 },
        ]),
        { name: 'p50: NOTIFY ÷ Redis', ratios: ratios(pick('NOTIFY', 'p50'), pick('Redis', 'p50')), atMost: 1.5 },
      ],
    };
  });
}

async function measure(databaseUrl: string, name: BusName, seconds: number): Promise<Sample> {
  const receiver = new Worker(new URL('../receiver.ts', import.meta.url), {
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
