import { setTimeout as sleep } from 'node:timers/promises';
import { CommitOutcomeUnknown } from '../database/database.ts';
import type { PostgresConnection } from './connection.ts';
import { isUnavailable, PostgresUnavailable } from './errors.ts';
import type { PostgresSession, StatementFailure } from './session.ts';

/** The maximum time to find the outcome of a commit: longer than a server needs to end a transaction that is idle. */
const timeoutMs = 15_000;
const retryMs = 100;
/** Marks of connections that ended long ago are deleted. */
const retentionMs = 7 * 24 * 3_600_000;

const setMark = `insert into "commitMarks" ("id", "mark", "at") values ($1, $2, $3)
  on conflict ("id") do update set "mark" = excluded."mark", "at" = excluded."at"`;
/** Waits for the end of a transaction that has set the mark, also if it inserts the row. */
const lockMark = `insert into "commitMarks" ("id", "mark", "at") values ($1, 0, $2)
  on conflict ("id") do update set "at" = excluded."at" returning "mark"`;
const deleteOld = `delete from "commitMarks" where "at" < $1`;

export interface CommitMark {
  /** The id of the connection: transactions do not wait for each other. */
  id: string;
  mark: number;
}

/**
 * Each transaction stores a mark of its own. If its connection is lost during COMMIT, the stored mark is the outcome.
 *
 * A transaction id (`pg_xact_status`) would not do: after a crash or a failover, the id of a transaction that was lost is
 * assigned again.
 */
export class CommitMarks {
  readonly #open: () => Promise<PostgresConnection>;
  #lastMark = 0;

  constructor(open: () => Promise<PostgresConnection>) {
    this.#open = open;
  }

  /** Stores a mark at the beginning of the transaction. Resolves when the server has answered. */
  async set(session: PostgresSession): Promise<CommitMark> {
    const { id } = session.connection;
    this.#lastMark += 1;
    const mark = this.#lastMark;
    await session.send(setMark, [id, mark, Date.now()]);
    return { id, mark };
  }

  /** Whether the transaction of the mark was committed although a statement failed. @throws CommitOutcomeUnknown */
  async isStored(mark: CommitMark, { error, isEnd }: StatementFailure): Promise<boolean> {
    // An error of COMMIT itself, such as a disk that fails, does not prove that nothing was stored.
    return (isEnd || isUnavailable(error, 'lost')) && this.#isLatest(mark);
  }

  /**
   * Whether the latest committed mark of its connection is this one: no later transaction has used the connection. Tries
   * again until the server answers. @throws CommitOutcomeUnknown
   */
  async #isLatest({ id, mark }: CommitMark): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      try {
        return (await this.#readLatest(id)) === mark;
      } catch (error) {
        if (!(error instanceof PostgresUnavailable)) throw new CommitOutcomeUnknown(String(error), { cause: error });
        if (performance.now() > deadline) throw new CommitOutcomeUnknown(error.reason, { cause: error });
        await sleep(retryMs);
      }
    }
  }

  static async deleteOld(connection: PostgresConnection): Promise<void> {
    await connection.send(deleteOld, [Date.now() - retentionMs]);
  }

  /** The latest committed mark of a connection. Waits for the end of its last transaction. */
  async #readLatest(id: string): Promise<number | undefined> {
    const connection = await this.#open();
    try {
      const { rows } = await connection.send<{ mark: number }>(lockMark, [id, Date.now()]);
      return rows[0]?.mark;
    } finally {
      connection.destroy();
    }
  }
}
