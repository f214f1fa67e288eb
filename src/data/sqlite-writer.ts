import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CompiledQuery,
  type ControlledTransaction,
  type DatabaseConnection,
  type Driver,
  type Kysely,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
  sql,
} from 'kysely';
import type { TransactionOptions, Work } from './database.ts';
import type { SqliteHealth } from './sqlite-health.ts';
import type { Tables } from './tables.ts';
import { DatabaseUnavailable } from './unavailable.ts';

/** How long a transaction waits for its turn, and for other processes that write. */
const timeoutMs = 5_000;
const retryMs = 1;

/** SQLite for the connection that writes. Its own `busy_timeout` is 0: the wait for other processes must not block this one. */
export class SqliteWriterDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;
  readonly #database: DatabaseSync;

  constructor(config: SqliteDialectConfig, database: DatabaseSync) {
    super(config);
    this.#config = config;
    this.#database = database;
  }

  override createDriver(): Driver {
    return new SqliteWriterDriver(this.#config, this.#database);
  }
}

class SqliteWriterDriver extends SqliteDriver {
  readonly #database: DatabaseSync;

  constructor(config: SqliteDialectConfig, database: DatabaseSync) {
    super(config);
    this.#database = database;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    // A transaction that begins by reading could not wait for its turn to write.
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /** After an error such as a full disk SQLite has rolled back by itself: https://www.sqlite.org/lang_transaction.html */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.isTransaction) await super.rollbackTransaction(connection);
  }
}

/**
 * The only connection that writes, one transaction after the other. A transaction that fails, is cancelled or comes too late is
 * never stored, neither now nor later.
 */
export class SqliteWriter {
  readonly #db: Kysely<Tables>;
  readonly #health: SqliteHealth;
  #lastTurn: Promise<unknown> = Promise.resolve();

  constructor(db: Kysely<Tables>, health: SqliteHealth) {
    this.#db = db;
    this.#health = health;
  }

  /** @throws DatabaseUnavailable, the reason of the cancellation, or what `work` throws. */
  transaction<T>(work: Work<T>, { cancellation }: TransactionOptions = {}): Promise<T> {
    // The caller's time runs while it waits for its turn.
    const deadline = performance.now() + timeoutMs;
    return this.#inTurn(async () => {
      const transaction = await this.#begin(deadline, cancellation);
      try {
        const result = await work(transaction);
        // The commit is synchronous: nothing comes between these checks and it.
        cancellation?.throwIfCancelled();
        this.#health.assertWritable();
        await transaction.commit().execute();
        this.#health.noteWrite();
        return result;
      } catch (error) {
        // What went wrong first is the error.
        await transaction
          .rollback()
          .execute()
          .catch(() => {});
        this.#health.noteFailure(error);
        throw error;
      }
    });
  }

  /** Moves the write-ahead log into the database and truncates it; false while a reader or another process needs it. */
  truncateLog(): Promise<boolean> {
    return this.#inTurn(async () => {
      this.#health.assertWritable();
      const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(this.#db);
      return rows[0]?.busy === 0;
    });
  }

  async close(): Promise<void> {
    await this.#inTurn(() => this.#db.destroy());
  }

  async #begin(
    deadline: number,
    cancellation: TransactionOptions['cancellation'],
  ): Promise<ControlledTransaction<Tables>> {
    for (;;) {
      cancellation?.throwIfCancelled();
      this.#health.assertWritable();
      if (performance.now() > deadline)
        throw new DatabaseUnavailable(`no turn to write within ${timeoutMs} ms`, { isBusy: true });
      try {
        return await this.#db.startTransaction().execute();
      } catch (error) {
        this.#health.noteFailure(error);
        if (!(error instanceof DatabaseUnavailable && error.isBusy)) throw error;
      }
      await sleep(retryMs);
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(work);
    this.#lastTurn = turn.catch(() => {});
    return turn;
  }
}
