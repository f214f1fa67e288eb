import { randomInt } from 'node:crypto';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { type SqliteDatabase as Adapted, Kysely, type SqliteStatement, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { type Database, type DatabaseOptions, DatabaseUnusable, type Db, type Dialect } from '../database.ts';
import type { Tables } from '../tables.ts';
import { isUniqueViolation, reasonOf, translateError } from './errors.ts';
import { isDiskFull, SqliteFile } from './file.ts';
import { SqliteHealth } from './health.ts';
import { Pool } from './pool.ts';
import { Purge } from './purge.ts';
import { SqliteReaderDialect } from './reader.ts';
import { SqliteWriter, SqliteWriterDialect } from './writer.ts';

const busyTimeoutMs = 5_000;
const checkIntervalMs = 1_000;
const maxStatements = 500;
/** The number of connections in each of the two pools. */
const maxSnapshots = 8;
const maxDatabaseId = 2 ** 31 - 1;

interface SqliteDatabase extends Database {
  /** Starts to check once a second whether the database can be written. Its tables must be up to date. */
  watch(): Promise<void>;
}

const dialect: Dialect = {
  bigint: 'integer',
  tableOptions: 'strict',
  randomMark: 'abs(random() % 2147483647) + 1',
  isUniqueViolation,
};

/**
 * One connection writes, one connection reads, and each snapshot uses a separate connection: in WAL mode readers never
 * wait for the writer. A commit is on disk before it returns (`synchronous = FULL`). Deleted data is overwritten in the
 * file (`secure_delete`), so that an erased account cannot be read from it.
 */
export async function openSqlite(path: string, options: DatabaseOptions): Promise<SqliteDatabase> {
  const file = openOrThrow(path, () => SqliteFile.open(path));
  const health = new SqliteHealth(file, options);
  const connections = openOrThrow(path, () => openConnections(file, health, options));
  const { reader, snapshots, past, all } = connections;
  const writer = new SqliteWriter(connections.writer, health);
  const purge = new Purge(writer);
  const check = () => {
    health.checkFiles();
    if (health.needsProbe) writer.transaction(rewriteId).catch(() => {});
    void purge.runWhereDue();
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    dialect,
    db: reader,
    transaction: (work, options) => writer.transaction(work, options),
    // A snapshot only reads, so it does not wait for the writer.
    snapshot: (work) => snapshots.use((db) => db.transaction().execute(work)).finally(() => void purge.runWhereDue()),
    keepSnapshot: (work) =>
      past
        .use((db) => db.transaction().execute(async (past) => work(await settle(past))))
        .finally(() => void purge.runWhereDue()),
    purge: () => purge.run(),
    async watch() {
      const id = await writer.transaction(findOrCreateId);
      // The id should be in the file itself. If another process needs the write-ahead log now, it gets there later.
      await writer.truncateLog().catch(() => false);
      health.watch(id);
      timer = setInterval(check, checkIntervalMs).unref();
    },
    async isReady() {
      health.checkFiles();
      if (!health.isWritable) return false;
      return settle(reader).then(
        () => true,
        () => false,
      );
    },
    async close() {
      clearInterval(timer);
      await Promise.all([snapshots.close(), past.close(), reader.destroy()]);
      await writer.close();
      // Kysely does not close connections that it has not used.
      for (const database of all) if (database.isOpen) database.close();
      file.close();
    },
  };
}

/** @throws DatabaseUnusable */
function openOrThrow<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    const reason = `${reasonOf(translateError(error))}${isDiskFull(path) ? ': the disk is full' : ''}`;
    throw new DatabaseUnusable(`cannot open the database ${path}: ${reason}`, { cause: error });
  }
}

function openConnections(file: SqliteFile, health: SqliteHealth, { onStatement }: DatabaseOptions) {
  const all: DatabaseSync[] = [];
  const open = (mode: 'write' | 'read') => {
    const database = connect(file.url, mode);
    all.push(database);
    return toKysely(database, { mode, health, onStatement });
  };
  return {
    all,
    writer: open('write'),
    reader: open('read'),
    snapshots: new Pool(maxSnapshots, () => open('read')),
    past: new Pool(maxSnapshots, () => open('read')),
  };
}

interface KyselyOptions {
  mode: 'write' | 'read';
  onStatement: DatabaseOptions['onStatement'];
  health: SqliteHealth;
}

function connect(url: string, mode: 'write' | 'read'): DatabaseSync {
  const database = new DatabaseSync(url, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  database.exec(
    'pragma journal_mode = wal; pragma synchronous = full; pragma secure_delete = on; pragma cache_size = -16000; pragma temp_store = memory',
  );
  database.exec(mode === 'read' ? 'pragma query_only = on' : 'pragma busy_timeout = 0');
  return database;
}

function toKysely(database: DatabaseSync, { mode, health, onStatement }: KyselyOptions): Kysely<Tables> {
  const config = { database: adapt(database, health) };
  return new Kysely<Tables>({
    dialect: mode === 'read' ? new SqliteReaderDialect(config) : new SqliteWriterDialect(config, database),
    ...(onStatement && { log: ({ query }) => onStatement(query.sql) }),
  });
}

/** Runs a first read: a transaction sees the state of the database at its first read. */
async function settle<Connection extends Db>(db: Connection): Promise<Connection> {
  await sql`select 1 from settings limit 1`.execute(db);
  return db;
}

/** A random number in the header of the file (`user_version`) that identifies this database. */
async function findOrCreateId(db: Db): Promise<number> {
  const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(db);
  const id = rows[0]?.user_version || randomInt(1, maxDatabaseId);
  if (id !== rows[0]?.user_version) await writeId(db, id);
  return id;
}

/** Writes a page without a change, to test whether writes succeed. */
async function rewriteId(db: Db): Promise<void> {
  await writeId(db, await findOrCreateId(db));
}

async function writeId(db: Db, id: number): Promise<void> {
  await sql.raw(`pragma user_version = ${id}`).execute(db);
}

/** Adapts node:sqlite to the interface that Kysely's SQLite dialect expects, and caches prepared statements. */
function adapt(database: DatabaseSync, health: SqliteHealth): Adapted {
  const statements = new LRUCache<string, SqliteStatement>({ max: maxStatements });
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      const translated = translateError(error);
      health.report(translated);
      throw translated;
    }
  };
  return {
    close: () => database.close(),
    prepare(sql) {
      const known = statements.get(sql);
      if (known) return known;
      const statement = attempt(() => adaptStatement(database.prepare(sql), attempt));
      statements.set(sql, statement);
      return statement;
    },
  };
}

function adaptStatement(statement: StatementSync, attempt: <T>(work: () => T) => T): SqliteStatement {
  let names = namesOf(statement);
  // The row objects of node:sqlite are dictionaries, which are slow to create and slower to read.
  statement.setReturnArrays(true);
  const toRow = (values: unknown) => {
    const row = values as unknown[];
    // SQLite compiles a statement again, with other columns, after a migration has changed the table.
    if (row.length !== names.length) names = namesOf(statement);
    return toObject(names, row);
  };
  return {
    reader: names.length > 0,
    all: (values) => attempt(() => statement.all(...(values as SQLInputValue[]))).map(toRow),
    run: (values) => attempt(() => statement.run(...(values as SQLInputValue[]))),
    iterate: (values) => statement.iterate(...(values as SQLInputValue[])).map(toRow),
  };
}

function namesOf(statement: StatementSync): string[] {
  return statement.columns().map(({ name }) => name);
}

function toObject(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (let index = 0; index < names.length; index += 1) row[names[index] ?? ''] = values[index];
  return row;
}
