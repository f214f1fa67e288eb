import type { SQLInputValue } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CompiledQuery, QueryResult } from 'kysely';
import type { TransactionOptions, Work } from '../database/database.ts';
import { createDb, type StatementRunner } from '../sql/sql-dialect.ts';
import type { SqliteConnection } from './connection.ts';
import { sqliteDialect } from './dialect.ts';
import { SqliteBusy } from './errors.ts';
import type { SqliteHealth } from './health.ts';
import type { WriteAheadLog } from './wal/write-ahead-log.ts';

/** The maximum time that a transaction waits for its turn and for other processes that write. */
const timeoutMs = 5_000;
const retryMs = 1;
/** The time after which no further transaction joins a group: the event loop waits for its end. */
const maxGroupMs = 4;
/** The maximum time for which a group waits for the running flushes, so that more transactions join it. */
const maxGatherMs = 1;

interface WriterParts {
  connection: SqliteConnection;
  health: SqliteHealth;
  log: WriteAheadLog;
}

/**
 * The only connection that writes. Transactions that wait at the same time form a group: they run one after the other,
 * each further one inside a savepoint, and share one commit. Groups that commit during two flushes of the disk share the next one.
 */
export class SqliteWriter {
  readonly #parts: WriterParts;
  #queue: QueuedTransaction[] = [];
  #isGroupDue = false;
  #lastTurn: Promise<unknown> = Promise.resolve();
  #isPurgeDue = false;
  /** Only one purge runs at a time, because each waits for its turn to write. */
  #purging: Promise<void> | undefined;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  get waitingCount(): number {
    return this.#queue.length;
  }

  /** @throws DatabaseUnavailable, the reason of the cancellation, or any error of `work`. */
  transaction<T>(work: Work<T>, options: TransactionOptions = {}): Promise<T> {
    const transaction = new QueuedTransaction(work, options);
    this.#queue.push(transaction as QueuedTransaction);
    this.#requestGroup();
    return transaction.promise;
  }

  /**
   * Copies the write-ahead log, which still contains erased data, into the database and truncates it. Never fails and never
   * waits for readers: an unfinished purge stays due. The erasure itself is already committed.
   */
  async purge(): Promise<void> {
    // A truncation that already runs may have read the log before the latest erasure.
    await this.#purging;
    this.#isPurgeDue = true;
    await this.purgeIfDue();
  }

  async purgeIfDue(): Promise<void> {
    if (!this.#isPurgeDue) return;
    this.#purging ??= this.#inTurn(async () => this.#parts.log.truncate())
      .catch(() => false)
      .then((isDone) => {
        this.#isPurgeDue = !isDone;
        this.#purging = undefined;
      });
    await this.#purging;
  }

  checkpointIfDue(): void {
    this.#parts.log.checkpointIfDue((work) => this.#inTurn(work));
  }

  /** Fails the transactions that have waited too long, also while the disk does not answer. */
  refuseLate(): void {
    this.#queue = this.#queue.filter((transaction) => !this.#refuse(transaction));
  }

  /** Waits for all transactions. */
  async close(): Promise<void> {
    do await this.#lastTurn;
    while (this.#isGroupDue);
  }

  #requestGroup(): void {
    if (this.#isGroupDue) return;
    this.#isGroupDue = true;
    void this.#inTurn(async () => {
      // Transactions that arrive meanwhile join the group. During a long flush groups run, too. While
      // the disk does not answer no group begins, so that its transactions can still be refused.
      await this.#parts.log.flush.waitFor(maxGatherMs);
      await new Promise(setImmediate);
      if (await this.#begin()) await this.#runGroup();
      this.#isGroupDue = false;
      if (this.#queue.length > 0) this.#requestGroup();
    });
  }

  /** Repeats the attempt while another process writes. Returns false if no transaction waits any more. */
  async #begin(): Promise<boolean> {
    for (;;) {
      this.refuseLate();
      if (this.#queue.length === 0) return false;
      if (this.#parts.log.hasSpace && this.#tryBegin()) return true;
      await sleep(retryMs);
    }
  }

  /** Whether it must not begin; it then fails. */
  #refuse(transaction: QueuedTransaction): boolean {
    try {
      transaction.assertMayBegin();
      this.#parts.health.assertWritable();
      return false;
    } catch (reason) {
      transaction.fail(reason);
      return true;
    }
  }

  #tryBegin(): boolean {
    try {
      this.#parts.connection.execute('begin immediate');
      return true;
    } catch (error) {
      if (!(error instanceof SqliteBusy)) this.#failAll(this.#queue.splice(0), error);
      return false;
    }
  }

  async #runGroup(): Promise<void> {
    const group: QueuedTransaction[] = [];
    try {
      await this.#runAll(group);
      const durable = this.#commit(group);
      for (const transaction of group) void transaction.settle(durable);
    } catch (error) {
      this.#parts.connection.rollback();
      this.#failAll(group, error);
    }
  }

  /** @throws the error after which the whole group is rolled back. */
  async #runAll(group: QueuedTransaction[]): Promise<void> {
    const { connection, health } = this.#parts;
    const endsAt = performance.now() + maxGroupMs;
    do {
      const transaction = this.#queue.shift();
      if (!transaction) return;
      if (this.#refuse(transaction)) continue;
      group.push(transaction);
      await transaction.run(connection, group.length === 1);
      const { failure } = transaction;
      if (!connection.isTransaction) throw failure?.error;
      if (failure) health.noteFailure(failure.error);
    } while (performance.now() < endsAt);
  }

  /** The result settles when the commit is durable. Without a successful transaction there is nothing to commit. */
  #commit(group: readonly QueuedTransaction[]): Promise<void> {
    const { connection, health, log } = this.#parts;
    if (group.every(({ failure }) => failure)) {
      connection.rollback();
      return Promise.resolve();
    }
    health.assertInPlace();
    connection.execute('commit');
    health.noteWrite();
    this.checkpointIfDue();
    return log.flush.run();
  }

  #failAll(group: readonly QueuedTransaction[], error: unknown): void {
    this.#parts.health.noteFailure(error);
    for (const transaction of group) transaction.fail(error);
  }

  /** Groups, and work that must not run at the same time as a group, run one after the other. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(work);
    this.#lastTurn = turn.catch(() => {});
    return turn;
  }
}

/**
 * A transaction that shares a transaction of the connection with others, and settles after their commit. The first of them
 * can be undone together with the transaction of the connection, which costs SQLite less than the savepoint of each other one.
 */
