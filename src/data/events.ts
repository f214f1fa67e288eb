import { randomInt } from 'node:crypto';
import { type Expression, type SelectQueryBuilder, sql } from 'kysely';
import type { Db } from './database.ts';
import { hasLateralJoins } from './dialects.ts';
import type { PostEventType, RoomEventType } from './room-event-types.ts';
import { createStatement } from './statement.ts';
import {
  type PostRow,
  type PublicUser,
  type RoomEventRow,
  type RoomRow,
  roomEventColumns,
  type Tables,
} from './tables.ts';

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
export type NewRoomEvent<Row = unknown> = NewPostEvent | NewPlainEvent<Row>;

interface NewEntry {
  roomId: string;
  subjectId: string;
  version: number;
}

/** An event that carries its post. Only its author may change a post, so the actor is the author. */
export interface NewPostEvent extends NewEntry {
  type: PostEventType;
  author: PublicUser;
  /** Stores the post. */
  store: (db: Db) => Promise<PostRow>;
}

export interface NewPlainEvent<Row> extends NewEntry {
  type: Exclude<RoomEventType, PostEventType>;
  actorId: string | null;
  /** Stores the change that the event reports. */
  store: (db: Db) => Promise<Row>;
}

/** An event in the log, and the row that was stored with it. */
export interface AppendedEvent<Row> {
  event: RoomEvent;
  stored: Row;
}

/**
 * Writes an event and its change in the transaction. The number and the time come from the room's row, which stays
 * locked until the commit, so that the order of numbers is the order of commits.
 *
 * No statement needs the result of an earlier one. All are sent together with the commit, so that a database behind a
 * network does not hold the lock of the room while messages travel.
 */
export async function appendEvent<Row>(db: Db, event: NewRoomEvent<Row>): Promise<AppendedEvent<Row | PostRow>> {
  const { roomId, type, subjectId, version } = event;
  const mark = randomInt(1, maxMark);
  const actorId = 'author' in event ? event.author.id : event.actorId;
  const [[head], stored] = await Promise.all([
    advanceHead(db, { roomId, mark, now: Date.now() }),
    event.store(db),
    insertEvent(db, { roomId, type, subjectId, version, actorId }),
  ]);
  if (!head) throw new Error(`There is no room ${roomId} to append an event to.`);
  const { head: seq, previousMark, headAt: at } = head;
  const row = { roomId, seq, mark, previousMark, type, subjectId, version, actorId, at };
  const content = 'author' in event && { post: stored as PostRow, author: event.author };
  return { event: { ...row, ...(content && { content }) }, stored };
}

/**
 * Gives the room's next event its number, mark and time. The time is in milliseconds since 1970: now, but always later
 * than the latest event. If the clock was set back, or two changes fall in one millisecond, new content must not be
 * placed before a position that a client already has. An import writes no events, so an imported post with a time in the
 * far future does not count.
 */
const advanceHead = createStatement((db, { roomId, mark, now }: { roomId: string; mark: number; now: number }) =>
  db
    .updateTable('rooms')
    .set((eb) => ({
      head: eb('head', '+', 1),
      previousMark: eb.ref('headMark'),
      headMark: mark,
      headAt: eb
        .case()
        .when('headAt', '<', now)
        .then(eb.val(now))
        .else(eb('headAt', '+', 1))
        .end(),
    }))
    .where('id', '=', roomId)
    .returning(['head', 'previousMark', 'headAt']),
);

/** The time of the event that is being appended, for the statement that stores its subject. */
export function timeOfAppended(roomId: string): Expression<number> {
  return sql<number>`(select "headAt" from "rooms" where "id" = ${roomId})`;
}

/** Inserts the event whose number was taken last. */
const insertEvent = createStatement(
  (db, { roomId, type, subjectId, version, actorId }: Omit<RoomEventRow, 'seq' | 'mark' | 'previousMark' | 'at'>) =>
    db
      .insertInto('roomEvents')
      .columns(['roomId', 'seq', 'mark', 'previousMark', 'at', 'type', 'subjectId', 'version', 'actorId'])
      .expression((eb) =>
        eb
          .selectFrom('rooms')
          .select([
            'id',
            'head',
            'headMark',
            'previousMark',
            'headAt',
            // The types of values in a list of results are not inferred from the columns.
            sql<RoomEventType>`cast(${type} as text)`.as('type'),
            sql<string>`cast(${subjectId} as text)`.as('subjectId'),
            sql<number>`cast(${version} as integer)`.as('version'),
            sql<string | null>`cast(${actorId} as text)`.as('actorId'),
          ])
          .where('id', '=', roomId),
      ),
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

/** The head of a room, or undefined if the room is deleted. */
export async function findHead(db: Db, roomId: string): Promise<LogPosition | undefined> {
  const row = await db.selectFrom('rooms').select(['head', 'headMark']).where('id', '=', roomId).executeTakeFirst();
  return row && headOf(row);
}

/** Removes a deleted user as the actor of events. */
export async function clearActor(db: Db, userId: string): Promise<void> {
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
  const [deleteEvents, surplus] = hasLateralJoins(db)
    ? [deleteByPlace, findSurplusByRoom(db, count, limit)]
    : [deleteByKey, findSurplus(db, count)];
  const aged = db.selectFrom('roomEvents').where('at', '<', before);
  const trimmed = await deleteEvents(db, aged.limit(limit));
  return trimmed === limit ? trimmed : trimmed + (await deleteEvents(db, surplus.limit(limit - trimmed)));
}

type Events = SelectQueryBuilder<Tables, 'roomEvents', unknown>;

function findSurplus(db: Db, count: number): Events {
  return (
    db
      .selectFrom('rooms')
      // A planner without statistics keeps the order of a cross join. With another join it could scan all events.
      .crossJoin('roomEvents')
      .whereRef('roomId', '=', 'rooms.id')
      .where((eb) => eb('seq', '<=', eb('head', '-', count)))
  );
}

function findSurplusByRoom(db: Db, count: number, limit: number): Events {
  return db
    .selectFrom('rooms')
    .where('head', '>', count)
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('roomEvents')
          .select(sql<string>`"ctid"`.as('ctid'))
          .whereRef('roomId', '=', 'rooms.id')
          .where((eb) => eb('seq', '<=', eb('rooms.head', '-', count)))
          .orderBy('seq')
          .limit(limit)
          .as('roomEvents'),
      (join) => join.onTrue(),
    ) as unknown as Events;
}

async function deleteByKey(db: Db, events: Events): Promise<number> {
  const keys = events.select(['roomId', 'seq']).$asTuple('roomId', 'seq');
  const { numDeletedRows } = await db
    .deleteFrom('roomEvents')
    .where(({ eb, refTuple }) => eb(refTuple('roomId', 'seq'), 'in', keys))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** By keys, PostgreSQL could read all events, because its plan must serve any number of keys. */
async function deleteByPlace(db: Db, events: Events): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('roomEvents')
    .where(sql<boolean>`"ctid" = any(array(${events.select(sql<string>`"roomEvents"."ctid"`.as('ctid'))}))`)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
