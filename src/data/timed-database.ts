import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import type { Histogram } from '../histogram.ts';
import type { Database } from './database.ts';
import type { DatabaseTimings } from './timings.ts';

/** The database, with its transactions and snapshots measured. */
export function withTimings(database: Database, timings: DatabaseTimings): Database {
  return {
    ...database,
    transaction: (work, options) => timed(timings.transaction, () => database.transaction(work, options)),
    snapshot: (work, span) => timed(timings.snapshot, () => database.snapshot(work, span)),
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

/** Measures each statement of a connection. */
export class TimedConnection implements DatabaseConnection {
  readonly #connection: DatabaseConnection;
  readonly #histogram: Histogram;

  constructor(connection: DatabaseConnection, histogram: Histogram) {
    this.#connection = connection;
    this.#histogram = histogram;
  }

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return timed(this.#histogram, () => this.#connection.executeQuery<Row>(query));
  }

  streamQuery(): never {
    throw new Error('Streaming is not supported.');
  }
}
