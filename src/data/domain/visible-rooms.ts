import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Db } from '../database/database.ts';
import { dialectOf } from '../sql/sql-dialect.ts';
import { createStatement, firstOrThrow } from '../sql/statement.ts';
import type { Tables } from '../tables.ts';

/**
 * A viewer and their rights. Visible are public rooms, private rooms of which they are a member, and all rooms if
 * `seesAll`.
 */
export interface ViewerScope {
  /** Null for a viewer without credentials. */
  userId: string | null;
  seesAll: boolean;
}

type RoomColumn = 'rooms.id' | 'posts.roomId' | 'recent.roomId' | 'roomMembers.roomId';
type AuthorColumn = 'posts.authorId' | 'users.id' | 'roomMembers.userId';

/** Deleted rooms that still have rows. Usually there are none. They are private. */
const deletedRooms = sql`select "id" from "rooms" where "deletedAt" is not null`;

const privateRooms = sql`select "id" from "rooms" where "visibility" = 'PRIVATE'`;

/** The public rooms. Its condition must be that of the index `publicRoomsByAge`, not a parameter. */
export function selectPublicRooms(db: Db): SelectQueryBuilder<Tables, 'rooms', object> {
  return db.selectFrom('rooms').where(dialectOf(db).countsRows('rooms')).where(sql<boolean>`"visibility" = 'PUBLIC'`);
}

/** The rooms of which a user is a member. The cross join makes SQLite begin with the memberships. */
export function selectJoinedRooms(db: Db, userId: string): SelectQueryBuilder<Tables, 'rooms', object> {
  const joined = db
    .selectFrom('roomMembers')
    .crossJoin('rooms')
    .where(dialectOf(db).countsRows('roomMembers'))
    .where('userId', '=', userId)
    .whereRef('rooms.id', '=', 'roomMembers.roomId')
    .where('deletedAt', 'is', null);
  return joined as unknown as SelectQueryBuilder<Tables, 'rooms', object>;
}

export function selectJoinedPrivateRooms(db: Db, userId: string): SelectQueryBuilder<Tables, 'rooms', object> {
  return selectJoinedRooms(db, userId).where('visibility', '=', 'PRIVATE');
}

/**
 * Whether a room is visible to the viewer. The room is read by its id for each row, so that the number of rooms does not
 * matter: for reads of few rows. `roomId` may be the value of a statement, for which it is read once.
 */
export function isVisibleRoom(
  { userId, seesAll }: ViewerScope,
  roomId: RoomColumn | RawBuilder<string>,
): RawBuilder<boolean> {
  if (seesAll) return isRoomNotDeleted(roomId);
  const isMember = sql`exists (select 1 from "roomMembers" where "roomId" = "room"."id" and "userId" = ${userId})`;
  const isJoined = userId === null ? sql`` : sql`or "deletedAt" is null and ${isMember}`;
  // PostgreSQL could turn another form than a scalar subquery into a join with all rooms.
  return sql`(select "visibility" = 'PUBLIC' ${isJoined} from "rooms" as "room" where "id" = ${toExpression(roomId)})`;
}

/**
 * The same for the posts of a total, which SQLite counts room by room, or for the many posts that a page skips in the order
 * of an index: SQLite would otherwise sort them.
 */
export function isAmongVisibleRooms(db: Db, viewerScope: ViewerScope, { isInOrder = false } = {}): RawBuilder<boolean> {
  if (viewerScope.seesAll) return isRoomNotDeleted('posts.roomId');
  const prefix = isInOrder ? dialectOf(db).unindexed : sql``;
  const { userId } = viewerScope;
  const publicRooms = selectPublicRooms(db).select('rooms.id');
  const rooms =
    userId === null ? publicRooms : publicRooms.unionAll(selectJoinedPrivateRooms(db, userId).select('rooms.id'));
  return sql`${prefix}${sql.ref('posts.roomId')} in (${rooms})`;
}

/** The same if there are few private rooms: a post is then skipped faster. */
export function isNotAmongHiddenRooms({ userId, seesAll }: ViewerScope): RawBuilder<boolean> {
  if (seesAll) return isRoomNotDeleted('posts.roomId');
  const joined = sql`select "roomId" from "roomMembers" where "userId" = ${userId}`;
  const hidden = userId === null ? privateRooms : sql`${privateRooms} and "id" not in (${joined})`;
  return sql`${sql.ref('posts.roomId')} not in (${hidden} union all ${deletedRooms})`;
}

const maxFewRooms = 1_000;
const countPrivateRooms = createStatement((db) =>
  db
    .selectFrom(sql`(${privateRooms} limit ${sql.lit(maxFewRooms + 1)})`.as('counted'))
    .select(({ fn }) => fn.countAll<number>().as('rooms')),
);

export async function areFewRoomsPrivate(db: Db): Promise<boolean> {
  return firstOrThrow(await countPrivateRooms(db, {})).rooms <= maxFewRooms;
}

/** Whether the room of a row is not deleted. */
export function isRoomNotDeleted(roomId: RoomColumn | RawBuilder<string>): RawBuilder<boolean> {
  return sql<boolean>`${toExpression(roomId)} not in (${deletedRooms})`;
}

/** Whether the posts of an author are not being deleted together with the account. */
export function arePostsNotErased(authorId: AuthorColumn): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(authorId)} not in (select "id" from "users" where "erasing" = 'POSTS')`;
}

/** Whether the account itself is not being erased. */
export function isAccountNotErased(userId: AuthorColumn): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(userId)} not in (select "id" from "users" where "erasing" is not null)`;
}

function toExpression(roomId: RoomColumn | RawBuilder<string>): RawBuilder<unknown> {
  return typeof roomId === 'string' ? sql.ref(roomId) : roomId;
}
