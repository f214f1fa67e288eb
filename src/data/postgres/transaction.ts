import { CommitOutcomeUnknown, CommitResultLost, type TransactionOptions, type Work } from '../database/database.ts';
import { createDb } from '../sql/sql-dialect.ts';
import type { CommitMark, CommitMarks } from './commit-marks.ts';
import type { PostgresConnection } from './connection.ts';
import { postgresDialect } from './dialect.ts';
import { PostgresSession, type StatementFailure } from './session.ts';

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

/** Nothing was stored, and these transactions can run again. */
interface GroupFailure {
  error: unknown;
  transactions: readonly PostgresTransaction[];
}

/**
 * Runs one or more transactions as one transaction of the server. Of several, first all read, and then the changes of all are
 * sent with the commit: those that fail before the commit or are cancelled have sent no change, so the others continue.
 *
 * Each transaction succeeds or fails, or the failure of a statement is returned. Never fails.
 */
export async function runGroup(
  transactions: readonly PostgresTransaction[],
  connection: PostgresConnection,
  marks: CommitMarks,
): Promise<GroupFailure | undefined> {
  const session = new PostgresSession(connection);
  session.sendUnawaited('begin isolation level read committed');
  const marking = marks.set(session).catch(() => undefined);
  const isAlone = transactions.length === 1;
  const members = new Map(
    transactions.map((one) => [one, isAlone ? session : new PostgresSession(connection, { isMember: true })]),
  );
  await Promise.all(Array.from(members, ([transaction, own]) => transaction.run(own)));
  const mark = await marking;
  // Statements that the work has not awaited are sent in microtasks, which run before the next tick.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  const failure = (isAlone && transactions[0]?.workFailure) || findFailure(transactions) || session.failure;
  const committing = failure ? [] : transactions.filter((transaction) => transaction.beginCommit());
  for (const [transaction, own] of isAlone ? [] : members) {
    if (committing.includes(transaction)) own.flush();
    own.discard(new Error('The transaction has ended.'));
  }
  if (!mark || committing.length === 0) {
    await session.end('rollback');
    return failure && { error: failure.error, transactions };
  }
  return commit(session, committing, { mark, marks });
}

/** The changes of the members of a group have been sent before. */
async function commit(
  session: PostgresSession,
  transactions: readonly PostgresTransaction[],
  { mark, marks }: { mark: CommitMark; marks: CommitMarks },
): Promise<GroupFailure | undefined> {
  const failureOfEnd = await session.end('commit');
  const failure = findFailure(transactions) ?? failureOfEnd;
  try {
    if (failure && !(await marks.isStored(mark, failure))) {
      for (const transaction of transactions) transaction.endAttempt();
      return { error: failure.error, transactions };
    }
    for (const transaction of transactions) transaction.succeed();
  } catch (error) {
    for (const transaction of transactions) transaction.fail(error);
  }
  return undefined;
}

/** Statements are answered in the order of the transactions. */
function findFailure(transactions: readonly PostgresTransaction[]): StatementFailure | undefined {
  return transactions.find(({ failure }) => failure)?.failure;
}
