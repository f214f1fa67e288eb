import type { CommitMark, CommitMarks } from './commit-marks.ts';
import type { PostgresConnection } from './connection.ts';
import type { GroupMember } from './group-member.ts';
import { Session, type StatementFailure, untilNextTick } from './session.ts';

/**
 * Transactions that run as one transaction of the server: first all of them read, and then the changes of all are sent
 * with the commit. The members that fail before the commit or are cancelled have sent no change, so the others
 * continue.
 */
export class TransactionGroup {
  readonly #members: readonly GroupMember[];
  readonly #marks: CommitMarks;
  readonly #session: Session;

  constructor(members: readonly GroupMember[], connection: PostgresConnection, marks: CommitMarks) {
    this.#members = members;
    this.#marks = marks;
    this.#session = new Session(connection);
  }

  /**
   * Settles the members. Never fails. If a statement fails, nothing is stored, and it returns the members that can run
   * again, each on its own.
   */
  async run(): Promise<readonly GroupMember[]> {
    const mark = await this.#runMembers();
    const members = mark ? this.#members.filter((member) => member.beginCommit()) : this.#members;
    if (mark && members.length > 0) return this.#commit(members, mark);
    await this.#session.end('rollback');
    return members;
  }

  /** Returns undefined if a statement failed. */
  async #runMembers(): Promise<CommitMark | undefined> {
    this.#session.sendUnawaited('begin isolation level read committed');
    const marking = this.#marks.set(this.#session).catch(() => undefined);
    await Promise.all(this.#members.map((member) => member.run(this.#session.connection)));
    const mark = await marking;
    await untilNextTick();
    return this.#members.some(({ failure }) => failure) ? undefined : mark;
  }

  async #commit(members: readonly GroupMember[], mark: CommitMark): Promise<readonly GroupMember[]> {
    for (const member of members) member.sendChanges();
    const failureOfEnd = await this.#session.end('commit');
    const failure = findFailure(members) ?? failureOfEnd;
    try {
      if (failure && !(await this.#marks.isStored(mark, failure))) return members;
    } catch (error) {
      for (const member of members) member.fail(error);
      return [];
    }
    for (const member of members) member.succeed();
    return [];
  }
}

/** Statements are answered in the order of the members. */
function findFailure(members: readonly GroupMember[]): StatementFailure | undefined {
  return members.find(({ failure }) => failure)?.failure;
}
