import { sql } from 'kysely';
import type { Work } from '../database.ts';
import type { SqliteConnection } from './connection.ts';
import { toDb } from './dialect.ts';
import type { WriteAheadLog } from './wal/write-ahead-log.ts';

/** Reads on one state of the database. Each has a connection of its own; if all are in use, it waits. */
export class Snapshots {
  readonly #log: Pick<WriteAheadLog, 'pause'>;
  readonly #idle: SqliteConnection[];
  readonly #waiting: ((connection: SqliteConnection) => void)[] = [];

  constructor(connections: readonly SqliteConnection[], log: Pick<WriteAheadLog, 'pause'>) {
    this.#idle = [...connections];
    this.#log = log;
  }

  async run<T>(work: Work<T>): Promise<T> {
    await this.#log.pause;
    const connection = this.#idle.pop() ?? (await new Promise<SqliteConnection>((lend) => this.#waiting.push(lend)));
    try {
      connection.execute('begin');
      const db = toDb(connection);
      // A transaction sees the state of the database at its first read.
      await sql`select 1 from settings limit 1`.execute(db);
      return await work(db);
    } finally {
      connection.rollback();
      const next = this.#waiting.shift();
      if (next) next(connection);
      else this.#idle.push(connection);
    }
  }
}
