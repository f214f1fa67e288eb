import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { TransactionOptions, Work } from '../database.ts';
import type { Tables } from '../tables.ts';
import { SqliteBusy } from './errors.ts';
import type { SqliteHealth } from './health.ts';

/** The maximum time that a transaction waits for its turn and for other processes that write. */
const timeoutMs = 5_000;
const retryMs = 1;
const tookTooLong = `no turn to write within ${timeoutMs} ms`;

interface Turn extends TransactionOptions {
  /** By `performance.now()`. */
  deadline: number;
}

/**
 * The only connection that writes; it runs one transaction after the other. A transaction that fails, is cancelled or
 * exceeds its deadline is never stored, neither now nor later.
 */
export class SqliteWriter {
  readonly #db: Kysely<Tables>;
  readonly #health: SqliteHealth;
  #lastTurn: Promise<unknown> = Promise.resolve();

  constructor(db: Kysely<Tables>, health: SqliteHealth) {
    this.#db = db;
    this.#health = health;
  }

  /** @throws DatabaseUnavailable, the reason of the cancellation, or any error of `work`. */
  transaction<T>(work: Work<T>, { cancellation }: TransactionOptions = {}): Promise<T> {
    // The deadline includes the wait for the turn.
    const deadline = performance.now() + timeoutMs;
    return this.#inTurn(() => this.#begin(work, { deadline, cancellation }));
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

  /** Repeats the attempt while another process writes, until the deadline. */
  async #begin<T>(work: Work<T>, turn: Turn): Promise<T> {
    for (;;) {
      turn.cancellation?.throwIfCancelled();
      this.#health.assertWritable();
      if (performance.now() > turn.deadline) throw new SqliteBusy(tookTooLong);
      const outcome = await this.#attempt(work, turn);
      if (outcome) return outcome.result;
      await sleep(retryMs);
    }
  }

  /** Returns undefined if another process is writing. */
  async #attempt<T>(work: Work<T>, { cancellation }: Turn): Promise<{ result: T } | undefined> {
    let hasBegun = false;
    try {
      const result = await this.#db.transaction().execute(async (transaction) => {
        hasBegun = true;
        const result = await work(transaction);
        // The statements that `work` has not awaited run in microtasks.
        await new Promise((resolve) => process.nextTick(resolve));
        // The commit is synchronous: no timer and no input is handled between this check and the commit.
        cancellation?.throwIfCancelled();
        this.#health.assertInPlace();
        return result;
      });
      this.#health.noteWrite();
      return { result };
    } catch (error) {
      if (!hasBegun && error instanceof SqliteBusy) return undefined;
      this.#health.noteFailure(error);
      throw error;
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(work);
    this.#lastTurn = turn.catch(() => {});
    return turn;
  }
}
