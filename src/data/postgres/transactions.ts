import { setTimeout as sleep } from 'node:timers/promises';
import type { TransactionOptions, Work } from '../database/database.ts';
import type { CommitMarks } from './commit-marks.ts';
import { isUnavailable, PostgresUnavailable, type Unavailability } from './errors.ts';
import type { ConnectionPool } from './pools.ts';
import { PostgresTransaction, runGroup } from './transaction.ts';

/** The time after which a transaction is not run again, or no longer waits for the group of its room. */
const timeoutMs = 5_000;
const maxPauseMs = 20;
/** Of a room. While one group waits for the disk, the other one reads. A third one would only wait for the lock of the room. */
const maxRunning = 2;
/** The row of the room is locked while the changes of all members are stored: about ten milliseconds. */
const maxMembers = 32;
/** The maximum number of transactions of a room that wait. */
const maxWaiting = 1_000;

interface Waiting {
  transaction: PostgresTransaction;
  timer: NodeJS.Timeout;
}

interface Room {
  running: number;
  waiting: Waiting[];
}

/**
 * Runs transactions that write, each on a connection of its own, or in a group of its room: each transaction of a room
 * changes its row, which is locked until the commit has been flushed, so those that wait at the same time form a group
 * with one commit.
 */
export class Transactions {
  readonly #pool: ConnectionPool;
  readonly #marks: CommitMarks;
  readonly #rooms = new Map<string, Room>();

  constructor(pool: ConnectionPool, marks: CommitMarks) {
    this.#pool = pool;
    this.#marks = marks;
  }

  get waitingCount(): number {
    return this.#rooms.values().reduce((count, { waiting }) => count + waiting.length, this.#pool.waitingCount);
  }

  /** @throws DatabaseUnavailable, CommitOutcomeUnknown, the reason of the cancellation, or any error of `work`. */
  run<T>(work: Work<T>, options: TransactionOptions = {}): Promise<T> {
    const transaction = new PostgresTransaction(work, options);
    if (options.room === undefined) void this.#runAlone(transaction as PostgresTransaction);
    else this.#runInRoom(options.room, transaction as PostgresTransaction);
    return transaction.promise;
  }

  #runInRoom(roomId: string, transaction: PostgresTransaction): void {
    const room = this.#rooms.get(roomId) ?? { running: 0, waiting: [] };
    if (room.running === maxRunning) return waitForGroup(room, transaction);
    this.#rooms.set(roomId, room);
    room.running += 1;
    void this.#runAndTakeWaiting(roomId, room, transaction);
  }

  async #runAndTakeWaiting(roomId: string, room: Room, first: PostgresTransaction): Promise<void> {
    await this.#runAlone(first);
    while (room.waiting.length > 0) {
      // The requests of clients that have just received an answer join the group.
      await new Promise(setImmediate);
      const group = takeGroup(room);
      const alone = group.length > 1 ? await this.#runTogether(group) : group;
      await Promise.all(alone.map((transaction) => this.#runAlone(transaction)));
    }
    room.running -= 1;
    if (room.running === 0) this.#rooms.delete(roomId);
  }

  /** Returns the transactions that must run alone. Never fails: the transactions do. */
  async #runTogether(group: readonly PostgresTransaction[]): Promise<readonly PostgresTransaction[]> {
    try {
      const failed = await this.#pool.run((connection) => runGroup(group, connection, this.#marks));
      return failed?.transactions ?? [];
    } catch (error) {
      for (const transaction of group) transaction.fail(error);
      return [];
    } finally {
      for (const transaction of group) transaction.settle();
    }
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

function waitForGroup({ waiting }: Room, transaction: PostgresTransaction): void {
  function refuse(reason: string): void {
    transaction.fail(new PostgresUnavailable('busy', reason));
    transaction.settle();
  }
  if (waiting.length >= maxWaiting) return refuse(`${maxWaiting} changes of the room wait already`);
  const timer = setTimeout(() => {
    waiting.splice(waiting.indexOf(entry), 1);
    refuse(`the room could not be changed within ${timeoutMs} ms`);
  }, timeoutMs);
  const entry = { transaction, timer };
  waiting.push(entry);
}

/** Takes the transactions of the next group, which no longer wait. */
function takeGroup({ waiting }: Room): PostgresTransaction[] {
  const taken = waiting.splice(0, maxMembers);
  for (const { timer } of taken) clearTimeout(timer);
  // All groups lock rows of users in the same order, so that no two of them wait for each other.
  const userOf = ({ options }: PostgresTransaction) => options.memberId ?? '';
  return taken
    .map(({ transaction }) => transaction)
    .sort((one, other) => Number(userOf(one) > userOf(other)) - Number(userOf(one) < userOf(other)));
}
