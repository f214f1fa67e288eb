import { createRoom, signUp } from '../../support/accounts.ts';
import { Postroom } from '../../support/postroom.ts';
import { clientPortsOf } from '../../support/processes.ts';
import { measureInTurn } from '../../support/rounds.ts';
import { ratios, spread } from '../../support/statistics.ts';
import type { TableWithTargets } from '../../support/table.ts';
import { Worker } from '../../support/worker.ts';
import { bodyFor } from '../../writes/target.ts';
import type { Command, PostsLoad } from '../posts-load.ts';
import type { Run } from '../run.ts';
import { describeWork, measureWork, ratesRatio, shareOfLeast, type Work } from '../work.ts';

const connections = 32;

interface Author {
  postroom: Postroom;
  token: string;
  body: string;
}

interface Sample extends Work {
  p50Ms: number;
  p99Ms: number;
  /** Of the worker with the fewest posts, and of that with the fewest posts per connection. */
  leastPosts: number;
  leastPerConnection: number;
}

/** Posts in one room, each a commit on the disk. */
export async function posts({ counts, rounds, seconds }: Run): Promise<TableWithTargets> {
  const load = new Worker<Command, PostsLoad>(new URL('../posts-load.ts', import.meta.url));
  const authors: Author[] = [];
  try {
    for (const workers of counts) authors.push(await startAuthor(workers));
    const samples = await measureInTurn(authors, { rounds, warmUpRounds: 2 }, (author) =>
      measure(load, author, seconds),
    );
    const [ofOne = []] = samples;
    const all = (index: number, figure: keyof Sample) => (samples[index] ?? []).map((sample) => sample[figure]);
    return {
      title: 'Posts',
      about: `createPost in one room over ${connections} connections, on the disk.`,
      rows: counts.map((workers, index) => ({
        WORKERS: String(workers),
        ...describeWork(samples[index] ?? [], ofOne),
        'p50, ms': spread(all(index, 'p50Ms'), 1),
        'p99, ms': spread(all(index, 'p99Ms'), 1),
        'fewest posts of a worker ÷ fair': spread(all(index, 'leastPosts')),
        'fewest per connection ÷ fair': spread(all(index, 'leastPerConnection')),
      })),
      targets: counts.slice(1).flatMap((workers, index) => [
        { name: `posts/s, ${workers} ÷ 1`, ratios: ratesRatio(samples[index + 1] ?? [], ofOne), atLeast: 0.95 },
        { name: `p99, ${workers} ÷ 1`, ratios: ratios(all(index + 1, 'p99Ms'), all(0, 'p99Ms')), atMost: 1 },
        { name: `fewest posts of ${workers} workers ÷ fair`, ratios: all(index + 1, 'leastPosts'), atLeast: 0.5 },
      ]),
    };
  } finally {
    load.stop();
    for (const { postroom } of authors) await postroom.stop();
  }
}

async function startAuthor(workers: number): Promise<Author> {
  const postroom = await Postroom.start({ workers, onDisk: true });
  const token = await signUp(postroom.port);
  return { postroom, token, body: bodyFor(await createRoom(postroom.port, token)) };
}

async function measure(
  load: Worker<Command, PostsLoad>,
  { postroom, token, body }: Author,
  seconds: number,
): Promise<Sample> {
  const { port } = postroom;
  const work = await measureWork(postroom, async () => {
    const report = await load.send({ port, body, token, connections, seconds });
    return { ...report, units: report.posts };
  });
  const postsOf = new Map(work.byPort);
  const ofWorkers = clientPortsOf(postroom.workers, port).map((ports) =>
    ports.flatMap((each) => postsOf.get(each) ?? []),
  );
  const sums = ofWorkers.map((own) => own.reduce((sum, count) => sum + count, 0));
  const perConnection = sums.flatMap((sum, index) => (ofWorkers[index]?.length ? sum / ofWorkers[index].length : []));
  return { ...work, leastPosts: shareOfLeast(sums), leastPerConnection: shareOfLeast(perConnection) };
}
