import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../fan-out/statistics.ts';
import type { Table } from '../fan-out/table.ts';
import { importHistory, scratchFolder } from './history.ts';
import { Server } from './server.ts';

const pauseMs = 10;
const aloneMs = 3_000;

type Operation = () => Promise<unknown>;

/** How long a server's clients wait, alone and while another process imports into its database. */
export async function measureBeside(): Promise<Table> {
  const folder = scratchFolder();
  const server = await Server.start(folder);
  try {
    const operations = await chooseOperations(server);
    const alone = await measureDuring(operations, sleep(aloneMs));
    const beside = await measureDuring(operations, importHistory(folder));
    const rows = Object.keys(operations).map((operation) => ({
      operation,
      ...describe('alone', alone[operation] ?? []),
      ...describe('while it imports', beside[operation] ?? []),
    }));
    return { title: 'Beside a server', about: 'Milliseconds to the answer of a server on the same database.', rows };
  } finally {
    await server.stop();
  }
}

async function chooseOperations(server: Server): Promise<Record<string, Operation>> {
  const { signUp } = await server.ask(
    'mutation { signUp(input: { name: "Ada", email: "ada@example.org", password: "correct horse" }) { accessToken } }',
  );
  const ask = (query: string) => server.ask(query, signUp.accessToken);
  const { createRoom } = await ask('mutation { createRoom(input: { name: "lobby" }) { room { id } } }');
  const input = `{ room: "${createRoom.room.id}", title: "x" }`;
  return {
    'a post is made': () => ask(`mutation { createPost(input: ${input}) { post { id } } }`),
    'rooms are read': () => ask('{ rooms { data { id name } } }'),
  };
}

/** Does each operation again and again until `work` ends, and tells how many milliseconds each took. */
async function measureDuring(
  operations: Record<string, Operation>,
  work: Promise<unknown>,
): Promise<Record<string, number[]>> {
  let isOver = false;
  const repeat = async (operate: Operation) => {
    const times: number[] = [];
    while (!isOver) {
      const startedAt = performance.now();
      await operate();
      times.push(performance.now() - startedAt);
      await sleep(pauseMs);
    }
    return times;
  };
  const names = Object.keys(operations);
  const running = Promise.all(Object.values(operations).map(repeat));
  await work;
  isOver = true;
  const times = await running;
  return Object.fromEntries(names.map((name, index) => [name, times[index] ?? []]));
}

function describe(when: string, times: readonly number[]): Record<string, string> {
  return {
    [`${when}, p50`]: percentile(times, 0.5).toFixed(1),
    [`${when}, p99`]: percentile(times, 0.99).toFixed(1),
    [`${when}, longest`]: Math.max(...times).toFixed(1),
  };
}
