import type { Histogram } from '../../common/histogram.ts';
import type { StatementRunner } from '../sql/query-builder.ts';
import type { Database } from './database.ts';
import type { DatabaseTimings } from './timings.ts';

/** The database, with its transactions and snapshots measured. */
export function withTimings(database: Database, timings: DatabaseTimings): Database {
  return {
    ...database,
    transaction: (work, options) => timed(timings.transaction, () => database.transaction(work, options)),
    snapshot: (work, context) => timed(timings.snapshot, () => database.snapshot(work, context)),
  };
}

async function timed<T>(histogram: Histogram, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await work();
  } finally {
    histogram.observeSince(start);
  }
}

/** Measures each statement. */
export function timeStatements(runner: StatementRunner, histogram: Histogram): StatementRunner {
  return { executeQuery: (query) => timed(histogram, () => runner.executeQuery(query)) };
}
