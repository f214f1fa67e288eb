import { type ExpressionBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { createId } from '../ids.ts';
import { countedBody, countsRows } from './bounded-work.ts';
import type { Db, RowLock } from './database.ts';
import { hasLateralJoins } from './dialects.ts';
import { timeOfAppended } from './events.ts';
import { executeInParts } from './list-statements.ts';
import {
  type ConnectionArguments,
  createConnection,
  createPages,
  encodeKey,
  type KeyRange,
  type PageArguments,
  type PostConnection,
  type PostEdge,
  type PostPage,
} from './pages.ts';
import { createLockingStatement, createStatement } from './statement.ts';
import { matches, toPattern } from './stored-text.ts';
import { columns, type PostRow, postColumns, type Tables } from './tables.ts';
import { arePostsKept, isAccountKept, isRoomKept, isVisibleRoom, type VisibleRooms } from './visible-rooms.ts';

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

export interface PostChanges {
  title?: string | undefined;
  body?: string | null | undefined;
}

export function createPostRow({ createdAt = Date.now(), ...post }: NewPost): PostRow {
  return { id: createId('Post'), ...post, createdAt, updatedAt: createdAt, version: 1 };
}

const insertRow = createStatement((db, row: PostRow) => db.insertInto('posts').values(row));

const insertWithTime = createStatement((db, { publishedAt: _, createdAt: __, updatedAt: ___, ...row }: PostRow) => {
  const at = timeOfAppended(row.roomId);
  return db.insertInto('posts').values({ ...row, publishedAt: at, createdAt: at, updatedAt: at });
});

export async function insertPost(db: Db, row: PostRow): Promise<PostRow> {
  await insertRow(db, row);
  return row;
}

/** Inserts a post with the time of the event that is being appended. */
export async function insertPublishedPost(db: Db, row: PostRow): Promise<void> {
  await insertWithTime(db, row);
}

export async function insertPosts(db: Db, rows: readonly PostRow[]): Promise<void> {
  await executeInParts(db, rows, {
    build: (part) => db.insertInto('posts').values([...part]),
    parametersOf: Object.values<unknown>,
  });
}

const selectPost = createLockingStatement((db, { id }: { id: string }) =>
  db.selectFrom('posts').select(postColumns).where('id', '=', id).where(arePostsKept('posts.authorId')),
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

function columnsOf(db: Db, { readsBodies }: Pick<PostReading, 'readsBodies'>) {
  const body = readsBodies ? countedBody(db) : sql<string | null>`null`;
  return [...withoutBody, body.as('body')];
}

interface PostValues extends VisibleRooms, Omit<PostFilter, 'title'> {
  readsBodies: boolean;
  title: string | false | null;
  /** Whether to leave out the posts that are being deleted together with their author's account. */
  checksAuthors?: boolean;
}

const selectErasedAuthors = createStatement((db) => db.selectFrom('users').select('id').where('erasing', '=', 'POSTS'));

/**
 * Almost always no account is being deleted with its posts. A query that skips or counts many posts then does not name
 * the author, so that they are skipped and counted in an index.
 */
async function withAuthorCheck(db: Db, values: PostValues, isShort: boolean): Promise<PostValues> {
  return { ...values, checksAuthors: isShort || (await selectErasedAuthors(db, {})).length > 0 };
}

function selectPostPage(posts: SelectQueryBuilder<Tables, 'posts', object>, values: PostValues, db: Db) {
  const { room, author, title, publishedAfter, publishedBefore, checksAuthors } = values;
  let query = posts
    .select(columnsOf(db, values))
    .where('publishedAt', 'is not', null)
    .where(isVisibleRoom(db, values, 'posts.roomId'));
  if (room != null) query = query.where('roomId', '=', room);
  if (author != null) query = query.where('authorId', '=', author);
  if (title != null) query = query.where(matches('title', title));
  if (publishedAfter != null) query = query.where('publishedAt', '>', publishedAfter);
  if (publishedBefore != null) query = query.where('publishedAt', '<', publishedBefore);
  if (checksAuthors) query = query.where(arePostsKept('posts.authorId'));
  return query.orderBy('publishedAt').orderBy('id');
}

const postPages = createPages('posts', selectPostPage, withAuthorCheck);

export function findPostPage(db: Db, reading: PostReading, filter: PostFilter, page: PageArguments): PostPage {
  const { readsBodies, visibleRooms } = reading;
  return postPages(db, { readsBodies, ...visibleRooms, ...filter, title: toPattern(filter.title) }, page);
}

const draftPages = createPages(
  'posts',
  (posts, values: VisibleRooms & { readsBodies: boolean; authorId: string }, db) =>
    posts
      .select(columnsOf(db, values))
      .where('authorId', '=', values.authorId)
      .where('publishedAt', 'is', null)
      .where(isVisibleRoom(db, values, 'posts.roomId'))
      .where(isAccountKept('posts.authorId'))
      .orderBy('createdAt')
      .orderBy('id'),
);

export function findDrafts(db: Db, reading: PostReading, authorId: string, page: PageArguments): PostPage {
  return draftPages(db, { readsBodies: reading.readsBodies, ...reading.visibleRooms, authorId }, page);
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
      .where(countsRows(db, 'recent'))
      .whereRef('recent.authorId', '=', 'users.id')
      .where('recent.publishedAt', 'is not', null)
      .where(isVisibleRoom(db, reading.visibleRooms, 'recent.roomId'))
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
    .select(columnsOf(db, reading))
    .where('users.id', 'in', authorIds)
    .where(arePostsKept('users.id'))
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
  const posts = db
    .selectFrom('posts')
    .where(countsRows(db, 'posts'))
    .select(columnsOf(db, reading))
    .where(isRoomKept('posts.roomId'))
    .where(arePostsKept('posts.authorId'));
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

/** The post after a change, without its body if that stays as it is: it may be long. */
type ChangedPost = Pick<PostRow, 'id' | 'title' | 'updatedAt' | 'version'> & { body?: PostRow['body'] };

const updateWithBody = createStatement((db, { id, ...changes }: Required<ChangedPost>) =>
  db.updateTable('posts').set(changes).where('id', '=', id),
);

const updateWithoutBody = createStatement((db, { id, ...changes }: ChangedPost) =>
  db.updateTable('posts').set(changes).where('id', '=', id),
);

/** Changes a post that was read with an exclusive lock. */
export async function updatePost(
  db: Db,
  before: PostRow,
  { id, title, body, updatedAt, version }: PostRow,
): Promise<void> {
  if (body === before.body) await updateWithoutBody(db, { id, title, updatedAt, version });
  else await updateWithBody(db, { id, title, body, updatedAt, version });
}

/** The post with changes; an undefined property stays unchanged. */
export function changePostRow(post: PostRow, { title = post.title, body = post.body }: PostChanges): PostRow {
  return { ...post, title, body, updatedAt: Date.now(), version: post.version + 1 };
}

const publishWithTime = createStatement(
  (db, { id, roomId, ...changes }: Omit<ChangedPost, 'title'> & { roomId: string }) =>
    db
      .updateTable('posts')
      .set({ ...changes, publishedAt: timeOfAppended(roomId) })
      .where('id', '=', id),
);

/** Publishes a draft that was read with an exclusive lock, with the time of the event that is being appended. */
export async function publishPost(db: Db, { id, roomId, updatedAt, version }: PostRow): Promise<void> {
  await publishWithTime(db, { id, roomId, updatedAt, version });
}

const deleteRow = createStatement((db, { id }: { id: string }) => db.deleteFrom('posts').where('id', '=', id));

export async function deletePost(db: Db, id: string): Promise<void> {
  await deleteRow(db, { id });
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
