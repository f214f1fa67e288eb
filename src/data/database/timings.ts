import { Histogram } from '../../common/histogram.ts';

/** In seconds. */
const bounds = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

/** What is measured: all but `flush` contain the time in a queue. */
const timedKinds = ['read', 'long_read', 'snapshot', 'transaction', 'flush'] as const;

/**
 * The durations of work of the database, by kind. `read`: one statement outside of transactions; `long_read`: one in a
 * thread, or on a connection for long reads. SQLite only: `flush`, of the write-ahead log.
 */
export type DatabaseTimings = Record<(typeof timedKinds)[number], Histogram>;

export function createTimings(): DatabaseTimings {
  return Object.fromEntries(timedKinds.map((kind) => [kind, new Histogram(bounds)])) as DatabaseTimings;
}
