import { printHead } from './data/head.ts';
import { importHistory, scratchFolder } from './data/history.ts';
import type { Load } from './data/load.ts';
import { Loader } from './data/loader.ts';
import { chooseQueries, type Query } from './data/queries.ts';
import { Server } from './data/server.ts';
import { median, ratios, spread } from './fan-out/statistics.ts';
import { formatTable } from './fan-out/table.ts';

/* npm run bench -- data [rounds] */

const rounds = Number(process.argv[2] ?? 5);
const connections = 32;
const seconds = 1;
const startQuery = '{ posts(limit: 20) { data { id title author { name } } } }';

printHead('data');
const folder = scratchFolder();
await importHistory(folder);
await measureStarts();
const server = await Server.start(folder);
const loader = new Loader();
try {
  await measureQueries(await chooseQueries(server));
} finally {
  loader.stop();
  await server.stop();
}

/** From the start of the process to the whole first answer. */
async function measureStarts(): Promise<void> {
  const kinds = { 'as people run it': {}, 'without the compile cache': { NODE_DISABLE_COMPILE_CACHE: '1' } };
  const rows = [];
  for (const [start, environment] of Object.entries(kinds)) {
    const times = [];
    for (let round = 0; round < rounds; round += 1) times.push(await measureStart(environment));
    rows.push({ start, 'ms to the first answer': spread(times, 0) });
  }
  const about = `${rounds} starts on the imported history. Wanted: ≤ 1,000 ms.`;
  console.log(formatTable({ title: 'Cold start', about, rows }));
}

async function measureStart(environment: Record<string, string>): Promise<number> {
  const startedAt = performance.now();
  const server = await Server.start(folder, environment);
  await server.ask(startQuery);
  const ms = performance.now() - startedAt;
  await server.stop();
  return ms;
}

interface Sample extends Load {
  /** Of the server. */
  cpuMicros: number;
}

async function measureQueries(queries: readonly Query[]): Promise<void> {
  const samples = queries.map((): Sample[] => []);
  for (let round = -1; round < rounds; round += 1) {
    for (const [index, query] of queries.entries()) {
      const sample = await measureQuery(query);
      // The round before the first warms up.
      if (round >= 0) samples[index]?.push(sample);
    }
  }
  const costs = samples.map((all) => all.map(({ cpuMicros }) => cpuMicros));
  const [, first = []] = costs;
  const rows = queries.map(({ name }, index) => ({ query: name, ...describe(samples[index] ?? [], first) }));
  const about = `${connections} connections, ${rounds} rounds of ${seconds} s, in turn. Wanted: room posts at the last cursor ≤ 1.3 × those at the first.`;
  console.log(formatTable({ title: 'Queries on the imported history', about, rows }));
}

async function measureQuery({ query }: Query): Promise<Sample> {
  const before = server.cpuSeconds();
  const load = await loader.run({ url: server.url, body: JSON.stringify({ query }), connections, seconds });
  return { ...load, cpuMicros: ((server.cpuSeconds() - before) * 1e6) / load.requests };
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
