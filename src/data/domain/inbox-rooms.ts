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
  /** The ids of rooms that are being deleted, and of which the user's log does not say so yet. */
  ending: ReadonlySet<string>;
  /** The position of the latest event in the user's log. */
  head: LogPosition;
}

interface InboxRow {
  userHead: number | null;
  userHeadMark: number | null;
  joinedId: string | null;
  roomId: string | null;
  head: number | null;
  headMark: number | null;
  joinedSeq: number | null;
  joinedAfter: number | null;
}

/** The user's row is there without any room, too. The type of the event is the condition of an index. */
const selectRooms = createStatement(
  (_db, { userId, limit }: { userId: string; limit: number }) => sql<InboxRow>`
    select "userLogs"."head" as "userHead", "userLogs"."headMark" as "userHeadMark", "roomMembers"."roomId" as "joinedId",
      "rooms"."id" as "roomId", "rooms"."head", "rooms"."headMark",
      "joins"."seq" as "joinedSeq", "joins"."previousMark" as "joinedAfter"
    from "users"
      left join "userLogs" on "userLogs"."userId" = "users"."id"
      left join "roomMembers" on "roomMembers"."userId" = "users"."id"
      left join "rooms" on "rooms"."id" = "roomMembers"."roomId" and "rooms"."deletedAt" is null
      left join "roomEvents" as "joins" on "joins"."roomId" = "rooms"."id" and "joins"."subjectId" = "roomMembers"."userId"
        and "joins"."at" = "roomMembers"."joinedAt" and "joins"."type" = 'MemberJoined'
    where "users"."id" = ${userId} limit ${limit}`,
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
  const { userHead, userHeadMark } = rows[0] ?? {};
  const ending = new Set(rows.flatMap(({ roomId, joinedId }) => (roomId === null && joinedId ? [joinedId] : [])));
  return { rooms, ending, head: { seq: userHead ?? 0, mark: userHeadMark ?? 0 } };
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
