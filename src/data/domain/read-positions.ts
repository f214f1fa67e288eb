import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../database/database.ts';
import { timeOfAppended } from '../event-log/events.ts';
import { dialectOf } from '../sql/sql-dialect.ts';
import { createStatement } from '../sql/statement.ts';
import { arePostsNotErased } from './visible-rooms.ts';

/*
 * A member has read a room up to a time of its events. It is not a time of a clock: each event of a room has a later time
 * than the event before, so that every new post comes after the position.
 */

/** The maximum number of posts that are counted as unread. */
const maxUnread = 100;

/** The time up to which the member has read the room. */
const readUpTo: RawBuilder<number> = sql<number>`coalesce("roomMembers"."readUpTo", "roomMembers"."joinedAt")`;

const selectPostTime = createStatement((db, { roomId, postId }: { roomId: string; postId: string }) =>
  db
    .selectFrom('posts')
    .innerJoin('rooms', 'rooms.id', 'posts.roomId')
    .select(['publishedAt', 'headAt'])
    .where('posts.id', '=', postId)
    .where('roomId', '=', roomId)
    .where(arePostsNotErased('posts.authorId')),
);

/**
 * The time of a published post of the room; undefined if the room has no such post. For an imported post with a time in
 * the future it is the present time, so that new posts come after it.
 */
export async function findPostTime(db: Db, roomId: string, postId: string): Promise<number | undefined> {
  const [post] = await selectPostTime(db, { roomId, postId });
  if (!post || post.publishedAt === null) return undefined;
  return Math.min(post.publishedAt, Math.max(post.headAt, Date.now()));
}

const selectLatestTime = createStatement(
  (_db, { roomId, now }: { roomId: string; now: number }) =>
    sql<{ headAt: number; postedAt: number | null }>`
      select "headAt",
        (select max("publishedAt") from "posts" where "roomId" = ${roomId} and "publishedAt" <= ${now}) as "postedAt"
      from "rooms" where "id" = ${roomId}`,
);

/** The time of the latest event, or of a later post: an import writes posts without events. */
export async function findLatestTime(db: Db, roomId: string): Promise<number | undefined> {
  const [room] = await selectLatestTime(db, { roomId, now: Date.now() });
  return room && Math.max(room.headAt, room.postedAt ?? 0);
}

interface ReadPosition {
  roomId: string;
  userId: string;
  readUpTo: number;
}

const advance = createStatement((db, position: ReadPosition) =>
  db
    .updateTable('roomMembers')
    .set({ readUpTo: position.readUpTo })
    .where('roomId', '=', position.roomId)
    .where('userId', '=', position.userId)
    .where(readUpTo, '<', position.readUpTo)
    .returning('readUpTo'),
);

/** Moves the read position of a member. Returns false if it is there already, or later. */
export async function advanceReadPosition(db: Db, position: ReadPosition): Promise<boolean> {
  return (await advance(db, position)).length > 0;
}

/** Moves the read position of a member, if the user is one, to the event that is being appended. */
export const advanceReadPositionToAppended = createStatement((db, { roomId, userId }: Omit<ReadPosition, 'readUpTo'>) =>
  db
    .updateTable('roomMembers')
    .set({ readUpTo: timeOfAppended(roomId) })
    .where('roomId', '=', roomId)
    .where('userId', '=', userId)
    .where(readUpTo, '<', timeOfAppended(roomId)),
);

/** A user, and a list of ids of rooms in JSON. */
export interface UserAndRooms {
  userId: string;
  roomIds: string;
}

/** The time up to which the user has read each of the rooms of which the user is a member. */
export const findReadUpTo = createStatement((db, { userId, roomIds }: UserAndRooms) =>
  db
    .selectFrom('roomMembers')
    .select(['roomId', readUpTo.as('value')])
    .where('userId', '=', userId)
    .where(dialectOf(db).isListed('roomMembers.roomId', roomIds)),
);

/**
 * The number of published posts by others after the user's read position, for each of the rooms of which the user is a
 * member. It is counted up to 100. `lastEvents` is an object in JSON, which may have the number of an event by the id of its room:
 * posts that were published after this event do not count.
 */
export const findUnread = createStatement(
  (db, { userId, roomIds, lastEvents }: UserAndRooms & { lastEvents: string }) => sql<{
    roomId: string;
    value: number;
  }>`
    select "roomId", (
      select count(*) from (
        select "posts"."id" from "posts"
        where ${dialectOf(db).countsRows('posts')} and "posts"."roomId" = "roomMembers"."roomId"
          and "posts"."publishedAt" > ${readUpTo}
          and "posts"."publishedAt" < coalesce((
            select "at" from "roomEvents"
            where "roomId" = "roomMembers"."roomId" and "seq" > ${dialectOf(db).integerIn(lastEvents, 'roomMembers.roomId')}
            order by "seq" limit 1
          ), ${sql.lit(Number.MAX_SAFE_INTEGER)})
          and "posts"."authorId" <> "roomMembers"."userId"
          and ${arePostsNotErased('posts.authorId')}
        limit ${sql.lit(maxUnread)}
      ) as "unread"
    ) as "value"
    from "roomMembers" where "userId" = ${userId} and ${dialectOf(db).isListed('roomMembers.roomId', roomIds)}`,
);
