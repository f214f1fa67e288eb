import { createHash } from 'node:crypto';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, so that no worker starts one of them when the others have finished. */
const longest = [
  'presence/nodes',
  'http/wire',
  'storage/deletion-steps',
  'live/feed-faults',
  'live/rewound-history',
  'nodes/bus',
  'commands/start',
  'presence/presence',
  'inbox/members',
  'operations/boundaries',
  'live/ends',
  'database/long-reads',
  'nodes/shared-rate',
  'access/revoked-elsewhere',
];

/**
 * The longest files are started first, each followed by a random other one: they wait more than they compute, and the
 * processors would be idle if all of them ran at the same time.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { shuffle, seed } = this.ctx.config.sequence;
    const shuffled = sortBy(files, ({ moduleId }) => hash(`${shuffle ? seed : ''} ${moduleId}`));
    if (shuffle) return shuffled;
    const rank = ({ moduleId }: TestSpecification) =>
      longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
    const long = sortBy(
      files.filter((file) => rank(file) >= 0),
      rank,
    );
    const others = shuffled.filter((file) => rank(file) < 0);
    return [...long.flatMap((file, index) => [file, ...others.slice(index, index + 1)]), ...others.slice(long.length)];
  }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function sortBy<T>(items: readonly T[], keyOf: (item: T) => string | number): T[] {
  const keyed = items.map((item) => ({ item, key: keyOf(item) }));
  return keyed.sort((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key))).map(({ item }) => item);
}
