import { isDeepStrictEqual } from 'node:util';
import type { Server } from '../fan-out/server.ts';
import { median, ratios, spread } from '../fan-out/statistics.ts';
import type { Table } from '../fan-out/table.ts';
import { ask, type ContestantName, contestants, start, startOnDatabase } from './contestants.ts';
import { load } from './load.ts';

export interface Run {
  rounds: number;
  seconds: number;
  nodeOptions: string[];
}

interface Row {
  title: string;
  query: string;
  names: readonly ContestantName[];
  environment?: Record<string, string>;
  /** From the real program's tables, not from memory. */
  isOnDatabase?: boolean;
  /** Processes of each: those of the same code differ by how V8 happened to compile them. */
  processes?: number;
}

const connections = 32;
/** V8 compiles a server anew when its first connections have closed and others come: that takes a few rounds to settle. */
const warmUpRounds = 4;
const everyone: readonly ContestantName[] = ['raw', 'postroom', 'mercurius-jit', 'mercurius', 'apollo', 'yoga'];
const guardProcesses = 4;
const usersQuery = '{ users(limit: 10) { id name posts { id title } } }';
const smallQuery = '{ user(id: "u3") { id name } }';

export const rows: Record<string, Row> = {
  small: { title: 'A small query, data in memory', query: smallQuery, names: everyone },
  users: { title: '10 users with 10 posts each, data in memory', query: usersQuery, names: everyone },
  'users-async': {
    title: '10 users with 10 posts each, data in memory, resolvers that are async functions',
    query: usersQuery,
    names: everyone,
    environment: { RESOLVERS: 'async' },
  },
  mutation: {
    title: 'A mutation, data in memory',
    query: 'mutation { renameUser(id: "u3", name: "Ada") { id name } }',
    names: everyone,
  },
  page: {
    title: 'A page of 100 posts with their authors, from SQLite',
    query: '{ posts(limit: 100) { data { id title publishedAt author { id name } } } }',
    names: everyone,
    isOnDatabase: true,
  },
  guards: {
    title: 'What the guards cost: 10 users with 10 posts',
    query: usersQuery,
    names: ['unguarded', 'postroom'],
    processes: guardProcesses,
  },
  'guards-small': {
    title: 'What the guards cost: a small query',
    query: smallQuery,
    names: ['unguarded', 'postroom'],
    processes: guardProcesses,
  },
};

interface Sample {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  cpuMicros: number;
}

export async function measureRow(row: Row, run: Run): Promise<Table> {
  const servers = await startAll(row, run);
  try {
    const body = JSON.stringify({ query: row.query });
    const samples = new Map(row.names.map((name): [ContestantName, Sample[]] => [name, []]));
    for (let round = -warmUpRounds; round < run.rounds; round += 1) {
      for (const [name, server] of servers) {
        const sample = await measure(server, body, run.seconds);
        if (round >= 0) samples.get(name)?.push(sample);
      }
    }
    return { title: row.title, about: `\`${row.query}\``, rows: describe(samples) };
  } finally {
    await Promise.all(servers.map(([, server]) => server.stop()));
  }
}

/** All of them, each with the same answer. */
async function startAll(row: Row, { nodeOptions }: Run): Promise<[ContestantName, Server][]> {
  const servers: [ContestantName, Server][] = [];
  const environment: Record<string, string> = { ...row.environment };
  if (row.isOnDatabase) {
    const { server, file } = await startOnDatabase(nodeOptions);
    servers.push(['postroom', server]);
    environment['DATABASE_FILE'] = file;
  }
  for (let round = 0; round < (row.processes ?? 1); round += 1) {
    for (const name of row.names) {
      if (name === 'raw' || (row.isOnDatabase && name === 'postroom')) continue;
      servers.push([name, await start(name, { environment, nodeOptions: name === 'postroom' ? nodeOptions : [] })]);
    }
  }
  const answers = await Promise.all(servers.map(([, server]) => ask(server, row.query)));
  if (answers.some((answer) => !isDeepStrictEqual(answer, answers[0]))) throw new Error('The answers differ.');
  if (row.names.includes('raw')) {
    const ANSWER = JSON.stringify({ data: answers[0] });
    servers.push(['raw', await start('raw', { environment: { ANSWER } })]);
  }
  return servers;
}

async function measure(server: Server, body: string, seconds: number): Promise<Sample> {
  const before = await server.usage();
  const { requests, ...sample } = await load({ port: server.port, body, connections, seconds });
  const after = await server.usage();
  return { ...sample, cpuMicros: (after.cpuMicros - before.cpuMicros) / requests };
}

function describe(samples: ReadonlyMap<ContestantName, Sample[]>): Record<string, string>[] {
  const rates = (name: ContestantName) => samples.get(name)?.map(({ requestsPerSecond }) => requestsPerSecond) ?? [];
  return [...samples].map(([name, all]) => {
    const own = rates(name);
    const ours = spread(ratios(rates('postroom'), own));
    return {
      server: contestants[name].title,
      'requests/s': spread(own, 0),
      'Postroom ÷ it': ours,
      'p50, ms': median(all.map(({ p50Ms }) => p50Ms)).toFixed(2),
      'p99, ms': spread(all.map(({ p99Ms }) => p99Ms)),
      'CPU a request, µs': spread(
        all.map(({ cpuMicros }) => cpuMicros),
        1,
      ),
    };
  });
}
