import { CommitOutcomeUnknown, CommitResultLost, type TransactionOptions, type Work } from '../database/database.ts';
import { createDb } from '../sql/sql-dialect.ts';
import type { PostgresConnection } from './connection.ts';
import { postgresDialect } from './dialect.ts';
import { PostgresSession, type StatementFailure } from './session.ts';

/**
 * The statements of one member of a group. After its work is done, those that it has not waited for are held until those
 * of the other members can follow them.
 */
class MemberSession extends PostgresSession {
  isWorkDone = false;

  protected override sendSoon(): void {
    if (this.isWorkDone) return;
    const change = this.waiting.find(({ sql }) => !sql.startsWith('select '));
    // It could not be undone without the changes of the other members.
    if (change) this.discard(new Error(`A transaction of a group must not wait for a change: ${change.sql}`));
    else this.flush();
  }
}

export type RunAlone = <T>(work: Work<T>, options: TransactionOptions) => Promise<T>;

/** A transaction that is waiting for a group, or is part of one. */
export class GroupMember<T = unknown> {
  readonly #settle = Promise.withResolvers<T>();
  readonly promise = this.#settle.promise;
  readonly #work: Work<T>;
  readonly #options: TransactionOptions;
  #session: MemberSession | undefined;
  #outcome: { result: T } | { error: unknown } | undefined;

  constructor(work: Work<T>, options: TransactionOptions) {
    this.#work = work;
    this.#options = options;
  }

  /** The first statement of this member that failed. */
  get failure(): StatementFailure | undefined {
    return this.#session?.failure;
  }

  /** Runs the work. Never fails. */
  async run(connection: PostgresConnection): Promise<void> {
    const session = new MemberSession(connection);
    this.#session = session;
    try {
      this.#options.cancellation?.throwIfCancelled();
      this.#outcome = { result: await this.#work(createDb(session, postgresDialect)) };
    } catch (error) {
      this.#outcome = { error };
    }
    session.isWorkDone = true;
  }

  /** Returns false if its work failed, or if it is cancelled: it then rejects, and nothing of it is sent. */
  beginCommit(): boolean {
    try {
      if (this.#outcome && 'error' in this.#outcome) throw this.#outcome.error;
      this.#options.cancellation?.beginCommit();
      return true;
    } catch (error) {
      this.#session?.discard(error);
      this.fail(error);
      return false;
    }
  }

  /** A statement that is started later is refused. */
  sendChanges(): void {
    this.#session?.flush();
    this.#session?.discard(new Error('The transaction has ended.'));
  }

  /** After the commit. */
  succeed(): void {
    this.#options.cancellation?.endCommit(true);
    if (this.failure) this.#settle.reject(new CommitResultLost({ cause: this.failure.error }));
    else if (this.#outcome && 'result' in this.#outcome) this.#settle.resolve(this.#outcome.result);
  }

  fail(error: unknown): void {
    this.#options.cancellation?.endCommit(error instanceof CommitOutcomeUnknown);
    this.#settle.reject(error);
  }

  /** Runs it in a transaction of its own. Never fails. */
  async runAlone(runAlone: RunAlone): Promise<void> {
    // Nothing of an earlier attempt was stored.
    this.#options.cancellation?.endCommit(false);
    await runAlone(this.#work, this.#options).then(this.#settle.resolve, this.#settle.reject);
  }
}
