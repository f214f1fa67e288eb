import { setTimeout as sleep } from 'node:timers/promises';
import type { TransactionOptions, Work } from '../database/database.ts';
import type { CommitMarks } from './commit-marks.ts';
import { isUnavailable, type Unavailability } from './errors.ts';
import type { ConnectionPool } from './pool.ts';
import { RoomTransactions } from './room-transactions.ts';
import { PostgresTransaction } from './transaction.ts';
import { runGroup } from './transaction-group.ts';

/** The time after which a transaction is not run again. */
const timeoutMs = 5_000;
const maxPauseMs = 20;

/** Runs transactions that write, each on a connection of its own, or in a group of its room. */
export class Transactions {
  readonly #pool: ConnectionPool;
  readonly #marks: CommitMarks;
  readonly #rooms: RoomTransactions;

  constructor(pool: ConnectionPool, marks: CommitMarks) {
    this.#pool = pool;
    this.#marks = marks;
    this.#rooms = new RoomTransactions({ pool, marks, runAlone: (transaction) => this.#runAlone(transaction) });
  }

  get waitingCount(): number {
    return this.#pool.waitingCount + this.#rooms.waitingCount;
  }

  /** @throws DatabaseUnavailable, CommitOutcomeUnknown, the reason of the cancellation, or any error of `work`. */
  run<T>(work: Work<T>, options: TransactionOptions = {}): Promise<T> {
    const transaction = new PostgresTransaction(work, options);
    if (options.room === undefined) void this.#runAlone(transaction as PostgresTransaction);
    else this.#rooms.run(options.room, transaction as PostgresTransaction);
    return transaction.promise;
  }

  /** Never fails: the transaction does. */
  async #runAlone(transaction: PostgresTransaction): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    const failedKinds: Unavailability[] = [];
    try {
      for (;;) {
        transaction.options.cancellation?.throwIfCancelled();
        const failed = await this.#pool.run((connection) => runGroup([transaction], connection, this.#marks));
        if (!failed) return;
        const { error } = failed;
        if (!isUnavailable(error, 'conflict', 'outdated', 'lost')) throw error;
        // A conflict ends when the other transaction does; the same other failure twice has another reason.
        const isHopeless = error.kind !== 'conflict' && failedKinds.includes(error.kind);
        if (isHopeless || performance.now() > deadline) throw error;
        failedKinds.push(error.kind);
        if (error.kind === 'conflict') await sleep(Math.random() * maxPauseMs);
      }
    } catch (error) {
      transaction.fail(error);
    } finally {
      transaction.settle();
    }
  }
}
