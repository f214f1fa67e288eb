import { type RawBuilder, sql } from 'kysely';

/**
 * The rooms that are visible to a viewer: public rooms, private rooms of which they are a member, and all rooms if
 * `seesAll`.
 */
export interface VisibleRooms {
  /** Null for a viewer without credentials. */
  userId: string | null;
  seesAll: boolean;
}

/**
 * Whether the room of a row is visible to the viewer. The hidden rooms are read once per statement, not once per row.
 */
export function isVisibleRoom(
  { userId, seesAll }: VisibleRooms,
  roomId: 'rooms.id' | 'posts.roomId' | 'recent.roomId',
): RawBuilder<boolean> {
  if (seesAll) return sql<boolean>`1 = 1`;
  const hidden = sql`select "id" from "rooms" where "visibility" = 'PRIVATE'`;
  if (userId === null) return sql<boolean>`${sql.ref(roomId)} not in (${hidden})`;
  const joined = sql`select "roomId" from "roomMembers" where "userId" = ${userId}`;
  return sql<boolean>`${sql.ref(roomId)} not in (${hidden} and "id" not in (${joined}))`;
}
