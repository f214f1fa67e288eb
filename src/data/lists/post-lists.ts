import { type ExpressionBuilder, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Db } from '../database/database.ts';
import {
  areFewRoomsPrivate,
  arePostsNotErased,
  isAccountNotErased,
  isAmongVisibleRooms,
  isNotAmongHiddenRooms,
  isRoomNotDeleted,
  isVisibleRoom,
  type ViewerScope,
} from '../domain/visible-rooms.ts';
import { dialectOf } from '../sql/sql-dialect.ts';
import { createStatement, createVariableStatement } from '../sql/statement.ts';
import { matches, toPattern } from '../sql/stored-text.ts';
import { type PostRow, postColumns, type Tables } from '../tables.ts';
import {
  createConnectionFinder,
  createPages,
  encodeKey,
  maxSkippedShortly,
  type PageArguments,
  type PostPage,
} from './pages.ts';

export interface PostFilter {
  room?: string | null | undefined;
  author?: string | null | undefined;
  title?: string | null | undefined;
  publishedAfter?: number | null | undefined;
  publishedBefore?: number | null | undefined;
}

export type PostOrder = 'OLDEST_FIRST' | 'NEWEST_FIRST';

export interface PostPageArguments extends PageArguments {
  order?: PostOrder | null | undefined;
}

/** The conditions under which a list of posts is read. */
export interface PostReading {
  viewerScope: ViewerScope;
  /**
   * If false, `body` is null in the rows. A long body takes a hundred times as long to read as the rest of its post.
   */
  readsBodies: boolean;
}

const withoutBody = postColumns.filter((column) => column !== 'body').map((column) => `posts.${column}` as const);

export function columnsOf(db: Db, { readsBodies }: Pick<PostReading, 'readsBodies'>) {
  const body = readsBodies ? dialectOf(db).countedBody() : sql<string | null>`null`;
  return [...withoutBody, body.as('body')];
}

interface PostValues extends ViewerScope, Omit<PostFilter, 'title'> {
  readsBodies: boolean;
  title: string | false | null;
  isNewestFirst: boolean;
  /** Whether to leave out the posts that are being deleted together with their author's account. */
  checksAuthors?: boolean;
  isTotal?: boolean;
  skipsMany?: boolean;
  /** Whether few rooms are private. Undefined if it does not matter. */
  areFewPrivate?: boolean | undefined;
}

const selectErasedAuthors = createStatement((db) => db.selectFrom('users').select('id').where('erasing', '=', 'POSTS'));

/**
 * Almost always no account is being deleted with its posts. A query that skips or counts many posts then does not name
 * the author, so that they are skipped and counted in an index.
 */
async function withReading(db: Db, values: PostValues, skipped: number | undefined): Promise<PostValues> {
  const isTotal = skipped === undefined;
  // To read the room of each of fewer posts takes less time than to read the ids of all visible rooms.
  const skipsMany = !isTotal && skipped > maxSkippedShortly;
  const checksAuthors = skipped === 0 || (await selectErasedAuthors(db, {})).length > 0;
  const areFewPrivate = skipsMany ? await areFewRoomsPrivate(db) : undefined;
  return { ...values, checksAuthors, isTotal, skipsMany, areFewPrivate };
}

function isVisiblePost(db: Db, values: PostValues): RawBuilder<boolean> {
  const { room, author, isTotal, skipsMany, areFewPrivate } = values;
  if (room != null) return isVisibleRoom(values, sql<string>`${room}`);
  if (author != null || !(isTotal || skipsMany)) return isVisibleRoom(values, 'posts.roomId');
  if (isTotal) return isAmongVisibleRooms(db, values);
  if (areFewPrivate) return isNotAmongHiddenRooms(values);
  return isAmongVisibleRooms(db, values, { isInOrder: true });
}

