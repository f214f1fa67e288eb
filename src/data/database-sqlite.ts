import { closeSync, constants, mkdirSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { Kysely, type SqliteDatabase, type SqliteStatement, sql, type Transaction } from 'kysely';
import { LRUCache } from 'lru-cache';
import { type Database, type DatabaseOptions, DatabaseUnusable, type Dialect } from './database.ts';
import { SqliteReaderDialect } from './sqlite-reader.ts';
import { SqliteWriterDialect } from './sqlite-writer.ts';
import type { Tables } from './tables.ts';

const busyTimeoutMs = 5_000;
const maxStatements = 500;
/** Of each kind. */
const maxSnapshots = 8;
const sqliteHeader = 'SQLite format 3\0';

const dialect: Dialect = {
  bigint: 'integer',
  tableOptions: 'strict',
  isUniqueViolation: (error) => isSqliteError(error) && [1555, 2067].includes(error.errcode),
};

/**
 * One connection writes, one reads, and each snapshot has one of its own: in WAL mode readers never wait for the
 * writer. A commit is on disk before it returns (`synchronous = FULL`); what is deleted is overwritten there
 * (`secure_delete`), so that an erased account cannot be read back from the file.
 */
export async function openSqlite(path: string, { onStatement }: DatabaseOptions): Promise<Database> {
  const { file, remove } = path === ':memory:' ? temporaryFile() : { file: resolve(path), remove: () => {} };
  assertUsable(file);
  const open = (mode: 'write' | 'read') => connect(file, mode, onStatement);
  try {
    const writer = open('write');
    const reader = open('read');
    const snapshots = new Pool(maxSnapshots, () => open('read'));
    const past = new Pool(maxSnapshots, () => open('read'));
    const purge = new Purge(writer);
    const read = <T>(pool: Pool, work: (db: Transaction<Tables>) => Promise<T>) =>
      pool.use((db) => db.transaction().execute(work));
    return {
      dialect,
      db: reader,
      transaction: (work) => writer.transaction().execute(work),
      // Who only reads does not wait for the writer.
      snapshot: (work) => read(snapshots, work).finally(() => void purge.runWhereDue()),
      remember: (work) => read(past, async (db) => work(await settle(db))).finally(() => purge.runWhereDue()),
      purge: () => purge.run(),
      async close() {
        await Promise.all([snapshots.close(), past.close(), reader.destroy()]);
        await writer.destroy();
        remove();
      },
    };
  } catch (error) {
    throw new DatabaseUnusable(`cannot open the database ${file}: ${messageOf(error)}`, { cause: error });
  }
}

/** In memory would mean one connection; a file in a private folder behaves as any other and is gone at the end. */
function temporaryFile(): { file: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  return {
    file: join(folder, 'postroom.db'),
    remove: () => {
      process.off('exit', remove);
      remove();
    },
  };
}

function assertUsable(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    const handle = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600);
    const header = Buffer.alloc(sqliteHeader.length);
    const length = readSync(handle, header);
    closeSync(handle);
    if (length > 0 && header.toString('latin1') !== sqliteHeader) {
      throw new Error('it is not an SQLite database');
    }
  } catch (error) {
    throw new DatabaseUnusable(`cannot open the database ${file}: ${messageOf(error)}`, { cause: error });
  }
}

function connect(file: string, mode: 'write' | 'read', onStatement?: (sql: string) => void): Kysely<Tables> {
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  database.exec(
    'pragma journal_mode = wal; pragma synchronous = full; pragma secure_delete = on; pragma cache_size = -16000; pragma temp_store = memory',
  );
  database.exec(mode === 'read' ? 'pragma query_only = on' : 'pragma busy_timeout = 0');
  return new Kysely<Tables>({
    dialect:
      mode === 'read'
        ? new SqliteReaderDialect({ database: adapt(database) })
        : new SqliteWriterDialect({ database: adapt(database), timeoutMs: busyTimeoutMs }),
    ...(onStatement && { log: ({ query }) => onStatement(query.sql) }),
  });
}

/** The write-ahead log, where what was erased still stands, goes into the database and is cut off. */
class Purge {
  readonly #writer: Kysely<Tables>;
  #isDue = false;

  constructor(writer: Kysely<Tables>) {
    this.#writer = writer;
  }

  /** This never waits: as long as someone reads what stands in the log, it stays due. */
  async run(): Promise<void> {
    this.#isDue = true;
    const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(this.#writer);
    this.#isDue = rows[0]?.busy !== 0;
  }

  /** Whenever a reader is done; where it fails, the next one tries again. */
  async runWhereDue(): Promise<void> {
    if (this.#isDue) await this.run().catch(() => {});
  }
}

/** A transaction stands for the state of the database that its first read found. */
async function settle(db: Transaction<Tables>): Promise<Transaction<Tables>> {
  await sql`select 1 from settings limit 1`.execute(db);
  return db;
}

/** What Kysely's SQLite dialect expects, on node:sqlite, with each statement prepared once. */
function adapt(database: DatabaseSync): SqliteDatabase {
  const statements = new LRUCache<string, SqliteStatement>({ max: maxStatements });
  return {
    close: () => database.close(),
    prepare(sql) {
      const known = statements.get(sql);
      if (known) return known;
      const statement = adaptStatement(database.prepare(sql));
      statements.set(sql, statement);
      return statement;
    },
  };
}

function adaptStatement(statement: StatementSync): SqliteStatement {
  const names = statement.columns().map(({ name }) => name);
  // The objects that node:sqlite makes of rows are dictionaries, slow to make and slower to read.
  statement.setReturnArrays(true);
  const toRow = (values: unknown) => toObject(names, values as unknown[]);
  return {
    reader: names.length > 0,
    all: (values) => statement.all(...(values as SQLInputValue[])).map(toRow),
    run: (values) => statement.run(...(values as SQLInputValue[])),
    iterate: (values) => statement.iterate(...(values as SQLInputValue[])).map(toRow),
  };
}

function toObject(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (let index = 0; index < names.length; index += 1) row[names[index] ?? ''] = values[index];
  return row;
}

/** At most `size` connections, made as needed and lent in turn. */
class Pool {
  readonly #size: number;
  readonly #open: () => Kysely<Tables>;
  readonly #idle: Kysely<Tables>[] = [];
  readonly #waiting: ((db: Kysely<Tables>) => void)[] = [];
  readonly #all: Kysely<Tables>[] = [];

  constructor(size: number, open: () => Kysely<Tables>) {
    this.#size = size;
    this.#open = open;
  }

  async use<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    const db = await this.#acquire();
    try {
      return await work(db);
    } finally {
      const next = this.#waiting.shift();
      if (next) next(db);
      else this.#idle.push(db);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((db) => db.destroy()));
  }

  #acquire(): Kysely<Tables> | Promise<Kysely<Tables>> {
    const idle = this.#idle.pop();
    if (idle) return idle;
    if (this.#all.length >= this.#size) return new Promise((lend) => this.#waiting.push(lend));
    const made = this.#open();
    this.#all.push(made);
    return made;
  }
}

function isSqliteError(error: unknown): error is Error & { errcode: number } {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
