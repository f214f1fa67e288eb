import type { SelectQueryBuilder } from 'kysely';
import type { Db } from './database.ts';
import type { PostRow, RoomEventRow, RoomEventType, Tables, UserRow } from './tables.ts';

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
  const { head } = await db
    .updateTable('rooms')
    .set((eb) => ({ head: eb('head', '+', 1) }))
    .where('id', '=', event.roomId)
    .returning('head')
    .executeTakeFirstOrThrow();
  const row = { ...event, seq: Number(head), at: Date.now() };
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

/** The latest number of each of these rooms; a deleted room is absent. */
export async function readHeads(db: Db, roomIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await db.selectFrom('rooms').select(['id', 'head']).where('id', 'in', roomIds).execute();
  return new Map(rows.map(({ id, head }) => [id, head]));
}

/** The user's events keep no actor once the account is gone. */
export async function forgetActor(db: Db, userId: string): Promise<void> {
  await db.updateTable('roomEvents').set({ actorId: null }).where('actorId', '=', userId).execute();
}

/** Which history this database holds; cursors of any other are refused. */
export async function readEpoch(db: Db): Promise<string> {
  const { value } = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', 'epoch')
    .executeTakeFirstOrThrow();
  return value;
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