function selectPostPage(posts: SelectQueryBuilder<Tables, 'posts', object>, values: PostValues, db: Db) {
  const { room, author, title, publishedAfter, publishedBefore, isNewestFirst, checksAuthors } = values;
  let query = posts.select(columnsOf(db, values)).where('publishedAt', 'is not', null).where(isVisiblePost(db, values));
  if (room != null) query = query.where('roomId', '=', room);
  if (author != null) query = query.where('authorId', '=', author);
  if (title != null) query = query.where(matches('title', title));
  if (publishedAfter != null) query = query.where('publishedAt', '>', publishedAfter);
  if (publishedBefore != null) query = query.where('publishedAt', '<', publishedBefore);
  if (checksAuthors) query = query.where(arePostsNotErased('posts.authorId'));
  const order = isNewestFirst ? 'desc' : 'asc';
  return query.orderBy('publishedAt', order).orderBy('id', order);
}

const postPages = createPages('posts', selectPostPage, withReading);

export function findPostPage(
  db: Db,
  { readsBodies, viewerScope }: PostReading,
  filter: PostFilter,
  { order, ...page }: PostPageArguments,
): PostPage {
  const isNewestFirst = order === 'NEWEST_FIRST';
  const values = { readsBodies, ...viewerScope, ...filter, title: toPattern(filter.title), isNewestFirst };
  return postPages(db, values, page);
}

const draftPages = createPages('posts', (posts, values: ViewerScope & { readsBodies: boolean; authorId: string }, db) =>
  posts
    .select(columnsOf(db, values))
    .where('authorId', '=', values.authorId)
    .where('publishedAt', 'is', null)
    .where(isVisibleRoom(values, 'posts.roomId'))
    .where(isAccountNotErased('posts.authorId'))
    .orderBy('createdAt')
    .orderBy('id'),
);

export function findDrafts(db: Db, reading: PostReading, authorId: string, page: PageArguments): PostPage {
  return draftPages(db, { readsBodies: reading.readsBodies, ...reading.viewerScope, authorId }, page);
}

interface LastPostsValues extends ViewerScope, Pick<PostReading, 'readsBodies'> {
  /** A list in JSON, because a compiled statement has a fixed number of parameters. */
  authorIds: string;
  last: number;
}

const selectLastPosts = createVariableStatement((db, values: LastPostsValues) => {
  const findRecent = (eb: ExpressionBuilder<Tables, 'users'>) =>
    eb
      .selectFrom('posts as recent')
      .where(dialectOf(db).countsRows('recent'))
      .whereRef('recent.authorId', '=', 'users.id')
      .where('recent.publishedAt', 'is not', null)
      .where(isVisibleRoom(values, 'recent.roomId'))
      .orderBy('recent.publishedAt', 'desc')
      .orderBy('recent.id', 'desc')
      .limit(values.last);
  const users = db.selectFrom('users');
  // PostgreSQL seeks once per row only in a lateral join.
  const posts = dialectOf(db).seeksInLateralJoins
    ? users.innerJoinLateral(
        (eb) => findRecent(eb).selectAll('recent').as('posts'),
        (join) => join.onTrue(),
      )
    : // By rowid it takes two thirds of the time by id.
      users.innerJoin('posts', (join) =>
        join.on(sql`posts.rowid`, 'in', (eb) => findRecent(eb).select(sql`recent.rowid`.as('place'))),
      );
  return posts
    .select(columnsOf(db, values))
    .where(dialectOf(db).isListed('users.id', values.authorIds))
    .where(arePostsNotErased('users.id'))
    .orderBy('posts.publishedAt')
    .orderBy('posts.id');
});

/** The last `last` published posts of each author, newest last, in one statement. */
export function findLastPosts(
  db: Db,
  { readsBodies, viewerScope }: PostReading,
  authorIds: readonly string[],
  last: number,
): Promise<PostRow[]> {
  return selectLastPosts(db, { readsBodies, ...viewerScope, authorIds: JSON.stringify(authorIds), last });
}

export const findRoomPosts = createConnectionFinder(
  ['publishedAt', 'posts.id'],
  (db, values: { readsBodies: boolean; roomId: string }) =>
    db
      .selectFrom('posts')
      .where(dialectOf(db).countsRows('posts'))
      .select(columnsOf(db, values))
      .where('roomId', '=', values.roomId)
      .where('publishedAt', 'is not', null)
      .where(isRoomNotDeleted('posts.roomId'))
      .where(arePostsNotErased('posts.authorId')),
  (node) => ({ cursor: encodeKey([node.publishedAt ?? 0, node.id]), node }),
);
