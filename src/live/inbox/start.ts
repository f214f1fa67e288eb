import type { LogPosition } from '../../data/events.ts';
import type { InboxRoom } from '../../data/inbox-rooms.ts';
import { ClientError } from '../../errors.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import { type Feed, isReadFailure } from '../feed/feed.ts';
import type { InboxRequest } from './inbox-request.ts';

const batchLength = 64;

/** Finds the position after which an inbox sends the events of a room. */
export type FindStart = (feed: Feed, room: InboxRoom) => Promise<LogPosition>;

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

/** How the rooms start that an inbox has when it is opened. @throws ClientError CURSOR_EXPIRED. */
export function createFindStart(request: InboxRequest, positions: Map<string, LogPosition> | undefined): FindStart {
  return async (feed, room) => {
    if (!positions) return room.head;
    const position = positions.get(room.roomId);
    if (!position) return findJoined(feed, room);
    if (isReadFailure(await feed.read(position, 1)) && !feed.deleted) throw cursorExpired(room.roomId, request);
    const { joined } = room;
    const isBeforeJoin = joined !== undefined && position.seq < joined.seq;
    if (!isBeforeJoin || (await hasLeft(feed, { position, joined, userId: request.selection.userId }))) return position;
    return findJoined(feed, room);
  };
}

/** Whether the user has left the room after a position: otherwise the user had left it before, and has joined it since. */
async function hasLeft(feed: Feed, { position, joined, userId }: BeforeJoin): Promise<boolean> {
  let after = position;
  while (after.seq < joined.seq) {
    const events = await feed.read(after, batchLength);
    const last = isReadFailure(events) ? undefined : events.at(-1);
    if (isReadFailure(events) || !last) return false;
    if (events.some(({ type, subjectId }) => type === 'MemberLeft' && subjectId === userId)) return true;
    after = last;
  }
  return false;
}

/** A position before that of the user's latest MemberJoined. */
interface BeforeJoin {
  position: LogPosition;
  joined: LogPosition;
  userId: string;
}

/** A room without a cursor starts with the MemberJoined of the user, or else with the oldest event in the log. */
export const findJoined: FindStart = async (feed, { joined }) => {
  if (joined && !isReadFailure(await feed.read(joined, 1))) return joined;
  return feed.findOldest();
};

function cursorExpired(room: string, { rooms: { rooms } }: InboxRequest): ClientError {
  const cursors = Object.fromEntries(rooms.map(({ roomId, head }) => [roomId, encodeCursor({ roomId, ...head })]));
  return new ClientError('CURSOR_EXPIRED', undefined, { live: { room, cursors } });
}
