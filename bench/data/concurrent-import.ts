import { setTimeout as sleep } from 'node:timers/promises';
import { createPost, createRoom, signUp } from '../support/accounts.ts';
import { ask } from '../support/client.ts';
import { program } from '../support/program.ts';
import { Server } from '../support/server.ts';
import { percentile } from '../support/statistics.ts';
import type { Table } from '../support/table.ts';
import { createTemporaryFolder, databaseSettings, importHistory } from './history.ts';

const pauseMs = 10;
const idleMs = 3_000;

type Operation = () => Promise<unknown>;

/** Latencies of a server without an import, and while another process imports into its database. */
export async function measureConcurrentImport(): Promise<Table> {
  const folder = createTemporaryFolder();
  const environment = { ...databaseSettings(folder), RATE_LIMIT: '0' };
  const server = await Server.start({ command: program, environment });
  try {
    const operations = await chooseOperations(server.port);
    const without = await measureDuring(operations, sleep(idleMs));
    const during = await measureDuring(operations, importHistory(folder));
    const rows = Object.keys(operations).map((operation) => ({
      operation,
      ...describe('without import', without[operation] ?? []),
      ...describe('during import', during[operation] ?? []),
    }));
    const about = 'Milliseconds until the answer of a server on the same database.';
    return { title: 'Import while a server runs', about, rows };
  } finally {
    await server.stop();
  }
}

async function chooseOperations(port: number): Promise<Record<string, Operation>> {
  const token = await signUp(port);
  const room = await createRoom(port, token);
  return {
    'create a post': () => createPost(port, token, { room, title: 'x' }),
    'read rooms': () => ask(port, { query: '{ rooms { data { id name } } }', token }),
  };
}

/** Repeats each operation until `work` ends. Returns the duration of every call in milliseconds. */
async function measureDuring(
  operations: Record<string, Operation>,
  work: Promise<unknown>,
): Promise<Record<string, number[]>> {
  let hasEnded = false;
  const repeat = async (operation: Operation) => {
    const times: number[] = [];
    while (!hasEnded) {
      const startedAt = performance.now();
      await operation();
      times.push(performance.now() - startedAt);
      await sleep(pauseMs);
    }
    return times;
  };
  const names = Object.keys(operations);
  const running = Promise.all(Object.values(operations).map(repeat));
  await work;
  hasEnded = true;
  const times = await running;
  return Object.fromEntries(names.map((name, index) => [name, times[index] ?? []]));
}

function describe(label: string, times: readonly number[]): Record<string, string> {
  return {
    [`${label}, p50`]: percentile(times, 0.5).toFixed(1),
    [`${label}, p99`]: percentile(times, 0.99).toFixed(1),
    [`${label}, longest`]: Math.max(...times).toFixed(1),
  };
}
