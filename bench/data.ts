import { createTemporaryFolder, databaseSettings, importHistory } from './data/history.ts';
import type { Command, Load } from './data/load.ts';
import { chooseQueries, type NamedQuery } from './data/queries.ts';
import { ask } from './support/client.ts';
import { printHeading } from './support/heading.ts';
import { program } from './support/program.ts';
import { measureInTurn } from './support/rounds.ts';
import { Server, type ServerOptions } from './support/server.ts';
import { median, ratios, spread } from './support/statistics.ts';
import { formatTable } from './support/table.ts';
import { Worker } from './support/worker.ts';

/* npm run bench -- data [ROUNDS] */

const rounds = Number(process.argv[2] ?? 5);
const connections = 32;
const seconds = 1;
const firstQuery = '{ posts(limit: 20) { data { id title author { name } } } }';

printHeading('data');
const folder = createTemporaryFolder();
const options = { command: program, environment: { ...databaseSettings(folder), RATE_LIMIT: '0' } };
await importHistory(folder);
await measureStarts();
const server = await Server.start(options);
const loader = new Worker<Command, Load>(new URL('./data/load.ts', import.meta.url));
try {
  await measureQueries(await chooseQueries(server.port));
} finally {
  loader.stop();
  await server.stop();
}

async function measureStarts(): Promise<void> {
  const withoutCache = { ...options.environment, NODE_DISABLE_COMPILE_CACHE: '1' };
  const kinds: Record<string, ServerOptions> = {
    'npm start': options,
    'without the compile cache': { ...options, environment: withoutCache },
  };
  const rows = [];
  for (const [start, options] of Object.entries(kinds)) {
    const times = [];
    for (let round = 0; round < rounds; round += 1) times.push(await measureStart(options));
    rows.push({ start, 'ms to the first answer': spread(times, 0) });
  }
  const about = `${rounds} starts on the imported history. Goal: ≤ 1,000 ms.`;
  console.log(formatTable({ title: 'Cold start', about, rows }));
}

/** Milliseconds from the start of the process to the complete first answer. */
async function measureStart(options: ServerOptions): Promise<number> {
  const startedAt = performance.now();
  const server = await Server.start({ ...options, reportsUsage: false });
  await ask(server.port, { query: firstQuery });
  const ms = performance.now() - startedAt;
  await server.stop();
  return ms;
}

interface Sample extends Load {
  /** CPU time of the server per request. */
  cpuMicros: number;
}

async function measureQueries(queries: readonly NamedQuery[]): Promise<void> {
  const samples = await measureInTurn(queries, { rounds, warmUpRounds: 1 }, measureQuery);
  const costs = samples.map((all) => all.map(({ cpuMicros }) => cpuMicros));
  const [, first = []] = costs;
  const rows = queries.map(({ name }, index) => ({ query: name, ...describe(samples[index] ?? [], first) }));
  const about = `${connections} connections, ${rounds} rounds of ${seconds} s. Goal: room posts at the last cursor ≤ 1.3 × room posts at the first.`;
  console.log(formatTable({ title: 'Queries on the imported history', about, rows }));
}

async function measureQuery({ query }: NamedQuery): Promise<Sample> {
  const before = await server.usage();
  const load = await loader.send({ port: server.port, body: JSON.stringify({ query }), connections, seconds });
  const after = await server.usage();
  return { ...load, cpuMicros: (after.cpuMicros - before.cpuMicros) / load.requests };
}

function describe(samples: readonly Sample[], first: readonly number[]): Record<string, string> {
  const all = (figure: keyof Sample) => samples.map((sample) => sample[figure]);
  return {
    'requests/s': spread(all('requestsPerSecond'), 0),
    'p50, ms': median(all('p50Ms')).toFixed(1),
    'p99, ms': median(all('p99Ms')).toFixed(1),
    'server CPU, µs': spread(all('cpuMicros'), 0),
    '÷ room posts, first: 20': spread(ratios(all('cpuMicros'), first)),
    bytes: String(samples[0]?.bytes),
  };
}
