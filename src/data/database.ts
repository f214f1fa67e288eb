import type { Kysely, Transaction } from 'kysely';
import type { Tables } from './tables.ts';

/** The database, or a transaction; data functions work with both. */
export type Db = Kysely<Tables> | Transaction<Tables>;

/** The differences between the databases that Postroom supports. */
export interface Dialect {
  /** The type of a column that holds milliseconds or counts beyond 32 bits. */
  bigint: 'integer' | 'bigint';
  /** The options after `create table (…)`. */
  tableOptions: string;
  /** An expression that gives each row a random whole number from 1 to 2,147,483,647. */
  randomMark: string;
  isUniqueViolation(error: unknown): boolean;
}

export type Work<T> = (db: Transaction<Tables>) => Promise<T>;

export interface TransactionOptions {
  /**
   * Called before the transaction begins and right before its commit; it throws if no client waits for the result any
   * more.
   */
  cancellation?: { throwIfCancelled(): void } | undefined;
}

export interface Database {
  dialect: Dialect;
  /** For single reads. Each read sees all commits before it. */
  db: Kysely<Tables>;
  /**
   * Runs one durable transaction. If the promise rejects, nothing is stored, neither now nor later. It also rejects if
   * the transaction is cancelled, or does not get its turn within five seconds.
   * @throws DatabaseUnavailable
   */
  transaction<T>(work: Work<T>, options?: TransactionOptions): Promise<T>;
  /** Runs several reads on one state of the database. */
  snapshot<T>(work: Work<T>): Promise<T>;
  /**
   * Gives `work` the present state of the database until it is done, even if it writes meanwhile. No `snapshot` waits
   * for it.
   */
  keepSnapshot<T>(work: Work<T>): Promise<T>;
  /**
   * Removes erased data from the files of the database at once or, if a reader still needs it, within a second after
   * this reader has ended. Never fails.
   */
  purge(): Promise<void>;
  /** Whether the database can be read and written now. */
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}

export interface HealthListener {
  /** Called with the reason of a fault, for the operator. At most once in ten seconds for the same reason. */
  onFault?: ((reason: string) => void) | undefined;
  /** Called when writes succeed again after a reported fault. */
  onRecovery?: (() => void) | undefined;
}

export interface DatabaseOptions extends HealthListener {
  /** Called with the text of each statement, without its values. */
  onStatement?: (sql: string) => void;
}

/** The database cannot be used. The message is one line for the operator. */
export class DatabaseUnusable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DatabaseUnusable';
  }
}
