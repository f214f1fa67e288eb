import type { SQLInputValue } from 'node:sqlite';
import type { CompiledQuery, QueryResult } from 'kysely';
import type { StatementRunner } from '../sql/query-builder.ts';
import type { SqliteConnection } from './connection.ts';

/**
 * The statements of one transaction, inside a transaction of the connection that it shares with others. The first of them
 * can be undone together with the transaction of the connection, which costs SQLite less than a savepoint.
 */
export class Savepoint implements StatementRunner {
  readonly #connection: SqliteConnection;
  readonly #isFirst: boolean;
  #failure: { error: unknown } | undefined;
  #isOpen = true;

  constructor(connection: SqliteConnection, isFirst: boolean) {
    this.#connection = connection;
    this.#isFirst = isFirst;
    if (!isFirst) connection.execute('savepoint turn');
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    if (!this.#isOpen) throw new Error('The transaction has ended.');
    try {
      return this.#connection.execute(sql, parameters as readonly SQLInputValue[]) as QueryResult<Row>;
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
  }

  /** Waits for statements that the caller has not awaited. @throws the error of the first failed statement. */
  async end(): Promise<void> {
    // They run in microtasks, which run before the next tick.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    this.#isOpen = false;
    if (this.#failure) throw this.#failure.error;
  }

  release(): void {
    if (!this.#isFirst) this.#connection.execute('release turn');
  }

  /** After some errors (a full disk) SQLite has already rolled back the whole transaction. Never fails. */
  async rollBack(): Promise<void> {
    await this.end().catch(() => {});
    if (this.#isFirst) return this.#connection.rollback();
    if (!this.#connection.isTransaction) return;
    try {
      this.#connection.execute('rollback to turn');
      this.release();
    } catch {
      this.#connection.rollback();
    }
  }
}
