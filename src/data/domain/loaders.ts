import DataLoader from 'dataloader';
import type { Db } from '../database/database.ts';
import type { LogPosition } from '../event-log/events.ts';
import { findUserHead } from '../event-log/user-events.ts';
import { columnsOf, findLastPosts, type PostReading } from '../lists/post-lists.ts';
import { createListStatement } from '../sql/statement.ts';
import { type PostRow, type PublicUser, publicUserColumns, type RoomRow, roomColumns } from '../tables.ts';
import { findReadUpTo, findUnread, type UserAndRooms } from './read-positions.ts';
import { findDirectUsers } from './rooms.ts';
import { findEmails } from './users.ts';
import { arePostsNotErased } from './visible-rooms.ts';

/** The maximum number of posts that one statement reads; a page has no more bodies. */
const maxPosts = { withBodies: 100, withoutBodies: 150 };

/** Reads the row of an id, or undefined if there is none. */
export type RowLoader<Row> = Pick<DataLoader<string, Row | undefined>, 'load' | 'prime'>;

export type Loaders = ReturnType<typeof createLoaders>;

/**
 * Reads by id, batched and cached for one operation. `reading` is called only if a read depends on it. `positionOf` is the position
 * of the cursor of a room, if it is older than the reads.
 */
export function createLoaders(
  db: Db,
  reading: () => PostReading,
  positionOf?: (roomId: string) => Promise<LogPosition>,
) {
  const lastPosts = new Map<number, DataLoader<string, PostRow[]>>();
  const byFunction = new Map<BatchRead<unknown>, DataLoader<string, unknown>>();
  const readUpTo = createUserRoomLoader(db, findReadUpTo);
  return {
    user: createLoader<PublicUser>((ids) => findUsers(db, ids)),
    /** The e-mail of a user, for viewers who may see it. It is read after the user, so it is at least as new. */
    email: createBatchLoader(db, findEmails),
    post: createLoader<PostRow>((ids) => findPosts(db, ids)),
    room: createLoader<RoomRow>((ids) => findRooms(db, ids)),
    /** The position of the latest event in the log of a user. */
    userHead: new DataLoader<string, LogPosition>((ids) => Promise.all(ids.map((id) => findUserHead(db, id)))),
    /** The id of the other user of a direct room of a user. */
    directUser: createUserRoomLoader(db, findDirectUsers),
    /** Whether a user is a member of a room. */
    isMember: async (userId: string, roomId: string) => (await readUpTo(userId, roomId)) !== undefined,
    /** The time up to which a member has read a room; undefined for other users. */
    readUpTo,
    /**
     * The number of posts that a member has not read, counted up to 100; undefined for other users. A client counts on from a
     * cursor, so posts after it do not count.
     */
    unread: createUserRoomLoader(db, async (db, userAndRooms) => {
      const ids: string[] = positionOf ? JSON.parse(userAndRooms.roomIds) : [];
      const numbers = await Promise.all(ids.map(async (id) => [id, (await positionOf?.(id))?.seq]));
      return findUnread(db, { ...userAndRooms, lastEvents: JSON.stringify(Object.fromEntries(numbers)) });
    }),
    /** Loads a value with a function that reads those of many keys; for extensions. */
    by<Value>(find: BatchRead<Value>, key: string): Promise<Value | undefined> {
      const loader = byFunction.get(find) ?? createBatchLoader(db, find);
      byFunction.set(find, loader);
      return loader.load(key) as Promise<Value | undefined>;
    },
    /** The last `last` published posts of an author, newest last. */
    lastPosts(authorId: string, last: number): Promise<PostRow[]> {
      const loader = lastPosts.get(last) ?? createLastPostsLoader(db, reading(), last);
      lastPosts.set(last, loader);
      return loader.load(authorId);
    },
  };
}

/**
 * Loads of the same id share a promise until their batch is read. DataLoader creates one for each, which for a page of
 * posts with few authors is more than one twentieth of the work.
 */
function createLoader<Row extends { id: string }>(find: (ids: readonly string[]) => Promise<Row[]>): RowLoader<Row> {
  const batch = new Map<string, Promise<Row | undefined>>();
  const loader = new DataLoader<string, Row | undefined>(async (ids) => {
    batch.clear();
    const rows = new Map((await find(ids)).map((row) => [row.id, row]));
    return ids.map((id) => rows.get(id));
  });
  return {
    load(id) {
      const loading = batch.get(id);
      if (loading) return loading;
      const promise = loader.load(id);
      batch.set(id, promise);
      return promise;
    },
    prime: (id, row) => loader.prime(id, row),
  };
}

/** Reads the values of keys; a key without a value is absent. */
export type BatchRead<Value> = (db: Db, keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>;

function createBatchLoader<Value>(db: Db, find: BatchRead<Value>): DataLoader<string, Value | undefined> {
  return new DataLoader(async (keys) => {
    const found = await find(db, keys);
    return keys.map((key) => found.get(key));
  });
}

/** Loads a value for each user and room. */
function createUserRoomLoader<Value>(
  db: Db,
  find: (db: Db, values: UserAndRooms) => Promise<{ roomId: string; value: Value }[]>,
): (userId: string, roomId: string) => Promise<Value | undefined> {
  const loaders = new Map<string, DataLoader<string, Value | undefined>>();
  return (userId, roomId) => {
    const load = async (roomIds: readonly string[]) => {
      const rows = await find(db, { userId, roomIds: JSON.stringify(roomIds) });
      const values = new Map(rows.map(({ roomId, value }) => [roomId, value]));
      return roomIds.map((id) => values.get(id));
    };
    const loader = loaders.get(userId) ?? new DataLoader(load);
    loaders.set(userId, loader);
    return loader.load(roomId);
  };
}

function createLastPostsLoader(db: Db, reading: PostReading, last: number): DataLoader<string, PostRow[]> {
  const find = async (authorIds: readonly string[]) => {
    const posts = Map.groupBy(await findLastPosts(db, reading, authorIds, last), ({ authorId }) => authorId);
    return authorIds.map((id) => posts.get(id) ?? []);
  };
  const most = reading.readsBodies ? maxPosts.withBodies : maxPosts.withoutBodies;
  return new DataLoader(find, { maxBatchSize: Math.ceil(most / last) });
}

const findUsers = createListStatement((db, ids) =>
  db.selectFrom('users').select(publicUserColumns).where('id', 'in', ids),
);
const findPosts = createListStatement((db, ids) =>
  db
    .selectFrom('posts')
    .select(columnsOf(db, { readsBodies: true }))
    .where('id', 'in', ids)
    .where(arePostsNotErased('posts.authorId')),
);
const findRooms = createListStatement((db, ids) =>
  db.selectFrom('rooms').select(roomColumns).where('id', 'in', ids).where('deletedAt', 'is', null),
);
