import { isDeepStrictEqual } from 'node:util';
import { ask } from '../support/client.ts';
import { measureInTurn } from '../support/rounds.ts';
import type { Server } from '../support/server.ts';
import { median, ratios, spread } from '../support/statistics.ts';
import type { Table } from '../support/table.ts';
import { type CandidateName, candidates, start, startOnDatabase } from './candidates.ts';
import { load } from './load.ts';

export interface Run {
  rounds: number;
  seconds: number;
  nodeOptions: string[];
}

interface Row {
  title: string;
  query: string;
  names: readonly CandidateName[];
  environment?: Record<string, string>;
  /** Whether the servers read the database of the real program. Otherwise their data is in memory. */
  isOnDatabase?: boolean;
  /** Processes per server. V8 compiles the same code differently in each process. */
  processes?: number;
}

const connections = 32;
/** V8 compiles the code of a server again when new connections replace the first ones, which takes a few rounds. */
const warmUpRounds = 4;
const allServers: readonly CandidateName[] = ['raw', 'postroom', 'mercurius-jit', 'mercurius', 'apollo', 'yoga'];
const limitProcesses = 4;
const usersQuery = '{ users(limit: 10) { id name posts { id title } } }';
export const smallQuery = '{ user(id: "u3") { id name } }';

export const rows: Record<string, Row> = {
  small: { title: 'A small query, data in memory', query: smallQuery, names: allServers },
  users: { title: '10 users with 10 posts each, data in memory', query: usersQuery, names: allServers },
  'users-async': {
    title: '10 users with 10 posts each, data in memory, async resolvers',
    query: usersQuery,
    names: allServers,
    environment: { RESOLVERS: 'async' },
  },
  mutation: {
    title: 'A mutation, data in memory',
    query: 'mutation { renameUser(id: "u3", name: "Ada") { id name } }',
    names: allServers,
  },
  page: {
    title: 'A page of 100 posts with their authors, from SQLite',
    query: '{ posts(limit: 100) { data { id title publishedAt author { id name } } } }',
    names: allServers,
    isOnDatabase: true,
  },
  guards: {
    title: 'Cost of the limits: 10 users with 10 posts each, data in memory',
    query: usersQuery,
    names: ['without-limits', 'postroom'],
    processes: limitProcesses,
  },
  'guards-small': {
    title: 'Cost of the limits: a small query, data in memory',
    query: smallQuery,
    names: ['without-limits', 'postroom'],
    processes: limitProcesses,
  },
};

interface Sample {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU time of the server per request. */
  cpuMicros: number;
}

interface RunningServer {
  name: CandidateName;
  server: Server;
}

export async function measureRow(row: Row, { rounds, seconds, nodeOptions }: Run): Promise<Table> {
  const running = await startAll(row, nodeOptions);
  try {
    const body = JSON.stringify({ query: row.query });
    const samples = await measureInTurn(running, { rounds, warmUpRounds }, ({ server }) =>
      measure(server, body, seconds),
    );
    const samplesOf = (name: CandidateName) =>
      running.flatMap((each, index) => (each.name === name ? (samples[index] ?? []) : []));
    return { title: row.title, about: `\`${row.query}\``, rows: describe(row.names, samplesOf) };
  } finally {
    await Promise.all(running.map(({ server }) => server.stop()));
  }
}

/** Starts all servers of a row. @throws Error when their answers differ. */
async function startAll(row: Row, nodeOptions: string[]): Promise<RunningServer[]> {
  const running: RunningServer[] = [];
  const environment: Record<string, string> = { ...row.environment };
  if (row.isOnDatabase) {
    const { server, file } = await startOnDatabase(nodeOptions);
    running.push({ name: 'postroom', server });
    environment['DATABASE_FILE'] = file;
  }
  for (let process = 0; process < (row.processes ?? 1); process += 1) {
    for (const name of row.names) {
      if (name === 'raw' || (row.isOnDatabase && name === 'postroom')) continue;
      const options = { environment, nodeOptions: name === 'postroom' ? nodeOptions : [] };
      running.push({ name, server: await start(name, options) });
    }
  }
  const answers = await Promise.all(running.map(({ server }) => ask(server.port, row)));
  if (answers.some((answer) => !isDeepStrictEqual(answer, answers[0]))) throw new Error('The answers differ.');
  if (row.names.includes('raw')) {
    const ANSWER = JSON.stringify({ data: answers[0] });
    running.push({ name: 'raw', server: await start('raw', { environment: { ANSWER } }) });
  }
  return running;
}

async function measure(server: Server, body: string, seconds: number): Promise<Sample> {
  const before = await server.usage();
  const { requests, ...sample } = await load({ port: server.port, body, connections, seconds });
  const after = await server.usage();
  return { ...sample, cpuMicros: (after.cpuMicros - before.cpuMicros) / requests };
}

function describe(
  names: readonly CandidateName[],
  samplesOf: (name: CandidateName) => readonly Sample[],
): Record<string, string>[] {
  const all = (name: CandidateName, figure: keyof Sample) => samplesOf(name).map((sample) => sample[figure]);
  const own = all('postroom', 'requestsPerSecond');
  return names.map((name) => {
    const rates = all(name, 'requestsPerSecond');
    return {
      server: candidates[name].title,
      'requests/s': spread(rates, 0),
      'Postroom ÷ server': spread(ratios(own, rates)),
      'p50, ms': median(all(name, 'p50Ms')).toFixed(2),
      'p99, ms': spread(all(name, 'p99Ms')),
      'CPU per request, µs': spread(all(name, 'cpuMicros'), 1),
    };
  });
}
