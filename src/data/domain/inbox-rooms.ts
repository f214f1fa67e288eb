import { sql } from 'kysely';
import type { Db } from '../database/database.ts';
import { headOf, type LogPosition } from '../event-log/events.ts';
import { dialectOf } from '../sql/sql-dialect.ts';
import { createStatement } from '../sql/statement.ts';

/** A room of which a user is a member. */
export interface InboxRoom {
  roomId: string;
  /** The position of the room's latest event. */
  head: LogPosition;
  /** The position before the user's latest MemberJoined; undefined if the log does not have this event. */
  joined: LogPosition | undefined;
}

/** The rooms of a user, as one statement has read them. */
export interface InboxRooms {
  rooms: readonly InboxRoom[];
  /** It is another number after each beginning and end of a membership of the user. */
  version: number;
}

/** The user's row is there without any room, too. */
const selectRooms = createStatement((db, { userId, limit }: { userId: string; limit: number }) =>
  db
    .selectFrom('users')
    .leftJoin('membershipVersions', 'membershipVersions.userId', 'users.id')
    .leftJoin('roomMembers', 'roomMembers.userId', 'users.id')
    .leftJoin('rooms', (join) => join.onRef('rooms.id', '=', 'roomMembers.roomId').on('rooms.deletedAt', 'is', null))
    .leftJoin('roomEvents as joins', (join) =>
      join
        .onRef('joins.roomId', '=', 'rooms.id')
        .onRef('joins.subjectId', '=', 'roomMembers.userId')
        .onRef('joins.at', '=', 'roomMembers.joinedAt')
        // Not a parameter, so that every plan of the statement can use the index.
        .on(sql<boolean>`"joins"."type" = 'MemberJoined'`),
    )
    .select([
      'membershipVersions.version',
      'rooms.id as roomId',
      'rooms.head',
      'rooms.headMark',
      'joins.seq as joinedSeq',
      'joins.previousMark as joinedAfter',
    ])
    .where('users.id', '=', userId)
    .limit(limit),
);

/**
 * The rooms of the user; if there are more than `limit`, at least one more than that. Rooms that are being deleted are
 * left out, so that more memberships are read.
 */
export async function findInboxRooms(db: Db, userId: string, limit: number): Promise<InboxRooms> {
  const rows = await selectRooms(db, { userId, limit: 2 * limit });
  const rooms = rows.flatMap(({ roomId, head, headMark, joinedSeq, joinedAfter }): InboxRoom[] => {
    if (roomId === null || head === null || headMark === null) return [];
    const isInLog = joinedSeq !== null && joinedAfter !== null;
    const joined = isInLog ? { seq: joinedSeq - 1, mark: joinedAfter } : undefined;
    return [{ roomId, head: headOf({ head, headMark }), joined }];
  });
  return { rooms, version: rows[0]?.version ?? 0 };
}

/** The events after a number in the log of a room that concern the memberships of a user. */
export interface AfterPosition {
  roomId: string;
  userId: string;
  after: number;
}

const selectMembershipEvents = createStatement((db, { roomId, userId, after }: AfterPosition) =>
  db
    .selectFrom('roomEvents')
    .select(['type', 'seq', 'previousMark'])
    .where('subjectId', '=', userId)
    .where('roomId', '=', roomId)
    .where('seq', '>', after)
    // The condition of the index.
    .where(sql<boolean>`("type" = 'MemberJoined' or "type" = 'MemberLeft')`)
    .orderBy('seq')
    // A MemberJoined and a MemberLeft.
    .limit(2),
);

/**
 * The position before the user's next MemberJoined; undefined if the user was a member at the given position, or has not
 * joined the room since.
 */
export async function findNextJoin(db: Db, values: AfterPosition): Promise<LogPosition | undefined> {
  const [next] = await selectMembershipEvents(db, values);
  return next?.type === 'MemberJoined' ? positionBefore(next) : undefined;
}

/** The position before the user's next MemberLeft. */
export async function findNextLeave(db: Db, values: AfterPosition): Promise<LogPosition | undefined> {
  const next = (await selectMembershipEvents(db, values)).find(({ type }) => type === 'MemberLeft');
  return next && positionBefore(next);
}

function positionBefore({ seq, previousMark }: { seq: number; previousMark: number }): LogPosition {
  return { seq: seq - 1, mark: previousMark };
}

/** The users among these whose memberships have changed since a version. */
export async function findMovedVersions(
  db: Db,
  versions: Iterable<readonly [userId: string, version: number]>,
): Promise<string[]> {
  const { rows } = await sql<{ userId: string }>`
    select known.value ->> 0 as "userId"
    from ${dialectOf(db).elementsOf(JSON.stringify([...versions]))} as known
    left join "membershipVersions" on "membershipVersions"."userId" = known.value ->> 0
    where coalesce("version", 0) <> cast(known.value ->> 1 as bigint)
  `.execute(db);
  return rows.map(({ userId }) => userId);
}

const selectForeign = createStatement((db, { userId, roomIds }: { userId: string; roomIds: string }) =>
  db
    .selectFrom('rooms')
    .select('id')
    .where(dialectOf(db).isListed('rooms.id', roomIds))
    .where('deletedAt', 'is', null)
    .where('visibility', '=', 'PUBLIC')
    .where('id', 'not in', (eb) => eb.selectFrom('formerMembers').select('roomId').where('userId', '=', userId))
    .where('id', 'not in', (eb) => eb.selectFrom('roomMembers').select('roomId').where('userId', '=', userId)),
);

/**
 * The public rooms among these to which the user never belonged. To such a user a private room does not exist, and is not
 * distinguished from a deleted room.
 */
export async function findForeignRooms(db: Db, userId: string, roomIds: readonly string[]): Promise<string[]> {
  const rows = await selectForeign(db, { userId, roomIds: JSON.stringify(roomIds) });
  return rows.map(({ id }) => id);
}
