import { sql } from 'kysely';
import { LimitedQueue, type Requester } from '../../limited-queue.ts';
import type { Work } from '../database.ts';
import type { SqliteConnection } from './connection.ts';
import { toDb } from './dialect.ts';
import { SqliteBusy } from './errors.ts';
import type { WriteAheadLog } from './wal/write-ahead-log.ts';

const maxWaiting = 10_000;
/** The maximum time that a snapshot waits for a connection. */
const timeoutMs = 5_000;

/** Reads on one state of the database. Each has a connection of its own; if all are in use, it waits. */
export class Snapshots {
  readonly #log: Pick<WriteAheadLog, 'pause'>;
  readonly #idle: SqliteConnection[];
  readonly #queue: LimitedQueue;

  constructor(connections: readonly SqliteConnection[], log: Pick<WriteAheadLog, 'pause'>) {
    this.#idle = [...connections];
    this.#log = log;
    const refusal = () => new SqliteBusy('too many snapshots wait');
    this.#queue = new LimitedQueue({ maxRunning: connections.length, maxWaiting, timeoutMs, refusal });
  }

  /** @throws SqliteBusy if too many wait, or it waits for too long; the cancellation's reason, or any error of `work`. */
  run<T>(work: Work<T>, requester?: Requester): Promise<T> {
    return this.#queue.run(() => this.#run(work), requester);
  }

  async #run<T>(work: Work<T>): Promise<T> {
    await this.#log.pause;
    const connection = this.#idle.pop();
    if (!connection) throw new Error('No connection is idle.');
    try {
      connection.execute('begin');
      const db = toDb(connection);
      // A transaction sees the state of the database at its first read.
      await sql`select 1 from settings limit 1`.execute(db);
      return await work(db);
    } finally {
      connection.rollback();
      this.#idle.push(connection);
    }
  }
}
