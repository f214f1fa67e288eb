import type { SQLInputValue } from 'node:sqlite';
import type { CompiledQuery, QueryResult } from 'kysely';
import type { TransactionOptions, Work } from '../database/database.ts';
import { createDb, type StatementRunner } from '../sql/sql-dialect.ts';
import type { SqliteConnection } from './connection.ts';
import { sqliteDialect } from './dialect.ts';
import { SqliteBusy } from './errors.ts';

/** The maximum time that a transaction waits for its turn and for other processes that write. */
const timeoutMs = 5_000;

/**
 * A transaction that shares a transaction of the connection with others, and settles after their commit. The first of them
 * can be undone together with the transaction of the connection, which costs SQLite less than the savepoint of each other one.
 */
export class QueuedTransaction<T> implements StatementRunner {
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
