import { type Expression, type ExpressionBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { createId } from '../ids.ts';
import type { Db, RowLock } from './database.ts';
import { hasLateralJoins } from './dialects.ts';
import { timeOfAppended } from './events.ts';
import { executeInParts } from './list-statements.ts';
import {
  type ConnectionArguments,
  createConnection,
  createPage,
  encodeKey,
  type KeyRange,
  type PageArguments,
  type PostConnection,
  type PostEdge,
  type PostPage,
} from './pages.ts';
import { createLockingStatement, createStatement, firstOrThrow } from './statement.ts';
import { contains } from './stored-text.ts';
import { columns, type PostRow, postColumns, type Tables } from './tables.ts';
import { isVisibleRoom, type VisibleRooms } from './visible-rooms.ts';

export interface PostFilter {
  room?: string | null | undefined;
  author?: string | null | undefined;
  title?: string | null | undefined;
  publishedAfter?: number | null | undefined;
  publishedBefore?: number | null | undefined;
}

export interface NewPost extends Omit<PostRow, 'id' | 'createdAt' | 'updatedAt' | 'version'> {
  /** The default is now; an import gives the original time. */
  createdAt?: number;
}

/** An undefined property stays unchanged. */
export interface PostChanges {
  title?: string | undefined;
  body?: string | null | undefined;
  /** The time of the event that is being appended. */
  publishedAt?: Expression<number>;
}

export function createPostRow({ createdAt = Date.now(), ...post }: NewPost): PostRow {
  return { id: createId('Post'), ...post, createdAt, updatedAt: createdAt, version: 1 };
}

const insertRow = createStatement((db, row: PostRow) => db.insertInto('posts').values(row).returning(postColumns));

const insertWithTime = createStatement((db, { publishedAt: _, createdAt: __, updatedAt: ___, ...row }: PostRow) => {
  const at = timeOfAppended(row.roomId);
  return db
    .insertInto('posts')
    .values({ ...row, publishedAt: at, createdAt: at, updatedAt: at })
    .returning(postColumns);
});

export async function insertPost(db: Db, row: PostRow): Promise<PostRow> {
  return firstOrThrow(await insertRow(db, row));
}

/** Inserts a post with the time of the event that is being appended. */
export async function insertPublishedPost(db: Db, row: PostRow): Promise<PostRow> {
  return firstOrThrow(await insertWithTime(db, row));
}

export async function insertPosts(db: Db, rows: readonly PostRow[]): Promise<void> {
  await executeInParts(db, rows, {
    build: (part) => db.insertInto('posts').values([...part]),
    parametersOf: Object.values<unknown>,
  });
}

const selectPost = createLockingStatement((db, { id }: { id: string }) =>
  db.selectFrom('posts').select(postColumns).where('id', '=', id),
);

export async function findPost(db: Db, id: string, lock?: RowLock): Promise<PostRow | undefined> {
  return (await selectPost(db, { id }, lock))[0];
}

/** The conditions under which a list of posts is read. */
export interface PostReading {
  visibleRooms: VisibleRooms;
  /**
   * If false, `body` is null in the rows. A long body takes a hundred times as long to read as the rest of its post.
   */
  readsBodies: boolean;
}

const withoutBody = (['roomId', 'authorId', ...columns.Post] as const)
  .filter((column) => column !== 'body')
  .map((column) => `posts.${column}` as const);

function columnsOf({ readsBodies }: Pick<PostReading, 'readsBodies'>) {
  const body = readsBodies ? sql.ref<string | null>('posts.body') : sql<string | null>`null`;
  return [...withoutBody, body.as('body')];
}

export function findPostPage(db: Db, reading: PostReading, filter: PostFilter, page: PageArguments): PostPage {
  let query = db
    .selectFrom('posts')
    .select(columnsOf(reading))
    .where('publishedAt', 'is not', null)
    .where(isVisibleRoom(reading.visibleRooms, 'posts.roomId'));
  if (filter.room != null) query = query.where('roomId', '=', filter.room);
  if (filter.author != null) query = query.where('authorId', '=', filter.author);
  if (filter.title != null) query = query.where(contains('title', filter.title));
  if (filter.publishedAfter != null) query = query.where('publishedAt', '>', filter.publishedAfter);
  if (filter.publishedBefore != null) query = query.where('publishedAt', '<', filter.publishedBefore);
  return createPage(query.orderBy('publishedAt').orderBy('id'), page);
}

export function findDrafts(db: Db, reading: PostReading, authorId: string, page: PageArguments): PostPage {
  const query = db
    .selectFrom('posts')
    .select(columnsOf(reading))
    .where('authorId', '=', authorId)
    .where('publishedAt', 'is', null)
    .where(isVisibleRoom(reading.visibleRooms, 'posts.roomId'));
  return createPage(query.orderBy('createdAt').orderBy('id'), page);
}

/** The last `last` published posts of each author, newest last, in one statement. */
export async function findLastPosts(
  db: Db,
  reading: PostReading,
  authorIds: readonly string[],
  last: number,
): Promise<PostRow[]> {
  const findRecent = (eb: ExpressionBuilder<Tables, 'users'>) =>
    eb
      .selectFrom('posts as recent')
      .whereRef('recent.authorId', '=', 'users.id')
      .where('recent.publishedAt', 'is not', null)
      .where(isVisibleRoom(reading.visibleRooms, 'recent.roomId'))
      .orderBy('recent.publishedAt', 'desc')
      .orderBy('recent.id', 'desc')
      .limit(last);
  const users = db.selectFrom('users');
  const posts = hasLateralJoins(db)
    ? users.innerJoinLateral(
        (eb) => findRecent(eb).selectAll('recent').as('posts'),
        (join) => join.onTrue(),
      )
    : users.innerJoin('posts', (join) => join.on('posts.id', 'in', (eb) => findRecent(eb).select('recent.id')));
  return posts
    .select(columnsOf(reading))
    .where('users.id', 'in', authorIds)
    .orderBy('posts.publishedAt')
    .orderBy('posts.id')
    .execute();
}

export function findRoomPosts(
  db: Db,
  reading: Pick<PostReading, 'readsBodies'>,
  roomId: string,
  args: ConnectionArguments,
): PostConnection {
  const posts = db.selectFrom('posts').select(columnsOf(reading));
  return createConnection({ read: (range) => readRoomPosts(posts, roomId, range) }, args);
}

type SelectPosts = SelectQueryBuilder<Tables, 'posts', PostRow>;

async function readRoomPosts(
  posts: SelectPosts,
  roomId: string,
  { after, before, fromEnd, limit }: KeyRange,
): Promise<PostEdge[]> {
  let query = posts.where('roomId', '=', roomId).where('publishedAt', 'is not', null);
  if (after) query = query.where((eb) => eb(eb.refTuple('publishedAt', 'id'), '>', eb.tuple(after[0], after[1])));
  if (before) query = query.where((eb) => eb(eb.refTuple('publishedAt', 'id'), '<', eb.tuple(before[0], before[1])));
  const order = fromEnd ? 'desc' : 'asc';
  const rows = await query.orderBy('publishedAt', order).orderBy('id', order).limit(limit).execute();
  const edges = rows.map((node) => ({ cursor: encodeKey([node.publishedAt ?? 0, node.id]), node }));
  return fromEnd ? edges.reverse() : edges;
}

/** Changes a post that was read with an exclusive lock. */
export async function updatePost(db: Db, post: PostRow, changes: PostChanges): Promise<PostRow> {
  return db
    .updateTable('posts')
    .set({ ...changes, updatedAt: Date.now(), version: post.version + 1 })
    .where('id', '=', post.id)
    .where('version', '=', post.version)
    .returning(postColumns)
    .executeTakeFirstOrThrow();
}

export async function deletePost(db: Db, id: string): Promise<void> {
  await db.deleteFrom('posts').where('id', '=', id).execute();
}

/**
 * Deletes the drafts of an author and, if `published` is true, also the published posts. Returns the published posts.
 */
export async function deletePostsOfAuthor(db: Db, authorId: string, published: boolean): Promise<PostRow[]> {
  let query = db.deleteFrom('posts').where('authorId', '=', authorId);
  if (!published) query = query.where('publishedAt', 'is', null);
  const deleted = await query.returning(postColumns).execute();
  return deleted.filter(({ publishedAt }) => publishedAt !== null);
}

/** The columns by which an import recognises a post. */
export type PostIdentity = Pick<PostRow, 'roomId' | 'authorId' | 'publishedAt' | 'body'>;

/** Finds stored posts with the same author, time and body as one of these; no body equals an empty body. */
export async function findDuplicatePosts(
  db: Db,
  posts: readonly Omit<PostIdentity, 'roomId'>[],
): Promise<PostIdentity[]> {
  return executeInParts(db, posts, {
    build: (part) => {
      const keys = part.map(
        ({ authorId, publishedAt, body }) => sql`(${authorId}, cast(${publishedAt} as bigint), ${body ?? ''})`,
      );
      return db
        .selectFrom('posts')
        .select(['roomId', 'authorId', 'publishedAt', 'body'])
        .where(sql<SqlBool>`("authorId", "publishedAt", coalesce("body", '')) in (values ${sql.join(keys)})`);
    },
    parametersOf: ({ authorId, publishedAt, body }) => [authorId, publishedAt, body ?? ''],
  });
}
