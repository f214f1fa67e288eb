import { CommitOutcomeUnknown, CommitResultLost, type TransactionOptions, type Work } from '../database/database.ts';
import { createDb } from '../sql/sql-dialect.ts';
import { postgresDialect } from './dialect.ts';
import type { PostgresSession, StatementFailure } from './session.ts';

/** A transaction, which runs alone or as a member of a group. */
export class PostgresTransaction<T = unknown> {
  readonly #settled = Promise.withResolvers<T>();
  readonly promise = this.#settled.promise;
  readonly options: TransactionOptions;
  readonly #work: Work<T>;
  #session: PostgresSession | undefined;
  #outcome: { result: T } | { error: unknown } | undefined;
  #settle: (() => void) | undefined;

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

  /** Returns false if its work failed, or if it is cancelled: it has failed then, and nothing of it is stored. */
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
    const { reject, resolve } = this.#settled;
    const lost = this.failure?.isEnd === false && new CommitResultLost({ cause: this.failure.error });
    if (lost) this.#settle = () => reject(lost);
    else if (this.#outcome && 'result' in this.#outcome) this.#settle = resolve.bind(undefined, this.#outcome.result);
  }

  fail(error: unknown): void {
    this.options.cancellation?.endCommit(error instanceof CommitOutcomeUnknown);
    this.#settle = () => this.#settled.reject(error);
  }

  /** Settles the promise, if the transaction has succeeded or failed: when its connection is free, so that the caller's next one finds it. */
  settle(): void {
    this.#settle?.();
  }
}
