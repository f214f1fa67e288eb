import type { CommitMark, CommitMarks } from './commit-marks.ts';
import type { PostgresConnection } from './connection.ts';
import { PostgresSession, type StatementFailure, untilNextTick } from './session.ts';
import type { PostgresTransaction } from './transaction.ts';

/**
 * The statements of one of several transactions. After its work is done, those that it has not waited for are held until
 * those of the others can follow them.
 */
class MemberSession extends PostgresSession {
  #isWorkDone = false;

  override endWork(): void {
    this.#isWorkDone = true;
  }

  protected override sendSoon(): void {
    if (this.#isWorkDone) return;
    const change = this.waiting.find(({ sql }) => !sql.startsWith('select '));
    // It could not be undone without the changes of the others.
    if (change) this.discard(new Error(`A transaction of a group must not wait for a change: ${change.sql}`));
    else this.flush();
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
  const members = new Map(transactions.map((one) => [one, isAlone ? session : new MemberSession(connection)]));
  await Promise.all(Array.from(members, ([transaction, own]) => transaction.run(own)));
  const mark = await marking;
  await untilNextTick();
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
