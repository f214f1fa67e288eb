import { sql } from 'kysely';
import { LimitedQueue } from '../../common/limited-queue.ts';
import type { Database } from '../database/database.ts';
import { createDb } from '../sql/sql-dialect.ts';
import type { SqliteConnection } from './connection.ts';
import { sqliteDialect } from './dialect.ts';
import { SqliteBusy } from './errors.ts';
import type { WriteAheadLog } from './wal/write-ahead-log.ts';

const maxWaiting = 10_000;
/** The maximum time that a snapshot waits for a connection. */
const timeoutMs = 5_000;

/** Reads on one state of the database. Each has a connection of its own; if all are in use, it waits. */
export function createSnapshots(
  connections: readonly SqliteConnection[],
  log: Pick<WriteAheadLog, 'pause'>,
): Database['snapshot'] {
  const idle = [...connections];
  const refusal = () => new SqliteBusy('too many snapshots wait');
  const queue = new LimitedQueue({ maxRunning: idle.length, maxWaiting, timeoutMs, refusal });
  return (work, context) =>
    queue.run(async () => {
      await log.pause;
      const connection = idle.pop();
      if (!connection) throw new Error('No connection is idle.');
      try {
        connection.execute('begin');
        const db = createDb(connection, sqliteDialect);
        // A transaction sees the state of the database at its first read.
        await sql`select 1 from settings limit 1`.execute(db);
        return await work(db);
      } finally {
        connection.rollback();
        idle.push(connection);
      }
    }, context);
}
