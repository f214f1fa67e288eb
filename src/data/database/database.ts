import type { Kysely, Transaction } from 'kysely';
import type { Cancellation } from '../../common/cancellation.ts';
import type { Requester } from '../../common/limited-queue.ts';
import { ClientError } from '../../errors.ts';
import type { Span } from '../../tracing/tracing.ts';
import type { MigrationOwner } from '../migrations/migration.ts';
import type { Tables } from '../tables.ts';
import type { DatabaseTimings } from './timings.ts';

/** The database, or a transaction; data functions work with both. */
export type Db = Kysely<Tables> | Transaction<Tables>;

export type Work<T> = (db: Transaction<Tables>) => Promise<T>;

export interface TransactionOptions {
  /**
   * Called before the transaction begins and right before its commit; it throws if no client waits for the result any
   * more.
   */
  cancellation?: Cancellation | undefined;
  /**
   * The room in which the transaction changes something. The transaction may then share its commit with others of this
   * room, so it locks rows only in the way `share`. It must not await a statement that changes rows: its group would be
   * rolled back, and each transaction would run alone.
   */
  room?: string | undefined;
  /**
   * The id of the user whose membership the transaction begins or ends. Transactions of other rooms change the same row
   * of the user: those that share a commit therefore send their changes in the order of their users.
   */
  memberId?: string | undefined;
  /** The span that the transaction belongs to. */
  span?: Span | undefined;
}

/** For whom a read runs. A read whose result nobody needs is cancelled. */
export interface ReadContext extends Requester {
  /** The span that its statements belong to. */
  span?: Span | undefined;
}

export type DatabaseKind = 'sqlite' | 'postgres';

/**
 * What every database promises.
 *
 * - Rows: integers are numbers, also those of `bigint` columns and of `count`. Text is compared byte by byte, and `lower`
 *   changes only A to Z.
 * - Errors: a statement that violates a unique constraint rejects with UniqueViolation. If the database is busy, full,
 *   broken or not reachable, the promise rejects with DatabaseUnavailable; nothing was stored, and nothing will be.
 */
export interface Database {
  /** For single reads of the server itself. Each read sees all commits before it. */
  db: Kysely<Tables>;
  /**
   * Like `db`, for the reads of a client. A long read waits for its turn in a thread, or on a connection for long reads.
   * It rejects with DatabaseUnavailable if too many reads wait, or with the reason of the cancellation.
   */
  readsFor(context: ReadContext): Kysely<Tables>;
  /** Like `db`, for the short periodic checks of the server itself, which must not wait for the reads of clients. */
  checks: Kysely<Tables>;
  /**
   * Runs one transaction, and resolves when its commit is durable. If the promise rejects, nothing is stored, neither
   * now nor later, except after CommitOutcomeUnknown. It also rejects if the transaction is cancelled, or does not get
   * its turn within five seconds.
   *
   * Each statement sees all commits before it (the isolation level "read committed", or a stricter one). A row that the
   * transaction has locked (see `RowLock`) or changed stays as it is for the others until its end. Transactions that
   * change the same row therefore commit in the order of these changes.
   *
   * `work` does not have to wait for its last statements: those that it has called before it resolves are executed before
   * the commit, in order and without a round trip of their own. Their promises need a handler for errors. If any
   * statement fails, nothing is stored, and the promise rejects with the error of the first one, or that of `work`.
   *
   * `work` has no effects outside `db`: a database that ends a deadlock by rolling one transaction back runs it again.
   *
   * @throws DatabaseUnavailable, CommitOutcomeUnknown, CommitResultLost, UniqueViolation, the reason of the cancellation,
   * or any error of `work`.
   */
  transaction<T>(work: Work<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Runs several reads on the present state of the database; by default for the server itself.
   * @throws DatabaseUnavailable if too many snapshots wait, the reason of the cancellation, or any error of `work`.
   */
  snapshot<T>(work: Work<T>, context?: ReadContext): Promise<T>;
  /**
   * Gives `work` the present state of the database until it is done, even if it writes meanwhile. No `snapshot` waits
   * for it.
   */
  snapshotDuringWrites<T>(work: Work<T>, context?: ReadContext): Promise<T>;
  /**
   * SQLite: removes erased data from the files of the database at once or, if a reader still needs it, within a second
   * after this reader has ended. PostgreSQL: does nothing, because only the server removes it (`vacuum`, and the end of
   * its write-ahead log and backups). Never fails.
   */
  purge(): Promise<void>;
  /** Whether the database can be read now and, on SQLite, written. */
  isReady(): Promise<boolean>;
  /** The folder of the database's files, for files that belong to them; undefined if no file outlives the process. */
  folder: string | undefined;
  kind: DatabaseKind;
  /** The version of SQLite, or of PostgreSQL as the latest connection found it. */
  readVersion(): string;
  /** The numbers of transactions and of long reads that wait for their turn. */
  countWaiting(): { transactions: number; longReads: number };
  /** For the log: the path of the database, or another name that contains no password. */
  name: string;
  close(): Promise<void>;
}

/** A database that was found usable, without being opened by a server. */
export interface DatabaseState extends Pick<Database, 'name' | 'folder'> {
  /** The number of migrations that its tables have had; undefined if it has no tables yet. */
  version: number | undefined;
}

/**
 * How a transaction locks a row that it reads and that its changes depend on. Locks last until the end of the
 * transaction.
 *
 * - `share`: others may lock the row in the same way, and change it, but can neither delete it nor lock it exclusively.
 * - `exclusive`: no other transaction can lock, change or delete the row.
 */
export type RowLock = 'share' | 'exclusive';

export interface DatabaseOptions {
  /** The migrations of extensions. */
  extensions?: readonly MigrationOwner[];
  timings?: DatabaseTimings;
  /** Called with the text of each statement, without its values. */
  onStatement?: (sql: string) => void;
  /** Called with the reason of a fault, for the operator. At most once in ten seconds for the same reason. */
  onFault?: (reason: string) => void;
  /** Called when writes succeed again after a reported fault. */
  onRecovery?: () => void;
  /**
   * SQLite: a server has connections for several snapshots, and writes and recovers the write-ahead log that an earlier
   * process has left. A command does not, because it would delay a server on the database.
   */
  isServer?: boolean;
  /** Called with the reason if searches for a part of a text have no indexes, and read every row. */
  onMissingIndexes?: (reason: string) => void;
}

/** The options of an implementation. */
export type ImplementationOptions = DatabaseOptions & Required<Pick<DatabaseOptions, 'timings'>>;

/** The database cannot be used at all: it is corrupt, or newer than this program. The message is for the operator. */
export class DatabaseUnusable extends Error {
  override name = 'DatabaseUnusable';
}

/**
 * The database is not available now: nothing was stored, and nothing will be stored later. `reason` is for the
 * operator.
 */
export class DatabaseUnavailable extends ClientError {
  readonly reason: string;

