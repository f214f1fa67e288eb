import type { Database } from '../../data/database/database.ts';
import type { InboxRoom } from '../../data/domain/inbox-rooms.ts';
import { isReadFailure, type LogPosition } from '../../data/event-log/events.ts';
import { findMembershipChanges, readUserEvents } from '../../data/event-log/user-events.ts';
import type { UserEventRow } from '../../data/tables.ts';
import { ClientError } from '../../errors.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import type { Feed } from '../feed/feed.ts';
import type { Follower } from '../groups/follower.ts';
import type { InboxRequest } from './inbox-request.ts';

/** By the id of a room or of the user. */
export type Cursors = Record<string, string>;

interface InboxStart {
  /** The position in the user's log. */
  user: LogPosition;
  /** The latest event of the user's log when the rooms were read. */
  head: LogPosition;
  /** The number in the user's log up to which only the events in `missed` are sent. */
  filteredUpTo: number;
  missed: ReadonlySet<number>;
  clientPositions: Map<string, LogPosition>;
}

/** The positions of an inbox in the log of its user and in the rooms: from there its client can resume. */
export class InboxPositions {
  readonly #userId: string;
  readonly #start: Omit<InboxStart, 'user' | 'clientPositions'>;
  /** In the user's log. */
  user: LogPosition;
  /** The rooms that the inbox follows. */
  readonly followers = new Map<string, Follower>();
  /** Those of its client in rooms that the inbox does not follow, until the user's log says how they go on. */
  readonly clientPositions: Map<string, LogPosition>;
  /** The rooms that have begun, with their starts: until they send an event, the client has no cursor of them. */
  readonly unsentStarts = new Map<string, LogPosition>();

  constructor(userId: string, { user, clientPositions, ...start }: InboxStart) {
    this.#userId = userId;
    this.#start = start;
    this.user = user;
    this.clientPositions = clientPositions;
  }

  /**
   * Whether the user's log still contains what it ended with when the inbox was opened, as far as its next events after
   * `user` show.
   */
  isInHistoryOf(next: readonly UserEventRow[]): boolean {
    const { head } = this.#start;
    if (next.length === 0) return this.user.seq >= head.seq;
    return next.every(({ seq, mark }) => seq !== head.seq || mark === head.mark);
  }

  /** Whether the client has an event of the user's log already. */
  isLeftOut({ seq }: UserEventRow): boolean {
    const { filteredUpTo, missed } = this.#start;
    return seq <= filteredUpTo && !missed.has(seq);
  }

  /** The position in a room up to which the client has everything, or from which it gets everything. */
  of(roomId: string): LogPosition | undefined {
    return this.followers.get(roomId)?.position ?? this.unsentStarts.get(roomId) ?? this.clientPositions.get(roomId);
  }

  /** Those of all rooms. */
  get cursors(): Cursors {
    return this.cursorsOf([...this.clientPositions.keys(), ...this.followers.keys()]);
  }

  cursorsOf(roomIds: Iterable<string>): Cursors {
    const cursors: Cursors = {};
    for (const roomId of roomIds) {
      const position = this.of(roomId);
      if (position) cursors[roomId] = encodeCursor({ roomId, ...position });
    }
    return cursors;
  }

  userCursorAt(position: LogPosition): Cursors {
    return { [this.#userId]: encodeCursor({ roomId: this.#userId, ...position }) };
  }

  /** The rooms that have begun and have sent nothing since, except that of the message. */
  findUnsent(exceptRoomId: string): string[] {
    for (const [roomId, { seq }] of this.unsentStarts) {
      if ((this.followers.get(roomId)?.position.seq ?? 0) > seq) this.unsentStarts.delete(roomId);
    }
    return [...this.unsentStarts.keys()].filter((roomId) => roomId !== exceptRoomId);
  }
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
 * The positions of an inbox that resumes after those of its client, and the rooms that it follows from the start. Without a
 * position in the user's log, which earlier clients do not have, it follows the log as far as it concerns the rooms of the
 * positions. @throws ClientError CURSOR_EXPIRED.
 */
export async function findStart(
  { db }: Pick<Database, 'db'>,
  request: InboxRequest,
  positions: ReadonlyMap<string, LogPosition> | undefined,
): Promise<{ positions: InboxPositions; rooms: readonly InboxRoom[] }> {
  const { userId } = request.selection;
  const { rooms, ending, head } = request.rooms;
  if (!positions) {
    const start = { user: head, head, filteredUpTo: head.seq, missed: new Set<number>(), clientPositions: new Map() };
    return { positions: new InboxPositions(userId, start), rooms };
  }
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
  const start = {
    user: own ?? (first ? { seq: first.seq - 1, mark: first.previousMark } : head),
    head,
    filteredUpTo: own?.seq ?? head.seq,
    missed: new Set(missed.map(({ seq }) => seq)),
    clientPositions: new Map(positions.entries().filter(([roomId]) => changed.has(roomId))),
  };
  return { positions: new InboxPositions(userId, start), rooms: rooms.filter(({ roomId }) => !changed.has(roomId)) };
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
