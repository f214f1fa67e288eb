import { randomInt } from 'node:crypto';
import type { Expression, ExpressionBuilder, SelectQueryBuilder } from 'kysely';
import type { Db } from './database.ts';
import { hasLateralJoins } from './dialects.ts';
import type { PostEventType, RoomEventType } from './room-event-types.ts';
import type { PostRow, PublicUser, RoomEventRow, RoomRow, Tables } from './tables.ts';

const maxMark = 2 ** 31;

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

/** The rows of an event's subject, as they were when the event was written, so that a live event needs no read. */
export interface EventContent {
  post: PostRow;
  author: PublicUser;
}

export interface RoomEvent extends RoomEventRow {
  /** Undefined in a replay, which reads the content as it is now. */
  content?: EventContent | undefined;
}

/** An event before it has a number. */
export type NewRoomEvent = NewEntry &
  (
    | { type: PostEventType; content: EventContent }
    | { type: Exclude<RoomEventType, PostEventType>; content?: undefined }
  );

interface NewEntry {
  roomId: string;
  subjectId: string;
  version: number;
  actorId: string | null;
  /** The time of the event, if the change has already read it (`findNextTime`) and stored it in another row. */
  at?: number;
}

/**
 * The time of a room's next event, in milliseconds since 1970: now, but always later than the latest event. If the
 * clock was set back, or two changes fall in one millisecond, new content must not be placed before a position that a
 * client already has. An import writes no events, so an imported post with a time in the far future does not count.
 *
 * Locks the room's row for other writers of events, so that the next event is written by this transaction.
 */
export async function findNextTime(db: Db, roomId: string): Promise<number> {
  const { headAt } = await db
    .selectFrom('rooms')
    .select('headAt')
    .where('id', '=', roomId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  return Math.max(Date.now(), headAt + 1);
}

/**
 * Writes an event into the log, in the transaction of the change. The number and the time come from the room's row,
 * which stays locked until the commit, so that the order of numbers is the order of commits.
 */
export async function appendEvent(db: Db, { content, ...event }: NewRoomEvent): Promise<RoomEvent> {
  const mark = randomInt(1, maxMark);
  const { head, previousMark, headAt } = await db
    .updateTable('rooms')
    .set((eb) => ({
      head: eb('head', '+', 1),
      previousMark: eb.ref('headMark'),
      headMark: mark,
      headAt: event.at ?? nextTime(eb),
    }))
    .where('id', '=', event.roomId)
    .returning(['head', 'previousMark', 'headAt'])
    .executeTakeFirstOrThrow();
  const row = { ...event, seq: head, mark, previousMark, at: headAt };
  await db.insertInto('roomEvents').values(row).execute();
  return { ...row, ...(content && { content }) };
}

/** `findNextTime` within the statement that changes the row. */
function nextTime(eb: ExpressionBuilder<Tables, 'rooms'>): Expression<number> {
  const now = Date.now();
  return eb
    .case()
    .when('headAt', '<', now)
    .then(now)
    .else(eb('headAt', '+', 1))
    .end();
}

/** Up to `limit` events after number `after`, in order. */
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

/** The head of a room, or undefined if the room is deleted. */
export async function findHead(db: Db, roomId: string): Promise<LogPosition | undefined> {
  const row = await db.selectFrom('rooms').select(['head', 'headMark']).where('id', '=', roomId).executeTakeFirst();
  return row && headOf(row);
}

/** The heads of these rooms; a deleted room is absent. */
export async function readHeads(db: Db, roomIds: readonly string[]): Promise<Map<string, LogPosition>> {
  const rows = await db.selectFrom('rooms').select(['id', 'head', 'headMark']).where('id', 'in', roomIds).execute();
  return new Map(rows.map((row) => [row.id, headOf(row)]));
}

/** Removes a deleted user as the actor of events. */
export async function forgetActor(db: Db, userId: string): Promise<void> {
  await db.updateTable('roomEvents').set({ actorId: null }).where('actorId', '=', userId).execute();
}

export interface TrimOptions {
  /** Events before this time, in milliseconds since 1970, are deleted. */
  before: number;
  /** Events before the latest `count` events of their room are deleted. */
  count: number;
  /** The maximum number of events deleted by one call. */
  limit: number;
}

/**
 * Deletes the oldest events past the retention, and returns their number. Both statements seek in an index, so it runs
 * fast.
 */
export async function trimEvents(db: Db, { before, count, limit }: TrimOptions): Promise<number> {
  const aged = db.selectFrom('roomEvents').select(['roomId', 'seq']).where('at', '<', before);
  const surplus = hasLateralJoins(db) ? findSurplusByRoom(db, count, limit) : findSurplus(db, count);
  const trimmed = await deleteEvents(db, aged.limit(limit));
  return trimmed === limit ? trimmed : trimmed + (await deleteEvents(db, surplus.limit(limit - trimmed)));
}

type EventKeys = SelectQueryBuilder<Tables, 'roomEvents', Pick<RoomEventRow, 'roomId' | 'seq'>>;

function findSurplus(db: Db, count: number): EventKeys {
  return (
    db
      .selectFrom('rooms')
      // A planner without statistics keeps the order of a cross join. With another join it could scan all events.
      .crossJoin('roomEvents')
      .select(['roomId', 'seq'])
      .whereRef('roomId', '=', 'rooms.id')
      .where((eb) => eb('seq', '<=', eb('head', '-', count)))
  );
}

function findSurplusByRoom(db: Db, count: number, limit: number): EventKeys {
  return db
    .selectFrom('rooms')
    .where('head', '>', count)
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('roomEvents')
          .select(['roomId', 'seq'])
          .whereRef('roomId', '=', 'rooms.id')
          .where((eb) => eb('seq', '<=', eb('rooms.head', '-', count)))
          .orderBy('seq')
          .limit(limit)
          .as('oldest'),
      (join) => join.onTrue(),
    )
    .select(['oldest.roomId', 'oldest.seq']) as unknown as EventKeys;
}

async function deleteEvents(db: Db, keys: EventKeys): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('roomEvents')
    .where(({ eb, refTuple }) => eb(refTuple('roomId', 'seq'), 'in', keys.$asTuple('roomId', 'seq')))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
