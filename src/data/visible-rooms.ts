import { type RawBuilder, sql } from 'kysely';

/** Which rooms a reader sees: the public ones, and those they are a member of. */
export interface VisibleRooms {
  /** Null for one without credentials. */
  userId: string | null;
  seesAll: boolean;
}

/** Whether the room of a row is one that the reader sees. The hidden ones are found once a statement, not once a row. */
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
