import type { CommitMark, CommitMarks } from './commit-marks.ts';
import type { PostgresConnection } from './connection.ts';
import type { GroupMember } from './group-member.ts';
import { PostgresSession, type StatementFailure, untilNextTick } from './session.ts';

/**
 * Runs transactions as one transaction of the server: first all of them read, and then the changes of all are sent with the
 * commit. The members that fail before the commit or are cancelled have sent no change, so the others continue.
 *
 * Settles the members. Never fails. If a statement fails, nothing is stored, and it returns the members that can run again,
 * each on its own.
 */
export async function runGroup(
  members: readonly GroupMember[],
  connection: PostgresConnection,
  marks: CommitMarks,
): Promise<readonly GroupMember[]> {
  const session = new PostgresSession(connection);
  session.sendUnawaited('begin isolation level read committed');
  const marking = marks.set(session).catch(() => undefined);
  await Promise.all(members.map((member) => member.run(connection)));
  const mark = await marking;
  await untilNextTick();
  const canCommit = mark !== undefined && !findFailure(members);
  const remaining = canCommit ? members.filter((member) => member.beginCommit()) : members;
  if (canCommit && remaining.length > 0) return commit(session, remaining, { mark, marks });
  await session.end('rollback');
  return remaining;
}

async function commit(
  session: PostgresSession,
  members: readonly GroupMember[],
  { mark, marks }: { mark: CommitMark; marks: CommitMarks },
): Promise<readonly GroupMember[]> {
  for (const member of members) member.sendChanges();
  const failureOfEnd = await session.end('commit');
  const failure = findFailure(members) ?? failureOfEnd;
  try {
    if (failure && !(await marks.isStored(mark, failure))) return members;
  } catch (error) {
    for (const member of members) member.fail(error);
    return [];
  }
  for (const member of members) member.succeed();
  return [];
}

/** Statements are answered in the order of the members. */
function findFailure(members: readonly GroupMember[]): StatementFailure | undefined {
  return members.find(({ failure }) => failure)?.failure;
}
