import DataLoader from 'dataloader';
import type { Db } from './database.ts';
import { findLastPosts, findPosts } from './posts.ts';
import { findRooms } from './rooms.ts';
import type { PostRow, RoomRow, UserRow } from './tables.ts';
import { findUsers } from './users.ts';

/** Reads by id, batched and remembered for one operation. */
export interface Loaders {
  user: DataLoader<string, UserRow | undefined>;
  post: DataLoader<string, PostRow | undefined>;
  room: DataLoader<string, RoomRow | undefined>;
  /** The last `last` published posts of an author, newest last. */
  lastPosts: (authorId: string, last: number) => Promise<PostRow[]>;
}

export function createLoaders(db: Db): Loaders {
  const lastPosts = new Map<number, DataLoader<string, PostRow[]>>();
  return {
    user: createLoader((ids) => findUsers(db, ids)),
    post: createLoader((ids) => findPosts(db, ids)),
    room: createLoader((ids) => findRooms(db, ids)),
    lastPosts(authorId, last) {
      const known = lastPosts.get(last) ?? createLastPostsLoader(db, last);
      lastPosts.set(last, known);
      return known.load(authorId);
    },
  };
}

function createLoader<Row extends { id: string }>(
  find: (ids: readonly string[]) => Promise<Row[]>,
): DataLoader<string, Row | undefined> {
  return new DataLoader(async (ids) => {
    const rows = new Map((await find(ids)).map((row) => [row.id, row]));
    return ids.map((id) => rows.get(id));
  });
}

function createLastPostsLoader(db: Db, last: number): DataLoader<string, PostRow[]> {
  return new DataLoader(async (authorIds) => {
    const posts = Map.groupBy(await findLastPosts(db, authorIds, last), ({ authorId }) => authorId);
    return authorIds.map((id) => posts.get(id) ?? []);
  });
}
