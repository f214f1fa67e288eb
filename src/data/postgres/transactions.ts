import { setTimeout as sleep } from 'node:timers/promises';
import { CommitOutcomeUnknown, CommitResultLost, type TransactionOptions, type Work } from '../database/database.ts';
import { createDb } from '../sql/sql-dialect.ts';
import type { CommitMark, CommitMarks } from './commit-marks.ts';
import { postgresDialect } from './dialect.ts';
import { isUnavailable, type PostgresUnavailable, type Unavailability } from './errors.ts';
import type { ConnectionPool } from './pool.ts';
import { RoomTransactions } from './room-transactions.ts';
import { PostgresSession, untilNextTick } from './session.ts';

/** The time after which a transaction is not run again. */
const timeoutMs = 5_000;
const maxPauseMs = 20;

type Cancellation = TransactionOptions['cancellation'];
type Attempt<T> = { result: T } | { failure: PostgresUnavailable };

/** Runs transactions that write, each on a connection of its own, or in a group of its room. */
export class Transactions {
  readonly #pool: ConnectionPool;
  readonly #marks: CommitMarks;
  readonly #rooms: RoomTransactions;

  constructor(pool: ConnectionPool, marks: CommitMarks) {
    this.#pool = pool;
    this.#marks = marks;
    this.#rooms = new RoomTransactions({ pool, marks, runAlone: (work, options) => this.#runAlone(work, options) });
  }

  get waitingCount(): number {
    return this.#pool.waitingCount + this.#rooms.waitingCount;
  }

  /** @throws DatabaseUnavailable, CommitOutcomeUnknown, the reason of the cancellation, or any error of `work`. */
  run<T>(work: Work<T>, options: TransactionOptions = {}): Promise<T> {
    return options.room === undefined ? this.#runAlone(work, options) : this.#rooms.run(options.room, work, options);
  }

  async #runAlone<T>(work: Work<T>, { cancellation }: TransactionOptions): Promise<T> {
    const deadline = performance.now() + timeoutMs;
    const failedKinds: Unavailability[] = [];
    for (;;) {
      cancellation?.throwIfCancelled();
      const attempt = await this.#pool.run((connection) =>
        this.#attempt(new PostgresSession(connection), work, cancellation),
      );
      if ('result' in attempt) return attempt.result;
      const { kind } = attempt.failure;
      // A conflict ends when the other transaction does; the same other failure twice has another reason.
      const isHopeless = kind !== 'conflict' && failedKinds.includes(kind);
      if (isHopeless || performance.now() > deadline) throw attempt.failure;
      failedKinds.push(kind);
      if (kind === 'conflict') await sleep(Math.random() * maxPauseMs);
    }
  }

  /** Returns the failure if the transaction was rolled back and can run again. */
  async #attempt<T>(session: PostgresSession, work: Work<T>, cancellation: Cancellation): Promise<Attempt<T>> {
    try {
      return { result: await this.#runIn(session, work, cancellation) };
    } catch (error) {
      if (isUnavailable(error, 'conflict', 'outdated', 'lost')) return { failure: error };
      throw error;
    }
  }

  async #runIn<T>(session: PostgresSession, work: Work<T>, cancellation: Cancellation): Promise<T> {
    // They leave with the first statement of `work`.
    session.sendUnawaited('begin isolation level read committed');
    const marking = this.#marks.set(session);
    marking.catch(() => {});
    let result: T;
    let mark: CommitMark;
    try {
      result = await work(createDb(session, postgresDialect));
      mark = await marking;
      await untilNextTick();
      if (session.failure) throw session.failure.error;
      cancellation?.beginCommit();
    } catch (error) {
      await session.end('rollback');
      throw error;
    }
    return this.#commit(session, mark, cancellation).then(() => result);
  }

  async #commit(session: PostgresSession, mark: CommitMark, cancellation: Cancellation): Promise<void> {
    try {
      const failure = await session.end('commit');
      if (failure && !(await this.#marks.isStored(mark, failure))) throw failure.error;
      // Nobody waits for the results of statements that were sent together with the commit, and they are lost.
      if (failure?.isEnd === false) throw new CommitResultLost({ cause: failure.error });
      cancellation?.endCommit(true);
    } catch (error) {
      cancellation?.endCommit(error instanceof CommitOutcomeUnknown || error instanceof CommitResultLost);
      throw error;
    }
  }
}