  constructor(reason: string, options?: ErrorOptions) {
    super('SERVICE_UNAVAILABLE', undefined, {}, options);
    this.name = 'DatabaseUnavailable';
    this.reason = reason;
  }
}

/**
 * The error of an open that fails: one of the database, the connection or the system becomes a line for the operator. Any
 * other error is a bug of Postroom. `note` is added to the line.
 */
export function toUnusable(name: string, error: unknown, note = ''): unknown {
  if (!(error instanceof Error)) return error;
  if (!(error instanceof DatabaseUnusable || 'code' in error)) return error;
  const reason = error instanceof DatabaseUnavailable ? error.reason : error.message;
  return new DatabaseUnusable(`${name}: ${reason}${note}`, { cause: error });
}

/** The database ended a statement that took too long. To run it again would probably take as long. */
export class StatementTooSlow extends DatabaseUnavailable {}

/**
 * PostgreSQL: the connection was lost during a commit, and the server did not report its outcome in time. It must not be
 * answered as DatabaseUnavailable, which promises that nothing was stored. `reason` is for the operator.
 */
export class CommitOutcomeUnknown extends ClientError {
  readonly reason: string;

  constructor(reason: string, options?: ErrorOptions) {
    super('OUTCOME_UNKNOWN', undefined, {}, options);
    this.name = 'CommitOutcomeUnknown';
    this.reason = reason;
  }
}

/** The transaction was committed, but its results could not be read. */
export class CommitResultLost extends ClientError {
  constructor(options: ErrorOptions) {
    super('INTERNAL_SERVER_ERROR', 'The change was committed, but its result could not be read.', {}, options);
    this.name = 'CommitResultLost';
  }
}

/**
 * Settles as a transaction that can be repeated without harm, such as one that only counts: its outcome need not be known.
 * @throws ClientError SERVICE_UNAVAILABLE instead of CommitOutcomeUnknown.
 */
export async function asRepeatable<T>(transaction: Promise<T>): Promise<T> {
  try {
    return await transaction;
  } catch (error) {
    if (!(error instanceof CommitOutcomeUnknown)) throw error;
    throw new ClientError('SERVICE_UNAVAILABLE', undefined, {}, { cause: error });
  }
}

/** Another row has the same value in columns that must be unique. */
export class UniqueViolation extends Error {
  constructor(options: ErrorOptions) {
    super('a value that must be unique exists already', options);
    this.name = 'UniqueViolation';
  }
}
