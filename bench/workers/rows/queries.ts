import { createPosts } from '../../http/candidates.ts';
import { load } from '../../http/load.ts';
import { Postroom } from '../../support/postroom.ts';
import { clientPortsOf, cpuMicrosOfEndedChildren } from '../../support/processes.ts';
import { measureInTurn } from '../../support/rounds.ts';
import { spread } from '../../support/statistics.ts';
import type { TableWithTargets } from '../../support/table.ts';
import type { Run } from '../run.ts';
import { describeWork, measureWork, ratesRatio, shareOfLeast, type Work } from '../work.ts';

const connections = 32;
const texts = {
  users: '{ users(limit: 10) { data { id name posts(last: 10) { id title } } } }',
  page: '{ posts(limit: 100) { data { id title publishedAt author { id name } } } }',
};

interface Sample extends Work {
  shareOfLeast: number;
}

/** Queries over connections that are kept. */
export async function queries({ counts, rounds, seconds }: Run): Promise<TableWithTargets> {
  const servers: Postroom[] = [];
  try {
    for (const workers of counts) servers.push(await Postroom.start({ workers }));
    for (const { port } of servers) await createPosts(port);
    const kinds = Object.entries(texts).flatMap(([name, query]) =>
      servers.map((postroom, index) => ({ name, query, postroom, workers: counts[index] ?? 1 })),
    );
    const samples = await measureInTurn(kinds, { rounds, warmUpRounds: 2 }, ({ postroom, query }) =>
      measure(postroom, JSON.stringify({ query }), seconds),
    );
    const ofOne = (name: string) => samples[kinds.findIndex((kind) => kind.name === name)] ?? [];
    return {
      title: 'Queries',
      about: `wrk with one thread and ${connections} connections.`,
      rows: kinds.map(({ name, workers }, index) => ({
        query: name,
        WORKERS: String(workers),
        ...describeWork(samples[index] ?? [], ofOne(name)),
        'fewest connections of a worker ÷ fair': spread((samples[index] ?? []).map((sample) => sample.shareOfLeast)),
      })),
      targets: kinds.flatMap(({ name, workers }, index) => {
        const ratios = ratesRatio(samples[index] ?? [], ofOne(name));
        return workers === 1 ? [] : [{ name: `${name}/s, ${workers} ÷ 1`, ratios, atLeast: 0.8 * workers }];
      }),
    };
  } finally {
    for (const server of servers) await server.stop();
  }
}

async function measure(postroom: Postroom, body: string, seconds: number): Promise<Sample> {
  let share = Number.NaN;
  // The connections are open for as long as wrk runs.
  const timer = setTimeout(() => {
    const ports = clientPortsOf(postroom.workers, postroom.port);
    share = shareOfLeast(ports.map(({ length }) => length));
  }, seconds * 500);
  const work = await measureWork(postroom, async () => {
    const before = cpuMicrosOfEndedChildren();
    const { requests, requestsPerSecond } = await load({ port: postroom.port, body, connections, seconds });
    const loadMicros = cpuMicrosOfEndedChildren() - before;
    return { units: requests, seconds: requests / requestsPerSecond, loadMicros };
  });
  clearTimeout(timer);
  return { ...work, shareOfLeast: share };
}
