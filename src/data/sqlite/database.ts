import { randomInt } from 'node:crypto';
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { sql } from 'kysely';
import { nextTurnWhenDue } from '../../common/event-loop.ts';
import { LimitedQueue } from '../../common/limited-queue.ts';
import {
  type Database,
  type DatabaseState,
  type Db,
  type ImplementationOptions,
  type ReadContext,
  toUnusable,
} from '../database/database.ts';
import type { DatabaseTimings } from '../database/timings.ts';
import { migrate } from '../migrations/migrate.ts';
import { assertRead, createDb, type StatementRunner } from '../sql/sql-dialect.ts';
import { readVersion } from './backup/contents.ts';
import { SqliteConnection } from './connection.ts';
import { sqliteDialect, sqliteTables } from './dialect.ts';
import { SqliteBusy, translateSqliteError } from './errors.ts';
import { assertCreatable, assertNoOrphanedLog, isDiskFull, openExisting, SqliteFile } from './file.ts';
import { SqliteHealth } from './health.ts';
import { LongReads } from './threads/long-reads.ts';
import type { ReadCommand } from './threads/worker.ts';
import { WriteAheadLog } from './wal/write-ahead-log.ts';
import { SqliteWriter } from './writer.ts';

const checkIntervalMs = 1_000;
/** The number of connections for snapshots, and for snapshots during writes. */
const maxSnapshots = 8;
/** The maximum number of snapshots that wait. */
const maxWaiting = 10_000;
/** The maximum time that a snapshot waits for a connection. */
const timeoutMs = 5_000;
/** The work, in rows, that a statement may do on the event loop: about a millisecond. */
const maxRows = 1_000;
const maxDatabaseId = 2 ** 31 - 1;

/**
 * Opens the database file at a path, or a temporary database for `:memory:`, and brings its tables up to date.
 *
 * One connection writes and one reads; each snapshot and each thread has a connection of its own. In WAL mode readers never
 * wait for the writer. Deleted data is overwritten in the file (`secure_delete`).
 * @throws DatabaseUnusable
 */
