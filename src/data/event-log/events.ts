import { randomInt } from 'node:crypto';
import { type Expression, sql } from 'kysely';
import type { TraceContext } from '../../tracing/tracing.ts';
import type { Db } from '../database/database.ts';
import { deleteSome } from '../sql/some-rows.ts';
import { createStatement } from '../sql/statement.ts';
import { type PostRow, type PublicUser, type RoomEventRow, type RoomRow, roomEventColumns } from '../tables.ts';
import type { InboxEventType, PostEventType } from './room-event-types.ts';

export const maxMark = 2 ** 31;

/**
 * A position in a room's log: after event number `seq`, whose mark is `mark`. It belongs to the database's present
 * history if and only if the log has this number with this mark.
 */
export type LogPosition = Pick<RoomEventRow, 'seq' | 'mark'>;

/** The position before the first event. */
export const logStart: LogPosition = { seq: 0, mark: 0 };

/** The position of a room's latest event. */
export function headOf({ head, headMark }: Pick<RoomRow, 'head' | 'headMark'>): LogPosition {
  return { seq: head, mark: headMark };
}

/** Whether an event is the next event after a position, in the same history. */
export function follows({ seq, previousMark }: LogPosition & { previousMark: number }, position: LogPosition): boolean {
  return seq === position.seq + 1 && previousMark === position.mark;
}

/** The reason why a position cannot be read from: the events after it were trimmed, or the log has another history. */
export type ReadFailure = 'trimmed' | 'rewound';

/** The events that were read after a position, or the reason why some of them are missing. */
export function withoutGap<Event extends Parameters<typeof follows>[0]>(
  events: readonly Event[],
  after: LogPosition,
): readonly Event[] | ReadFailure {
  const [first] = events;
  if (first?.seq !== after.seq + 1 || events.at(-1)?.seq !== after.seq + events.length) return 'trimmed';
  return follows(first, after) ? events : 'rewound';
}

export function isReadFailure(found: readonly unknown[] | ReadFailure): found is ReadFailure {
  return typeof found === 'string';
}

/** The rows of an event's subject, as they were when the event was written, so that a live event needs no read. */
export interface EventContent {
  post: PostRow;
  author: PublicUser;
}

export interface RoomEvent extends RoomEventRow {
  /** Undefined in a replay, which reads the content as it is now. */
  content?: EventContent | undefined;
  /** The trace of the change, if it is recorded; it is not stored. */
  trace?: TraceContext | undefined;
  /** The room as it was when the event was read, in case that it is deleted before the event is executed. */
  room?: RoomRow | ClosedRoom | undefined;
  /** What else `extensions.live` of its message has. */
  live?: LiveExtension | undefined;
}

/** A room whose posts, members and presence the viewer may not see. */
export interface ClosedRoom extends RoomRow {
  isClosed: true;
}

/** What `extensions.live` of a message of an inbox may have besides the cursor. */
export interface LiveExtension {
  /** It is the last one of its room. */
  ended?: true;
  /** Events of the room before it were left out. */
  gap?: true;
  /** Cursors that its client keeps in addition, by room or user. */
  cursors?: Record<string, string>;
}

/** An event that only inboxes receive, and that is not in the log. It has the position of the event before it. */
export interface InboxEvent extends Omit<RoomEvent, 'type' | 'content'> {
  type: InboxEventType;
  content?: undefined;
}

/** An event of a room as a stream sends it. */
export type StreamEvent = RoomEvent | InboxEvent;

/** An event before it has a number. */
export type NewRoomEvent<Row = unknown> = NewPostEvent | NewPlainEvent<Row>;

type NewEntry = Pick<RoomEventRow, 'roomId' | 'subjectId' | 'version'>;

/** An event that carries its post. Only its author may change a post, so the actor is the author. */
export interface NewPostEvent extends NewEntry {
  type: PostEventType;
  author: PublicUser;
  /** Stores the post. */
  store: (db: Db) => Promise<unknown>;
  /** The post as it is stored; `at` is the time of the event. */
  post: (at: number) => PostRow;
}

export interface NewPlainEvent<Row> extends NewEntry {
  /** See `roomEventTypes`, or that of an extension. */
  type: string;
  actorId: string | null;
  /** Stores the change that the event reports. */
  store: (db: Db) => Promise<Row>;
}

/**
 * Writes an event and its change in the transaction. Returns the event, and the row that was stored with it. The number
 * and the time come from the room's row, which stays locked until the commit, so that the order of numbers is the order
 * of commits.
 *
 * No statement needs the result of an earlier one. All are sent together with the commit, so that a database behind a
 * network does not hold the lock of the room while messages travel.
 */
