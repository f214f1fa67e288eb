import { createHash } from 'node:crypto';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, so that no worker starts one of them when the others have finished. */
const longest = [
  'http/wire',
  'commands/import',
  'commands/start',
  'storage/deletion-steps',
  'api/room-visibility',
  'live/feed-faults',
  'live/ends',
  'database/postgres-faults',
  'nodes/bus',
  'nodes/bus-of-nodes',
];

/** Starts the longest files first; with `--sequence.shuffle` the order depends on the seed only. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { shuffle, seed } = this.ctx.config.sequence;
    if (shuffle)
      return sortBy(files, ({ moduleId }) => createHash('sha256').update(`${seed} ${moduleId}`).digest('hex'));
    const rank = ({ moduleId }: TestSpecification) =>
      longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`)) + 1 || Infinity;
    return sortBy(await super.sort(files), rank);
  }
}

function sortBy<T>(items: readonly T[], keyOf: (item: T) => string | number): T[] {
  const keyed = items.map((item) => ({ item, key: keyOf(item) }));
  return keyed.sort((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key))).map(({ item }) => item);
}