export async function openSqlite(path: string, options: ImplementationOptions): Promise<Database> {
  const opened = new AsyncDisposableStack();
  try {
    return await open(path, options, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw explain(path, error);
  }
}

/** What it opens is closed by `opened`. */
async function open(path: string, options: ImplementationOptions, opened: AsyncDisposableStack): Promise<Database> {
  const file = opened.adopt(SqliteFile.open(path), (file) => file.close());
  const health = new SqliteHealth(file, options);
  const connect = (mode: 'read' | 'write') => {
    const onError = (error: unknown) => health.report(error);
    const { onStatement } = options;
    const connection = new SqliteConnection(file.url, { mode, onError, onStatement });
    return opened.adopt(connection, (connection) => connection.close());
  };
  // All are opened now: later there could be no free file descriptor, or another file at the path.
  const connectSeveral = () => Array.from({ length: options.isServer ? maxSnapshots : 1 }, () => connect('read'));
  const reading = connect('read');
  const [forReads, forWrites] = [connectSeveral(), connectSeveral()];
  const connection = connect('write');
  const { timings } = options;
  const log = opened.adopt(new WriteAheadLog({ file, health, connection, flushes: timings.flush }), (log) =>
    log.close(),
  );
  const writer = new SqliteWriter({ connection, health, log });
  opened.defer(() => writer.close());
  if (options.isServer) await writer.transaction(async () => file.rewriteLog());
  await writer.transaction((db) => migrate(db, sqliteTables, options.extensions));
  await watch({ connection, writer, health }, opened);
  const onDone = () => void writer.purgeIfDue();
  const longReads = opened.adopt(new LongReads({ url: file.url, health, log, onDone }), (reads) => reads.close());
  const [snapshot, snapshotDuringWrites] = [createSnapshots(forReads, log), createSnapshots(forWrites, log)];
  const readsFor = createReads(reading, longReads, timings);
  const db = readsFor({ caller: '' });
  return {
    db,
    checks: db,
    readsFor,
    kind: 'sqlite',
    readVersion: () => process.versions['sqlite'] ?? '',
    countWaiting: () => ({ transactions: writer.waitingCount, longReads: longReads.waitingCount }),
    folder: path === ':memory:' ? undefined : dirname(file.path),
    name: path === ':memory:' ? path : file.path,
    transaction: (work, options) => writer.transaction(work, options),
    snapshot: (work, context) => snapshot(work, context).finally(() => void writer.purgeIfDue()),
    // It waits for the purge: a mutation that erases data may itself hold a snapshot with that data.
    snapshotDuringWrites: (work, context) => snapshotDuringWrites(work, context).finally(() => writer.purgeIfDue()),
    purge: () => writer.purge(),
    async isReady() {
      health.checkFiles();
      if (!health.isWritable) return false;
      const read = sql`select 1 from settings limit 1`.execute(db);
      return read.then(
        () => true,
        () => false,
      );
    },
    close: () => opened.disposeAsync(),
  };
}

/**
 * The reads of one caller: short reads on the event loop, which yield to it as those of SqliteConnection, and long reads in a
 * thread. A statement that does too much work is stopped, and runs again in a thread.
 */
function createReads(connection: SqliteConnection, longReads: LongReads, timings: DatabaseTimings) {
  return (context: ReadContext) => {
    const runner: StatementRunner = {
      async executeQuery({ sql, parameters }) {
        assertRead(sql);
        const turn = nextTurnWhenDue(context.caller);
        if (turn) await turn;
        const command = { sql, parameters } as ReadCommand;
        const start = performance.now();
        const short = connection.executeWithin(maxRows, command);
        timings.read.observeSince(start);
        const result =
          short ?? (await longReads.run(command, context).finally(() => timings.long_read.observeSince(start)));
        return result as never;
      },
    };
    return createDb(runner, sqliteDialect);
  };
}

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

/** Checks once a second whether the database can be written. Its tables must be up to date. */
async function watch(
  { connection, writer, health }: { connection: SqliteConnection; writer: SqliteWriter; health: SqliteHealth },
  opened: AsyncDisposableStack,
): Promise<void> {
  const id = await writer.transaction(findOrCreateId);
  // The id should be in the file itself. If another process needs the write-ahead log now, it gets there later.
  connection.execute('pragma wal_checkpoint(truncate)');
  health.watch(id);
  const check = () => {
    health.checkFiles();
    writer.refuseLate();
    if (health.needsCheckpoint) writer.checkpointIfDue();
    // It writes a page without a change.
    else if (health.needsProbe) writer.transaction(async (db) => writeId(db, await findOrCreateId(db))).catch(() => {});
    void writer.purgeIfDue();
  };
  opened.adopt(setInterval(check, checkIntervalMs).unref(), clearInterval);
}

/** Finds out whether a server could open the database, without creating or migrating it. @throws DatabaseUnusable */
export async function inspectSqlite(path: string): Promise<DatabaseState> {
  if (path === ':memory:') return { name: path, folder: undefined, version: undefined };
  const file = resolve(path);
  try {
    assertNoOrphanedLog(file);
    const folder = dirname(file);
    assertCreatable(folder);
    if (!existsSync(file)) return { name: file, folder, version: undefined };
    accessSync(file, constants.R_OK | constants.W_OK);
    // A connection that only reads would leave the files of the write-ahead log behind.
    using database = openExisting(file);
    const table = database.prepare("select 1 from sqlite_schema where name = 'migrations'").get();
    return { name: file, folder, version: table && readVersion(database) };
  } catch (error) {
    throw explain(file, error);
  }
}

/** The error of an open that fails for this reason. */
function explain(path: string, error: unknown): unknown {
  return toUnusable(path, translateSqliteError(error), isDiskFull(path) ? ': the disk is full' : '');
}

/** A random number in the header of the file (`user_version`) that identifies this database. */
async function findOrCreateId(db: Db): Promise<number> {
  const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(db);
  const id = rows[0]?.user_version || randomInt(1, maxDatabaseId);
  if (id !== rows[0]?.user_version) await writeId(db, id);
  return id;
}

async function writeId(db: Db, id: number): Promise<void> {
  await sql.raw(`pragma user_version = ${id}`).execute(db);
}
