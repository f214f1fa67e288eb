import { type RawBuilder, sql } from 'kysely';
import { countsRows } from './bounded-work.ts';
import type { Db } from './database.ts';

/**
 * The rooms that are visible to a viewer: public rooms, private rooms of which they are a member, and all rooms if
 * `seesAll`.
 */
export interface VisibleRooms {
  /** Null for a viewer without credentials. */
  userId: string | null;
  seesAll: boolean;
}

type RoomColumn = 'rooms.id' | 'posts.roomId' | 'recent.roomId' | 'roomMembers.roomId';
type AuthorColumn = 'posts.authorId' | 'users.id' | 'roomMembers.userId';

/** Deleted rooms that still have rows. Usually there are none. */
const deletedRooms = sql`select "id" from "rooms" where "deletedAt" is not null`;

/**
 * Whether the room of a row is visible to the viewer. The hidden rooms are read once per statement, not once per row.
 */
export function isVisibleRoom(db: Db, { userId, seesAll }: VisibleRooms, roomId: RoomColumn): RawBuilder<boolean> {
  if (seesAll) return isRoomKept(roomId);
  const privateRooms = sql`select "id" from "rooms" where ${countsRows(db, 'rooms')} and "visibility" = 'PRIVATE'`;
  const joined = sql`select "roomId" from "roomMembers" where "userId" = ${userId}`;
  const hidden = userId === null ? privateRooms : sql`${privateRooms} and "id" not in (${joined})`;
  return sql<boolean>`${sql.ref(roomId)} not in (${hidden} union all ${deletedRooms})`;
}

/** Whether the room of a row is not deleted. */
export function isRoomKept(roomId: RoomColumn): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(roomId)} not in (${deletedRooms})`;
}

/** Whether the posts of an author are not being deleted together with the account. */
export function arePostsKept(authorId: AuthorColumn): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(authorId)} not in (select "id" from "users" where "erasing" = 'POSTS')`;
}

/** Whether the account itself is not being erased. */
export function isAccountKept(userId: AuthorColumn): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(userId)} not in (select "id" from "users" where "erasing" is not null)`;
}
