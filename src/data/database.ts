import type { Kysely, Transaction } from 'kysely';
import { migrate } from './migrations/migrate.ts';
import { openSqlite } from './sqlite/database.ts';
import { reasonOf } from './sqlite/errors.ts';
import type { HealthListener } from './sqlite/health.ts';
import type { Tables } from './tables.ts';

/** Where a data function reads and writes: the database itself, or the transaction it takes part in. */
export type Db = Kysely<Tables> | Transaction<Tables>;

/** What differs between the databases that Postroom runs on. */
export interface Dialect {
  /** The type of a column that holds milliseconds or counts beyond 32 bits. */
  bigint: 'integer' | 'bigint';
  /** What follows a `create table (…)`. */
  tableOptions: string;
  /** An expression that gives each row a random whole number from 1 to 2,147,483,647. */
  randomMark: string;
  isUniqueViolation(error: unknown): boolean;
}

export type Work<T> = (db: Transaction<Tables>) => Promise<T>;

export interface TransactionOptions {
  /** Asked when the transaction's turn comes and right before its commit; it throws where nobody waits for the result any more. */
  cancellation?: { throwIfCancelled(): void } | undefined;
}

export interface Database {
  dialect: Dialect;
  /** For single reads; each sees what was committed before it. */
  db: Kysely<Tables>;
  /**
   * One durable transaction. Where the promise rejects, nothing of it is stored, neither now nor later: also where it was
   * cancelled, or did not get its turn within five seconds.
   * @throws DatabaseUnavailable
   */
  transaction<T>(work: Work<T>, options?: TransactionOptions): Promise<T>;
  /** Several reads of one state of the database. */
  snapshot<T>(work: Work<T>): Promise<T>;
  /** The database as it is now stays at hand until `work` is done, which may write; no `snapshot` waits for it. */
  remember<T>(work: Work<T>): Promise<T>;
  /** What was erased leaves the database's files at once, unless a reader still needs it: then within a second of its end. Never fails. */
  purge(): Promise<void>;
  /** Whether it can be read and written now. */
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}

export interface DatabaseOptions extends HealthListener {
  /** Called with the text of each statement, without its values. */
  onStatement?: (sql: string) => void;
}

/** A database that cannot be used, with a line for the operator. */
export class DatabaseUnusable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DatabaseUnusable';
  }
}

/**
 * Opens the database of a `DATABASE_URL` and brings its tables up to date.
 * @throws DatabaseUnusable where it is corrupt, not writable, or newer than this program.
 */
export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Database> {
  const { watch, ...database } = await openSqlite(url.slice('sqlite:'.length), options);
  try {
    await migrate(database);
    await watch();
  } catch (error) {
    await database.close();
    throw explain(url, error);
  }
  return database;
}

/** What the database or the system says of itself is a line for the operator; anything else is a fault of ours. */
function explain(url: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  return new DatabaseUnusable(`cannot use the database ${url}: ${reasonOf(error)}`, { cause: error });
}
