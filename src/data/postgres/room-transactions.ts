import type { CommitMarks } from './commit-marks.ts';
import { PostgresUnavailable } from './errors.ts';
import type { ConnectionPool } from './pool.ts';
import type { PostgresTransaction } from './transaction.ts';
import { runGroup } from './transaction-group.ts';

/** While one group waits for the disk, the other one reads. A third one would only wait for the lock of the room. */
const maxRunning = 2;
/** The row of the room is locked while the changes of all members are stored: about ten milliseconds. */
const maxMembers = 32;
/** The maximum number of transactions of a room that wait. */
const maxWaiting = 1_000;
/** The maximum time that a transaction waits for its group. */
const timeoutMs = 5_000;

interface Parts {
  pool: ConnectionPool;
  marks: CommitMarks;
  /** Runs a transaction in one of the server's own. Never fails. */
  runAlone: (transaction: PostgresTransaction) => Promise<void>;
}

interface Waiting {
  transaction: PostgresTransaction;
  timer: NodeJS.Timeout;
}

interface Room {
  running: number;
  waiting: Waiting[];
}

/**
 * The transactions of each room. Each of them changes the row of the room, which is locked until the commit has been
 * flushed. The ones that wait at the same time therefore form a group with one commit.
 */
export class RoomTransactions {
  readonly #parts: Parts;
  readonly #rooms = new Map<string, Room>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get waitingCount(): number {
    return this.#rooms.values().reduce((count, { waiting }) => count + waiting.length, 0);
  }

  run(roomId: string, transaction: PostgresTransaction): void {
    const room = this.#rooms.get(roomId) ?? { running: 0, waiting: [] };
    if (room.running === maxRunning) return waitForGroup(room, transaction);
    this.#rooms.set(roomId, room);
    room.running += 1;
    void this.#runAndTakeWaiting(roomId, room, transaction);
  }

  async #runAndTakeWaiting(roomId: string, room: Room, first: PostgresTransaction): Promise<void> {
    await this.#parts.runAlone(first);
    while (room.waiting.length > 0) {
      // The requests of clients that have just received an answer join the group.
      await new Promise(setImmediate);
      const group = takeGroup(room);
      const alone = group.length > 1 ? await this.#runTogether(group) : group;
      await Promise.all(alone.map((transaction) => this.#parts.runAlone(transaction)));
    }
    room.running -= 1;
    if (room.running === 0) this.#rooms.delete(roomId);
  }

  /** Returns the transactions that must run alone. */
  async #runTogether(group: readonly PostgresTransaction[]): Promise<readonly PostgresTransaction[]> {
    const { pool, marks } = this.#parts;
    try {
      const failed = await pool.run((connection) => runGroup(group, connection, marks));
      return failed?.transactions ?? [];
    } catch (error) {
      for (const transaction of group) transaction.fail(error);
      return [];
    } finally {
      for (const transaction of group) transaction.settle();
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
