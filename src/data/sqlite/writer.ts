import { setTimeout as sleep } from 'node:timers/promises';
import type { TransactionOptions, Work } from '../database/database.ts';
import type { SqliteConnection } from './connection.ts';
import { SqliteBusy } from './errors.ts';
import type { SqliteHealth } from './health.ts';
import { QueuedTransaction } from './queued-transaction.ts';
import type { WriteAheadLog } from './wal/write-ahead-log.ts';

const retryMs = 1;
/** The time after which no further transaction joins a group: the event loop waits for its end. */
const maxGroupMs = 4;
/** The maximum time for which a group waits for the running flushes, so that more transactions join it. */
const maxGatherMs = 1;

interface WriterParts {
  connection: SqliteConnection;
  health: SqliteHealth;
  log: WriteAheadLog;
}

/**
 * The only connection that writes. Transactions that wait at the same time form a group: they run one after the other,
 * each further one inside a savepoint, and share one commit. Groups that commit during two flushes of the disk share the next one.
 */
export class SqliteWriter {
  readonly #parts: WriterParts;
  #queue: QueuedTransaction<unknown>[] = [];
  #isGroupDue = false;
  #lastTurn: Promise<unknown> = Promise.resolve();
  #isPurgeDue = false;
  /** Only one purge runs at a time, because each waits for its turn to write. */
  #purging: Promise<void> | undefined;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  get waitingCount(): number {
    return this.#queue.length;
  }

  /** @throws DatabaseUnavailable, the reason of the cancellation, or any error of `work`. */
  transaction<T>(work: Work<T>, options: TransactionOptions = {}): Promise<T> {
    const transaction = new QueuedTransaction(work, options);
    this.#queue.push(transaction as QueuedTransaction<unknown>);
    this.#requestGroup();
    return transaction.promise;
  }

  /**
   * Copies the write-ahead log, which still contains erased data, into the database and truncates it. Never fails and never
   * waits for readers: an unfinished purge stays due. The erasure itself is already committed.
   */
  async purge(): Promise<void> {
    // A truncation that already runs may have read the log before the latest erasure.
    await this.#purging;
    this.#isPurgeDue = true;
    await this.purgeIfDue();
  }

  async purgeIfDue(): Promise<void> {
    if (!this.#isPurgeDue) return;
    this.#purging ??= this.#inTurn(async () => this.#parts.log.truncate())
      .catch(() => false)
      .then((isDone) => {
        this.#isPurgeDue = !isDone;
        this.#purging = undefined;
      });
    await this.#purging;
  }

  checkpointIfDue(): void {
    this.#parts.log.checkpointIfDue((work) => this.#inTurn(work));
  }

  /** Fails the transactions that have waited too long, also while the disk does not answer. */
  refuseLate(): void {
    this.#queue = this.#queue.filter((transaction) => !this.#refuse(transaction));
  }

  /** Waits for all transactions. */
  async close(): Promise<void> {
    do await this.#lastTurn;
    while (this.#isGroupDue);
  }

  #requestGroup(): void {
    if (this.#isGroupDue) return;
    this.#isGroupDue = true;
    void this.#inTurn(async () => {
      // Transactions that arrive meanwhile join the group. During a long flush groups run, too. While
      // the disk does not answer no group begins, so that its transactions can still be refused.
      await this.#parts.log.waitForFlush(maxGatherMs);
      await new Promise(setImmediate);
      if (await this.#begin()) await this.#runGroup();
      this.#isGroupDue = false;
      if (this.#queue.length > 0) this.#requestGroup();
    });
  }

  /** Repeats the attempt while another process writes. Returns false if no transaction waits any more. */
  async #begin(): Promise<boolean> {
    for (;;) {
      this.refuseLate();
      if (this.#queue.length === 0) return false;
      if (this.#parts.log.hasSpace && this.#tryBegin()) return true;
      await sleep(retryMs);
    }
  }

  /** Whether it must not begin; it then fails. */
  #refuse(transaction: QueuedTransaction<unknown>): boolean {
    try {
      transaction.assertMayBegin();
      this.#parts.health.assertWritable();
      return false;
    } catch (reason) {
      transaction.fail(reason);
      return true;
    }
  }

  #tryBegin(): boolean {
    try {
      this.#parts.connection.execute('begin immediate');
      return true;
    } catch (error) {
      if (!(error instanceof SqliteBusy)) this.#failAll(this.#queue.splice(0), error);
      return false;
    }
  }

  async #runGroup(): Promise<void> {
    const group: QueuedTransaction<unknown>[] = [];
    try {
      await this.#runAll(group);
      const durable = this.#commit(group);
      for (const transaction of group) void transaction.settle(durable);
    } catch (error) {
      this.#parts.connection.rollback();
      this.#failAll(group, error);
    }
  }

  /** @throws the error after which the whole group is rolled back. */
  async #runAll(group: QueuedTransaction<unknown>[]): Promise<void> {
    const { connection, health } = this.#parts;
    const endsAt = performance.now() + maxGroupMs;
    do {
      const transaction = this.#queue.shift();
      if (!transaction) return;
      if (this.#refuse(transaction)) continue;
      group.push(transaction);
      await transaction.run(connection, group.length === 1);
      const { failure } = transaction;
      if (!connection.isTransaction) throw failure?.error;
      if (failure) health.noteFailure(failure.error);
    } while (performance.now() < endsAt);
  }

  /** The result settles when the commit is durable. Without a successful transaction there is nothing to commit. */
  #commit(group: readonly QueuedTransaction<unknown>[]): Promise<void> {
    const { connection, health, log } = this.#parts;
    if (group.every(({ failure }) => failure)) {
      connection.rollback();
      return Promise.resolve();
    }
    health.assertInPlace();
    connection.execute('commit');
    health.noteWrite();
    this.checkpointIfDue();
    return log.flush();
  }

  #failAll(group: readonly QueuedTransaction<unknown>[], error: unknown): void {
    this.#parts.health.noteFailure(error);
    for (const transaction of group) transaction.fail(error);
  }

  /** Groups, and work that must not run at the same time as a group, run one after the other. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(work);
    this.#lastTurn = turn.catch(() => {});
    return turn;
  }
}
