import type { LogPosition } from '../../data/event-log/events.ts';
import type { Feed } from '../feed/feed.ts';
import type { Sink } from '../stream.ts';
import type { FindNext } from './start.ts';

/** How long the last events of a private room are sent after the end of the membership was found, in milliseconds. */
const maxEndMs = 2_000;
/** The last events of a private room do not wait for the client, unless it has more bytes than this to read. */
const maxEndBytes = 2 ** 20;

/** How a room ends of which the feed has read the log since the membership has ended. */
interface End {
  /** Whether the room was private at that time. */
  isPrivate: boolean;
  /** The position before the user's MemberLeft; undefined if the log does not have it. */
  last: LogPosition | undefined;
  /** When the events before the MemberLeft are left out, by performance.now(). */
  until: number;
}

/** The rooms of an inbox of which its user is no longer a member, until the user's own MemberLeft has been sent. */
export class LeavingRooms {
  readonly #findLast: FindNext;
  readonly #rooms = new Map<string, { end?: End }>();

  /** `findLast`: finds the position before the user's next MemberLeft. */
  constructor(findLast: FindNext) {
    this.#findLast = findLast;
  }

  has(roomId: string): boolean {
    return this.#rooms.has(roomId);
  }

  /** Whether the room ends when the log has been read up to the head of its feed. */
  endsAtHead(roomId: string): boolean {
    return this.#rooms.get(roomId)?.end !== undefined;
  }

  /** Whether the last events of the room are sent at once: a replay has the content as it is now. */
  endsAtOnce(roomId: string): boolean {
    return this.#rooms.get(roomId)?.end?.isPrivate ?? false;
  }

  delete(roomId: string): void {
    this.#rooms.delete(roomId);
  }

  /** Adds a room that is still being opened. */
  addUnopened(roomId: string): void {
    this.#rooms.set(roomId, {});
  }

  /** Adds a room that is followed from a position. Resolves with whether it ends at the head of its feed. */
  async add(feed: Feed, position: LogPosition): Promise<boolean> {
    const { roomId } = feed;
    const leaving: { end?: End } = {};
    this.#rooms.set(roomId, leaving);
    try {
      await feed.syncWithLog();
      const last = await this.#findLast(roomId, position);
      leaving.end = { isPrivate: feed.room?.visibility === 'PRIVATE', last, until: performance.now() + maxEndMs };
    } catch (error) {
      this.delete(roomId);
      throw error;
    }
    return this.#rooms.get(roomId) === leaving;
  }

  /** The position up to which events are left out, because a former member must not read the content as it is now. */
  skipTo({ roomId, room, head }: Feed, sink: Sink | undefined): LogPosition | undefined {
    const end = this.#rooms.get(roomId)?.end;
    if (!end) return undefined;
    // A room that has become private since was not read in time.
    if (!end.isPrivate) return room?.visibility === 'PRIVATE' ? head : undefined;
    if (sink?.isFull(maxEndBytes)) end.until = 0;
    return performance.now() > end.until ? (end.last ?? head) : undefined;
  }
}