export async function appendEvent<Row>(
  db: Db,
  event: NewRoomEvent<Row>,
): Promise<{ event: RoomEvent; stored: Row | PostRow }> {
  const { roomId, type, subjectId, version } = event;
  const mark = randomInt(1, maxMark);
  const actorId = 'author' in event ? event.author.id : event.actorId;
  const [[head], result] = await Promise.all([
    advanceHead(db, { roomId, mark, now: Date.now() }),
    event.store(db),
    insertEvent(db, { roomId, type, subjectId, version, actorId }),
  ]);
  if (!head) throw new Error(`There is no room ${roomId} to append an event to.`);
  const { head: seq, previousMark, headAt: at } = head;
  const row = { roomId, seq, mark, previousMark, type, subjectId, version, actorId, at };
  if (!('author' in event)) return { event: row, stored: result as Row };
  const content = { post: event.post(at), author: event.author };
  return { event: { ...row, content }, stored: content.post };
}

/**
 * Gives the room's next event its number, mark and time. The time is in milliseconds since 1970: now, but always later
 * than the latest event. If the clock was set back, or two changes fall in one millisecond, new content must not be
 * placed before a position that a client already has. An import writes no events, so an imported post with a time in the
 * far future does not count.
 */
const advanceHead = createStatement(
  (_db, { roomId, mark, now }: { roomId: string; mark: number; now: number }) =>
    sql<Pick<RoomRow, 'head' | 'previousMark' | 'headAt'>>`
      update "rooms" set
        "head" = "head" + 1, "previousMark" = "headMark", "headMark" = ${mark},
        "headAt" = case when "headAt" < ${now} then ${now} else "headAt" + 1 end
      where "id" = ${roomId} returning "head", "previousMark", "headAt"`,
);

/** The time of the event that is being appended, for the statement that stores its subject. */
export function timeOfAppended(roomId: string): Expression<number> {
  return sql<number>`(select "headAt" from "rooms" where "id" = ${roomId})`;
}

/** Inserts the event whose number was taken last. The types of values in a list of results are not inferred from the columns. */
const insertEvent = createStatement(
  (_db, { roomId, type, subjectId, version, actorId }: Omit<RoomEventRow, 'seq' | 'mark' | 'previousMark' | 'at'>) =>
    sql`
      insert into "roomEvents" ("roomId", "seq", "mark", "previousMark", "at", "type", "subjectId", "version", "actorId")
        select "id", "head", "headMark", "previousMark", "headAt",
          cast(${type} as text), cast(${subjectId} as text), cast(${version} as integer), cast(${actorId} as text)
        from "rooms" where "id" = ${roomId}`,
);

/** Up to `limit` events after number `after`, in order. */
export async function readEvents(db: Db, roomId: string, after: number, limit: number): Promise<RoomEvent[]> {
  return db
    .selectFrom('roomEvents')
    .select(roomEventColumns)
    .where('roomId', '=', roomId)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** The position before the first event of a room after a number. `since`: in milliseconds since 1970; no event is older. */
export async function findFirstPosition(
  db: Db,
  { roomId, after, since }: { roomId: string; after: number; since: number },
): Promise<LogPosition | undefined> {
  const first = await db
    .selectFrom('roomEvents')
    .select(['seq', 'previousMark'])
    .where('roomId', '=', roomId)
    .where('seq', '>', after)
    .where('at', '>=', since)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  return first && { seq: first.seq - 1, mark: first.previousMark };
}

/** Deletes up to `limit` events before a time in milliseconds since 1970. Returns their number. */
export async function trimByAge(
  db: Db,
  table: 'roomEvents' | 'userEvents',
  before: number,
  limit: number,
): Promise<number> {
  return deleteSome(db, table, db.selectFrom(table).where('at', '<', before), limit);
}

/** Deletes up to `limit` events of a room up to number `seq`. Returns their number. */
export async function trimRoom(db: Db, { roomId, seq }: RoomSurplus, limit: number): Promise<number> {
  const surplus = db.selectFrom('roomEvents').where('roomId', '=', roomId).where('seq', '<=', seq);
  return deleteSome(db, 'roomEvents', surplus, limit);
}

/** The events of a room up to number `seq` are to be deleted. */
type RoomSurplus = Pick<RoomEventRow, 'roomId' | 'seq'>;

const roomsPerRead = 500;

/** The rooms that have events before their latest `count` events. No statement reads more than some hundred rooms. */
export async function* findSurplus(db: Db, count: number, signal: AbortSignal): AsyncGenerator<RoomSurplus> {
  for (let after = ''; !signal.aborted; ) {
    const { rows: rooms } = await sql<{ id: string; head: number; hasSurplus: number | boolean }>`
      select "id", "head", "head" > ${count} and exists (
        select 1 from "roomEvents" where "roomId" = "rooms"."id" and "seq" <= "rooms"."head" - ${count}
      ) as "hasSurplus"
      from "rooms" where "id" > ${after} order by "id" limit ${roomsPerRead}`.execute(db);
    for (const { id, head, hasSurplus } of rooms) if (hasSurplus) yield { roomId: id, seq: head - count };
    const last = rooms.at(-1);
    if (!last) return;
    after = last.id;
  }
}
