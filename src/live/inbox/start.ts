import type { InboxRoom } from '../../data/domain/inbox-rooms.ts';
import type { LogPosition } from '../../data/event-log/events.ts';
import { ClientError } from '../../errors.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import type { Feed } from '../feed/feed.ts';
import { isReadFailure } from '../feed/room-log.ts';
import type { InboxRequest } from './inbox-request.ts';

/** Finds the position after which an inbox sends the events of a room. */
export type FindStart = (feed: Feed) => Promise<LogPosition>;

/** Finds the position before the user's next MemberJoined or MemberLeft in a room, if there is one. */
export type FindNext = (roomId: string, after: LogPosition) => Promise<LogPosition | undefined>;

/** The positions that the cursors name, by room: of two cursors of one room, the later. @throws ClientError CURSOR_INVALID. */
export function readCursors(cursors: readonly string[]): Map<string, LogPosition> {
  const positions = new Map<string, LogPosition>();
  for (const cursor of cursors) {
    const position = decodeCursor(cursor);
    if (!position) throw new ClientError('CURSOR_INVALID');
    const { roomId, seq, mark } = position;
    const other = positions.get(roomId);
    if (!other || seq > other.seq) positions.set(roomId, { seq, mark });
  }
  return positions;
}

/**
 * How the rooms start that an inbox has when it is opened: after the cursor or, if the user was no member there, with the
 * next MemberJoined. @throws ClientError CURSOR_EXPIRED.
 */
export function createFindStart(
  request: InboxRequest,
  positions: Map<string, LogPosition> | undefined,
  findNextJoin: FindNext,
): (room: InboxRoom) => FindStart {
  return ({ roomId, head, joined }) =>
    async (feed) => {
      if (!positions) return head;
      const position = positions.get(roomId);
      if (!position) return findJoined(feed, joined);
      if (isReadFailure(await feed.read(position, 1)) && !feed.deleted) throw cursorExpired(roomId, request);
      const isBeforeJoin = joined !== undefined && position.seq < joined.seq;
      return (isBeforeJoin ? await findNextJoin(roomId, position) : undefined) ?? position;
    };
}

/** A room without a cursor starts with the MemberJoined of the user, or else with the oldest event in the log. */
export async function findJoined(feed: Feed, joined: LogPosition | undefined): Promise<LogPosition> {
  if (joined && !isReadFailure(await feed.read(joined, 1))) return joined;
  return feed.findOldest();
}

function cursorExpired(room: string, { rooms: { rooms } }: InboxRequest): ClientError {
  const cursors = Object.fromEntries(rooms.map(({ roomId, head }) => [roomId, encodeCursor({ roomId, ...head })]));
  return new ClientError('CURSOR_EXPIRED', undefined, { live: { room, cursors } });
}
