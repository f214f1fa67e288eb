import type { RoomEvent } from '../../data/events.ts';
import type { Feed } from '../feed/feed.ts';

/** How much later than the events before it the end of a membership may be found, in milliseconds. */
const leaveLagMs = 5_000;

/** A room of which the user is no longer a member. */
interface Leaving {
  /** When this was found, in milliseconds since 1970. */
  readonly since: number;
  /** Whether the feed has read the log since then, so that its head is not before the user's MemberLeft. */
  isSynced: boolean;
}

/** The rooms of an inbox of which its user is no longer a member, until the user's own MemberLeft has been sent. */
export class LeavingRooms {
  readonly #userId: string;
  readonly #rooms = new Map<string, Leaving>();

  constructor(userId: string) {
    this.#userId = userId;
  }

  has(roomId: string): boolean {
    return this.#rooms.has(roomId);
  }

  /** Whether the room ends when the log has been read up to the head of its feed. */
  endsAtHead(roomId: string): boolean {
    return this.#rooms.get(roomId)?.isSynced ?? false;
  }

  delete(roomId: string): void {
    this.#rooms.delete(roomId);
  }

  /** `feed`: undefined while the room is being opened. Resolves with whether the room ends at the head of its feed. */
  async add(roomId: string, feed: Feed | undefined): Promise<boolean> {
    const leaving = { since: Date.now(), isSynced: false };
    this.#rooms.set(roomId, leaving);
    if (!feed) return false;
    try {
      await feed.syncWithLog();
    } catch (error) {
      this.delete(roomId);
      throw error;
    }
    leaving.isSynced = true;
    return this.#rooms.get(roomId) === leaving;
  }

  /**
   * A former member of a private room receives the event by which they have left and the events just before it, but no
   * backlog: a replay has the content as it is now.
   */
  leavesOut({ roomId, room }: Feed, { type, subjectId, at }: RoomEvent): boolean {
    const leaving = this.#rooms.get(roomId);
    if (!leaving || room?.visibility !== 'PRIVATE') return false;
    const isOwnLeave = type === 'MemberLeft' && subjectId === this.#userId;
    return !isOwnLeave && at < leaving.since - leaveLagMs;
  }
}