class QueuedTransaction<T = unknown> implements StatementRunner {
  readonly #settle = Promise.withResolvers<T>();
  readonly promise = this.#settle.promise;
  readonly #work: Work<T>;
  readonly #cancellation: TransactionOptions['cancellation'];
  /** By `performance.now()`; it includes the wait for the turn. */
  readonly #deadline = performance.now() + timeoutMs;
  /** Undefined before the work begins and after it has ended. */
  #connection: SqliteConnection | undefined;
  #failedStatement: { error: unknown } | undefined;
  #outcome: { result: T } | { error: unknown } | undefined;

  constructor(work: Work<T>, { cancellation }: TransactionOptions) {
    this.#work = work;
    this.#cancellation = cancellation;
  }

  /** @throws SqliteBusy after its deadline, or the reason of the cancellation. */
  assertMayBegin(): void {
    this.#cancellation?.throwIfCancelled();
    if (performance.now() > this.#deadline) throw new SqliteBusy(`no turn to write within ${timeoutMs} ms`);
  }

  /** Undefined if it succeeded. */
  get failure(): { error: unknown } | undefined {
    return this.#outcome && 'error' in this.#outcome ? this.#outcome : undefined;
  }

  /**
   * Runs the work. Never fails: a failure undoes its own changes only, or ends the transaction of the connection if this
   * is the first work in it or SQLite has rolled it back.
   */
  async run(connection: SqliteConnection, isFirst: boolean): Promise<void> {
    try {
      if (!isFirst) connection.execute('savepoint turn');
      this.#connection = connection;
      const result = await this.#work(createDb(this, sqliteDialect));
      await this.#endStatements();
      if (this.#failedStatement) throw this.#failedStatement.error;
      this.#cancellation?.beginCommit();
      if (!isFirst) connection.execute('release turn');
      this.#outcome = { result };
    } catch (error) {
      await this.#endStatements();
      this.#outcome = { error };
      undo(connection, isFirst);
    }
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    if (!this.#connection) throw new Error('The transaction has ended.');
    try {
      return this.#connection.execute(sql, parameters as readonly SQLInputValue[]) as QueryResult<Row>;
    } catch (error) {
      this.#failedStatement ??= { error };
      throw error;
    }
  }

  /** Settles it after the commit. `durable` resolves when the commit is durable. */
  async settle(durable: Promise<void>): Promise<void> {
    if (!this.#outcome || 'error' in this.#outcome) return this.fail(this.failure?.error);
    await durable;
    this.#cancellation?.endCommit(true);
    this.#settle.resolve(this.#outcome.result);
  }

  /** Nothing of it is stored, and nothing will be. */
  fail(error: unknown): void {
    this.#cancellation?.endCommit(false);
    this.#settle.reject(error);
  }

  /** Waits for statements that the work has not awaited: they run in microtasks, which run before the next tick. */
  async #endStatements(): Promise<void> {
    await new Promise<void>((resolve) => process.nextTick(resolve));
    this.#connection = undefined;
  }
}

/** After some errors (a full disk) SQLite has already rolled back the whole transaction. Never fails. */
function undo(connection: SqliteConnection, isFirst: boolean): void {
  if (isFirst) return connection.rollback();
  if (!connection.isTransaction) return;
  try {
    connection.execute('rollback to turn');
    connection.execute('release turn');
  } catch {
    connection.rollback();
  }
}
