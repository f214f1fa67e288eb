import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { openDatabase } from '../../src/data/database/open-database.ts';
import { createPost } from '../support/accounts.ts';
import { ask } from '../support/client.ts';
import { percentile } from '../support/statistics.ts';
import type { TableWithTargets } from '../support/table.ts';
import { type Run, startServer } from './databases.ts';
import { largeAccount, largeRoom, someRoom, someUser } from './generate.ts';
import { type Operations, signUpAdmin } from './operations.ts';

const pauseMs = 4;
const warmUpMs = 3_000;
const quietMs = 10_000;
const checkMs = 500;
/** A deletion that takes longer is measured only for this time. */
const longestMs = 40_000;
/** The server trims once a minute. */
const trimmingStartsMs = 60_000;

type Times = Record<string, number[]>;

/** The latencies of other clients while the server deletes many rows in the background. */
export async function measureDeletions({ large: { url } }: Run): Promise<TableWithTargets> {
  const server = await startServer(url);
  const startedAt = performance.now();
  const database = await openDatabase(url);
  const rows: Record<string, string>[] = [];
  const targets: TableWithTargets['targets'] = [];
  try {
    const token = await signUpAdmin(server.port, url);
    const operations: Operations = {
      'a small query': () => ask(server.port, { query: `{ user(id: "${someUser}") { id name } }` }),
      createPost: () => createPost(server.port, token, { room: someRoom, title: 'hello' }),
    };
    await measureUntil(operations, wait(warmUpMs));
    // Measured once, because a deletion may take longer than its measurement.
    const quietTimes = await measureUntil(operations, wait(quietMs));
    const measure = async (name: string, begin: () => Promise<unknown>, remains: string) => {
      const beganAt = performance.now();
      let seconds = 0;
      const isDone = async () => {
        await begin();
        while (performance.now() < beganAt + longestMs) {
          const left = await sql<{ n: number }>`select ${sql.raw(remains)} as n`.execute(database.db);
          if (left.rows[0]?.n === 0) break;
          await wait(checkMs);
        }
        seconds = (performance.now() - beganAt) / 1_000;
      };
      const during = await measureUntil(operations, isDone());
      for (const operation of Object.keys(operations)) {
        const quiet = quietTimes[operation] ?? [];
        const busy = during[operation] ?? [];
        const ratio = percentile(busy, 0.99) / percentile(quiet, 0.99);
        rows.push({
          beside: name,
          operation,
          ...describe('quiet', quiet),
          ...describe('during', busy),
          'p99 ÷ quiet': ratio.toFixed(2),
          seconds: seconds.toFixed(1),
        });
        targets.push({ name: `p99 of ${operation} beside ${name} ÷ quiet`, ratios: [ratio], atMost: 2 });
      }
    };
    const aged = `(select count(*) from (select 1 from "roomEvents" where "at" < ${Date.now() - 7 * 86_400_000} limit 1) as aged)`;
    const mutate = (name: string, input: string) => () =>
      ask(server.port, { query: `mutation { ${name}(input: ${input}) { __typename } }`, token });
    await measure(
      'erasing an account',
      mutate('deleteUser', `{ id: "${largeAccount}", deletePosts: true }`),
      '(select count(*) from users where "erasing" is not null)',
    );
    await measure(
      'deleting a room',
      mutate('deleteRoom', `{ id: "${largeRoom}" }`),
      `(select count(*) from rooms where "deletedAt" is not null)`,
    );
    await measure('trimming', () => wait(Math.max(0, startedAt + trimmingStartsMs - performance.now())), aged);
    const about = `Milliseconds, ${pauseMs} ms between the calls of each operation; at most ${longestMs / 1_000} s of each deletion.`;
    return { title: 'Deletions in the background', about, rows, targets };
  } finally {
    await database.close();
    await server.stop();
  }
}

async function measureUntil(operations: Operations, end: Promise<unknown>): Promise<Times> {
  let hasEnded = false;
  const times: Times = {};
  const repeat = async ([name, run]: [string, () => Promise<unknown>]) => {
    const all: number[] = [];
    times[name] = all;
    while (!hasEnded) {
      const startedAt = performance.now();
      await run();
      all.push(performance.now() - startedAt);
      await wait(pauseMs);
    }
  };
  const running = Promise.all(Object.entries(operations).map(repeat));
  await end;
  hasEnded = true;
  await running;
  return times;
}

function describe(label: string, times: readonly number[]): Record<string, string> {
  return {
    [`${label}, p50`]: percentile(times, 0.5).toFixed(2),
    [`${label}, p99`]: percentile(times, 0.99).toFixed(2),
    [`${label}, longest`]: Math.max(...times).toFixed(1),
  };
}
