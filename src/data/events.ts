import { randomInt } from 'node:crypto';
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Db } from './database.ts';
import type { PostRow, RoomEventRow, RoomEventType, RoomRow, Tables, UserRow } from './tables.ts';

const maxMark = 2 ** 31;

/**
 * A position in a room's log: after event number `seq`, whose mark is `mark`. It belongs to the history that the database
 * holds if and only if the log has that number with that mark.
 */
export type LogPosition = Pick<RoomEventRow, 'seq' | 'mark'>;

/** Before the first event. */
export const logStart: LogPosition = { seq: 0, mark: 0 };

/** Where a room's log ends. */
export function headOf({ head, headMark }: Pick<RoomRow, 'head' | 'headMark'>): LogPosition {
  return { seq: head, mark: headMark };
}

/** What an event says beyond its entry in the log: as it was when it was written, so that a live event need not be read. */
export interface EventContent {
  post: PostRow;
  author: UserRow;
}

export interface RoomEvent extends RoomEventRow {
  /** Absent in a replay, which reads everything as it is now. */
  content?: EventContent | undefined;
}

/** What happened, before it has a number. */
export interface NewRoomEvent {
  roomId: string;
  type: RoomEventType;
  subjectId: string;
  version: number;
  actorId: string | null;
  /** The room's next time, where the change has asked for it (`findNextTime`) and stored it in a row of its own. */
  at?: number;
  content?: EventContent;
}

/**
 * The time of a room's next event, in milliseconds since 1970: now, but always later than that of the latest one. A clock
 * that was set back, or two changes in one millisecond, must not put what is new before a position that a client already
 * holds. What an import brought in makes no events: a post of the far future does not count.
 */
export async function findNextTime(db: Db, roomId: string): Promise<number> {
  const { latest } = await db.selectFrom('rooms').select(latestTime).where('id', '=', roomId).executeTakeFirstOrThrow();
  return Math.max(Date.now(), latest + 1);
}

/** Of a room's latest event, or of its creation. */
const latestTime = sql<number>`coalesce(
  (select "at" from "roomEvents" where "roomId" = "rooms"."id" order by "seq" desc limit 1), "rooms"."createdAt"
)`.as('latest');

/**
 * Writes an event into the log, in the transaction of the change. The number comes from the room's own row, which stays
 * locked until the commit: the order of numbers is the order of commits.
 */
export async function appendEvent(db: Db, { content, ...event }: NewRoomEvent): Promise<RoomEvent> {
  const mark = randomInt(1, maxMark);
  const { head, previousMark, latest } = await db
    .updateTable('rooms')
    .set((eb) => ({ head: eb('head', '+', 1), previousMark: eb.ref('headMark'), headMark: mark }))
    .where('id', '=', event.roomId)
    .returning(['head', 'previousMark', latestTime])
    .executeTakeFirstOrThrow();
  const at = event.at ?? Math.max(Date.now(), latest + 1);
  const row = { ...event, seq: Number(head), mark, previousMark, at };
  await db.insertInto('roomEvents').values(row).execute();
  return { ...row, ...(content && { content }) };
}

/** Up to `limit` events behind number `after`, in order. */
export async function readEvents(db: Db, roomId: string, after: number, limit: number): Promise<RoomEvent[]> {
  return db
    .selectFrom('roomEvents')
    .selectAll()
    .where('roomId', '=', roomId)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** Where the log of a room ends, or undefined where the room is gone. */
export async function findHead(db: Db, roomId: string): Promise<LogPosition | undefined> {
  const row = await db.selectFrom('rooms').select(['head', 'headMark']).where('id', '=', roomId).executeTakeFirst();
  return row && headOf(row);
}

/** Where the log of each of these rooms ends; a deleted room is absent. */
export async function readHeads(db: Db, roomIds: readonly string[]): Promise<Map<string, LogPosition>> {
  const rows = await db.selectFrom('rooms').select(['id', 'head', 'headMark']).where('id', 'in', roomIds).execute();
  return new Map(rows.map((row) => [row.id, headOf(row)]));
}

/** The user's events keep no actor once the account is gone. */
export async function forgetActor(db: Db, userId: string): Promise<void> {
  await db.updateTable('roomEvents').set({ actorId: null }).where('actorId', '=', userId).execute();
}

export interface TrimOptions {
  /** Events older than this, in milliseconds since 1970. */
  before: number;
  /** Events behind the latest `count` of their room. */
  count: number;
  /** At most so many at once. */
  limit: number;
}

/** Deletes the oldest events that are no longer kept, and tells how many. Both ways to them are seeks: it runs beside the living. */
export async function trimEvents(db: Db, { before, count, limit }: TrimOptions): Promise<number> {
  const aged = db.selectFrom('roomEvents').select(['roomId', 'seq']).where('at', '<', before);
  const surplus = db
    .selectFrom('rooms')
    // SQLite keeps the order of a cross join; of its own it would go through all events.
    .crossJoin('roomEvents')
    .select(['roomId', 'seq'])
    .whereRef('roomId', '=', 'rooms.id')
    .where((eb) => eb('seq', '<=', eb('head', '-', count)));
  const trimmed = await deleteEvents(db, aged.limit(limit));
  return trimmed === limit ? trimmed : trimmed + (await deleteEvents(db, surplus.limit(limit - trimmed)));
}

type EventKeys = SelectQueryBuilder<Tables, 'roomEvents', Pick<RoomEventRow, 'roomId' | 'seq'>>;

async function deleteEvents(db: Db, keys: EventKeys): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('roomEvents')
    .where(({ eb, refTuple }) => eb(refTuple('roomId', 'seq'), 'in', keys.$asTuple('roomId', 'seq')))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
