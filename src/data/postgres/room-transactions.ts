import type { TransactionOptions, Work } from '../database/database.ts';
import type { CommitMarks } from './commit-marks.ts';
import { PostgresUnavailable } from './errors.ts';
import { GroupMember, type RunAlone } from './group-member.ts';
import type { ConnectionPool } from './pool.ts';
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
  runAlone: RunAlone;
}

interface Waiting {
  /** See `TransactionOptions.memberId`. */
  user: string;
  member: GroupMember;
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

  run<T>(roomId: string, work: Work<T>, options: TransactionOptions): Promise<T> {
    const room = this.#rooms.get(roomId) ?? { running: 0, waiting: [] };
    if (room.running === maxRunning) return waitForGroup(room, work, options);
    this.#rooms.set(roomId, room);
    room.running += 1;
    const running = this.#parts.runAlone(work, options);
    const next = () => this.#runWaiting(roomId, room);
    running.then(next, next);
    return running;
  }

  async #runWaiting(roomId: string, room: Room): Promise<void> {
    while (room.waiting.length > 0) {
      // The requests of clients that have just received an answer join the group.
      await new Promise(setImmediate);
      await this.#runGroup(takeGroup(room));
    }
    room.running -= 1;
    if (room.running === 0) this.#rooms.delete(roomId);
  }

  async #runGroup(members: readonly GroupMember[]): Promise<void> {
    const alone = members.length > 1 ? await this.#runTogether(members) : members;
    await Promise.all(alone.map((member) => member.runAlone(this.#parts.runAlone)));
  }

  /** Returns the members that must run alone. */
  async #runTogether(members: readonly GroupMember[]): Promise<readonly GroupMember[]> {
    const { pool, marks } = this.#parts;
    try {
      return await pool.run((connection) => runGroup(members, connection, marks));
    } catch (error) {
      for (const member of members) member.fail(error);
      return [];
    }
  }
}

async function waitForGroup<T>({ waiting }: Room, work: Work<T>, options: TransactionOptions): Promise<T> {
  if (waiting.length >= maxWaiting)
    throw new PostgresUnavailable('busy', `${maxWaiting} changes of the room wait already`);
  const member = new GroupMember(work, options);
  const entry = {
    user: options.memberId ?? '',
    member: member as GroupMember,
    timer: setTimeout(() => {
      waiting.splice(waiting.indexOf(entry), 1);
      member.fail(new PostgresUnavailable('busy', `the room could not be changed within ${timeoutMs} ms`));
    }, timeoutMs),
  };
  waiting.push(entry);
  return member.promise;
}

/** Takes the members of the next group, which no longer wait. */
function takeGroup({ waiting }: Room): GroupMember[] {
  // All groups lock rows of users in the same order, so that no two of them wait for each other.
  const group = waiting
    .splice(0, maxMembers)
    .sort((one, other) => Number(one.user > other.user) - Number(one.user < other.user));
  for (const { timer } of group) clearTimeout(timer);
  return group.map(({ member }) => member);
}
