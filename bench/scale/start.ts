import { ask } from '../support/client.ts';
import { spread } from '../support/statistics.ts';
import type { TableWithTargets } from '../support/table.ts';
import { type Generated, type Run, startServer } from './databases.ts';

const query = '{ rooms(limit: 20) { data { id name } } }';
const goalMs = 1_000;

/** Milliseconds from the start of the process to its first answer. */
export async function measureStart({ small, large, rounds }: Run): Promise<TableWithTargets> {
  const times = { small: [] as number[], large: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    times.small.push(await timeStart(small));
    times.large.push(await timeStart(large));
  }
  const rows = Object.entries(times).map(([database, ms]) => ({ database, 'ms to the first answer': spread(ms, 0) }));
  const targets = [{ name: 'cold start ÷ 1 s', ratios: times.large.map((ms) => ms / goalMs), atMost: 1 }];
  return { title: 'Cold start', about: `${rounds} starts in turn.`, rows, targets };
}

async function timeStart({ url }: Generated): Promise<number> {
  const startedAt = performance.now();
  const server = await startServer(url, { reportsUsage: false });
  await ask(server.port, { query });
  const ms = performance.now() - startedAt;
  await server.stop();
  return ms;
}
