import { randomInt } from 'node:crypto';
import type { SelectQueryBuilder } from 'kysely';
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
  content?: EventContent;
}

/** What happened, before it has a number. */
export interface NewRoomEvent {
  roomId: string;
  type: RoomEventType;
  subjectId: string;
  version: number;
  actorId: string | null;
  content?: EventContent;
}

/**
 * Writes an event into the log, in the transaction of the change. The number comes from the room's own row, which stays
 * locked until the commit: the order of numbers is the order of commits.
 */
export async function appendEvent(db: Db, { content, ...event }: NewRoomEvent): Promise<RoomEvent> {
  const mark = randomInt(1, maxMark);
  const { head, previousMark } = await db
    .updateTable('rooms')
    .set((eb) => ({ head: eb('head', '+', 1), previousMark: eb.ref('headMark'), headMark: mark }))
    .where('id', '=', event.roomId)
    .returning(['head', 'previousMark'])
    .executeTakeFirstOrThrow();
  const row = { ...event, seq: Number(head), mark, previousMark, at: Date.now() };
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
