import type { TransactionOptions, Work } from '../database.ts';
import type { SqliteConnection } from './connection.ts';
import { toDb } from './dialect.ts';
import { SqliteBusy } from './errors.ts';
import { Savepoint } from './savepoint.ts';

/** The maximum time that a transaction waits for its turn and for other processes that write. */
const timeoutMs = 5_000;

/** A transaction that shares its commit with others, and settles after this commit. */
export class QueuedTransaction<T> {
  readonly promise: Promise<T>;
  readonly #settle: PromiseWithResolvers<T>;
  readonly #work: Work<T>;
  readonly #cancellation: TransactionOptions['cancellation'];
  /** By `performance.now()`; it includes the wait for the turn. */
  readonly #deadline = performance.now() + timeoutMs;
  #outcome: { result: T } | { error: unknown } | undefined;

  constructor(work: Work<T>, { cancellation }: TransactionOptions) {
    this.#work = work;
    this.#cancellation = cancellation;
    this.#settle = Promise.withResolvers();
    this.promise = this.#settle.promise;
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
    let savepoint: Savepoint | undefined;
    try {
      savepoint = new Savepoint(connection, isFirst);
      const result = await this.#work(toDb(savepoint));
      await savepoint.end();
      this.#cancellation?.beginCommit();
      savepoint.release();
      this.#outcome = { result };
    } catch (error) {
      await savepoint?.rollBack();
      this.#outcome = { error };
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
}
