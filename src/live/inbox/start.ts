import type { Database } from '../../data/database/database.ts';
import type { InboxRoom } from '../../data/domain/inbox-rooms.ts';
import { isReadFailure, type LogPosition } from '../../data/event-log/events.ts';
import { findMembershipChanges, readUserEvents } from '../../data/event-log/user-events.ts';
import { ClientError } from '../../errors.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import type { Feed } from '../feed/feed.ts';
import type { InboxRequest } from './inbox-request.ts';

/** From where an inbox starts. */
export interface InboxStart {
  /** The position in the user's log. */
  position: LogPosition;
  /** The latest event of the user's log when `rooms` were read. */
  head: LogPosition;
  /** The number in the user's log up to which only the events in `missed` are sent. */
  filteredUpTo: number;
  missed: ReadonlySet<number>;
  /** The rooms that it follows from the start. */
  rooms: readonly InboxRoom[];
  /** The positions that its client has in rooms that later events of the user's log begin or end. */
  clientPositions: Map<string, LogPosition>;
}

/** The positions that the cursors name, by room or user: of two cursors of one log, the later. @throws ClientError CURSOR_INVALID. */
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
 * Where an inbox starts that resumes after these positions. Without a position in the user's log, which earlier clients do
 * not have, it follows the log as far as it concerns the rooms of the positions. @throws ClientError CURSOR_EXPIRED.
 */
export async function findStart(
  { db }: Pick<Database, 'db'>,
  request: InboxRequest,
  positions: ReadonlyMap<string, LogPosition> | undefined,
): Promise<InboxStart> {
  const { userId } = request.selection;
  const { rooms, ending, head } = request.rooms;
  if (!positions)
    return { position: head, head, filteredUpTo: head.seq, missed: new Set(), rooms, clientPositions: new Map() };
  const own = positions.get(userId);
  if (own && isReadFailure(await readUserEvents(db, userId, own, 1))) throw cursorExpired(undefined, request);
  const changes = await findMembershipChanges(db, { userId, after: own?.seq ?? 0, upTo: head.seq });
  // A client with a cursor after the event has received it.
  const missed = changes.filter(({ roomId, roomSeq }) => {
    const position = positions.get(roomId);
    return position ? roomSeq >= position.seq : own !== undefined;
  });
  const changed = new Set([...missed.map(({ roomId }) => roomId), ...ending]);
  const [first] = missed;
  return {
    position: own ?? (first ? { seq: first.seq - 1, mark: first.previousMark } : head),
    head,
    filteredUpTo: own?.seq ?? head.seq,
    missed: new Set(missed.map(({ seq }) => seq)),
    rooms: rooms.filter(({ roomId }) => !changed.has(roomId)),
    clientPositions: new Map(positions.entries().filter(([roomId]) => changed.has(roomId))),
  };
}

/**
 * The position after which an inbox sends the events of a room that it has from the start: the client's or, in an inbox that
 * resumes, that before the MemberJoined of the user. @throws ClientError CURSOR_EXPIRED.
 */
export async function findRoomStart(
  feed: Feed,
  { roomId, head, joined }: InboxRoom,
  request: InboxRequest,
  positions: ReadonlyMap<string, LogPosition> | undefined,
): Promise<LogPosition> {
  if (!positions) return head;
  const position = positions.get(roomId);
  if (!position) return findJoined(feed, joined);
  // The user's log no longer says that the membership of the cursor has ended.
  const isEarlier = joined !== undefined && position.seq < joined.seq;
  const isUnreadable = isEarlier || isReadFailure(await feed.read(position, 1));
  if (isUnreadable && !feed.deleted) throw cursorExpired(roomId, request);
  return position;
}

/** A room without a cursor starts with the MemberJoined of the user, or else with the oldest event in the log. */
async function findJoined(feed: Feed, joined: LogPosition | undefined): Promise<LogPosition> {
  if (joined && !isReadFailure(await feed.read(joined, 1))) return joined;
  return feed.findOldest();
}

/** The error has the present cursors of the user and of all rooms. */
export function cursorExpired(
  room: string | undefined,
  { rooms: { rooms, head }, selection }: Pick<InboxRequest, 'rooms' | 'selection'>,
): ClientError {
  const positions = [...rooms, { roomId: selection.userId, head }];
  const cursors = Object.fromEntries(positions.map(({ roomId, head }) => [roomId, encodeCursor({ roomId, ...head })]));
  return new ClientError('CURSOR_EXPIRED', undefined, { live: { ...(room !== undefined && { room }), cursors } });
}
