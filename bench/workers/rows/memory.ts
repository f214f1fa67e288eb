import { setTimeout as wait } from 'node:timers/promises';
import { ask } from '../../support/client.ts';
import { Postroom } from '../../support/postroom.ts';
import { pssBytesOf } from '../../support/processes.ts';
import { spread } from '../../support/statistics.ts';
import type { TableWithTargets } from '../../support/table.ts';
import type { Run } from '../run.ts';

const settleMs = 3_000;

/** The memory of servers that have answered one query, with one worker more each. */
export async function memory({ counts, rounds }: Run): Promise<TableWithTargets> {
  const most = counts.at(-1) ?? 2;
  const numbers = [1, most, most + 1];
  const samples: number[][] = numbers.map(() => []);
  const parents: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, workers] of numbers.entries()) {
      const postroom = await Postroom.start({ workers });
      try {
        await ask(postroom.port, { query: '{ __typename }' });
        await wait(settleMs);
        const pids = new Set([postroom.pid, ...postroom.workers]);
        samples[index]?.push([...pids].reduce((sum, pid) => sum + pssBytesOf(pid), 0) / 1e6);
        if (workers > 1) parents.push(pssBytesOf(postroom.pid) / 1e6);
      } finally {
        await postroom.stop();
      }
    }
  }
  const added = (samples[2] ?? []).map((bytes, round) => bytes - (samples[1]?.[round] ?? Number.NaN));
  return {
    title: 'Memory',
    about: `PSS (resident, shared pages in parts) of all processes ${settleMs / 1_000} s after the start. The parent has ${spread(parents, 1)} MB.`,
    rows: numbers.map((workers, index) => ({ WORKERS: String(workers), 'PSS, MB': spread(samples[index] ?? [], 1) })),
    targets: [{ name: 'one idle worker more, MB', ratios: added, atMost: 60 }],
  };
}
