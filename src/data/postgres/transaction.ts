import { CommitOutcomeUnknown, CommitResultLost, type TransactionOptions, type Work } from '../database/database.ts';
import { createDb } from '../sql/sql-dialect.ts';
import { postgresDialect } from './dialect.ts';
import type { PostgresSession, StatementFailure } from './session.ts';

/** A transaction, which runs alone or as a member of a group. It settles after its commit. */
export class PostgresTransaction<T = unknown> {
  readonly #settle = Promise.withResolvers<T>();
  readonly promise = this.#settle.promise;
  readonly options: TransactionOptions;
  readonly #work: Work<T>;
  #session: PostgresSession | undefined;
  #outcome: { result: T } | { error: unknown } | undefined;

  constructor(work: Work<T>, options: TransactionOptions) {
    this.#work = work;
    this.options = options;
  }

  /** The first statement that failed. */
  get failure(): StatementFailure | undefined {
    return this.#session?.failure;
  }

  /** The error of the work, which may be that of a statement in other terms; undefined if it succeeded. */
  get workFailure(): { error: unknown } | undefined {
    return this.#outcome && 'error' in this.#outcome ? this.#outcome : undefined;
  }

  /** Runs the work. Never fails. */
  async run(session: PostgresSession): Promise<void> {
    const { cancellation } = this.options;
    this.#session = session;
    try {
      cancellation?.throwIfCancelled();
      this.#outcome = { result: await this.#work(createDb(session, postgresDialect)) };
    } catch (error) {
      this.#outcome = { error };
    }
    session.endWork();
  }

  /** Returns false if its work failed, or if it is cancelled: it then rejects, and nothing of it is stored. */
  beginCommit(): boolean {
    try {
      if (this.workFailure) throw this.workFailure.error;
      this.options.cancellation?.beginCommit();
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  /** Nothing was stored, so that it can run again. */
  endAttempt(): void {
    this.options.cancellation?.endCommit(false);
  }

  /** After the commit. */
  succeed(): void {
    this.options.cancellation?.endCommit(true);
    // Nobody waits for the results of statements that were sent together with the commit, and they are lost.
    if (this.failure?.isEnd === false) this.#settle.reject(new CommitResultLost({ cause: this.failure.error }));
    else if (this.#outcome && 'result' in this.#outcome) this.#settle.resolve(this.#outcome.result);
  }

  fail(error: unknown): void {
    this.options.cancellation?.endCommit(error instanceof CommitOutcomeUnknown);
    this.#settle.reject(error);
  }
}
