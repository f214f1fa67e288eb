import { type SqlBool, sql } from 'kysely';
import { createId } from '../../common/ids.ts';
import type { Db } from '../database/database.ts';
import { timeOfAppended } from '../event-log/events.ts';
import { executeInParts } from '../sql/list-statements.ts';
import { createFinder, createStatement } from '../sql/statement.ts';
import { type PostRow, postColumns } from '../tables.ts';
import { arePostsNotErased } from './visible-rooms.ts';

export interface NewPost extends Omit<PostRow, 'id' | 'createdAt' | 'updatedAt' | 'version'> {
  /** The default is a new id. */
  id?: string | undefined;
  /** The default is now; an import gives the original time. */
  createdAt?: number;
}

export function createPostRow({ id = createId('Post'), createdAt = Date.now(), ...post }: NewPost): PostRow {
  return { id, ...post, createdAt, updatedAt: createdAt, version: 1 };
}

export const insertPost = createStatement((db, row: PostRow) => db.insertInto('posts').values(row));

/** Inserts a post with the time of the event that is being appended. */
export const insertPublishedPost = createStatement(
  (db, { publishedAt: _, createdAt: __, updatedAt: ___, ...row }: PostRow) => {
    const at = timeOfAppended(row.roomId);
    return db.insertInto('posts').values({ ...row, publishedAt: at, createdAt: at, updatedAt: at });
  },
);

export const findPost = createFinder((db, { id }) =>
  db.selectFrom('posts').select(postColumns).where('id', '=', id).where(arePostsNotErased('posts.authorId')),
);

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
export function changePostRow(
  post: PostRow,
  { title = post.title, body = post.body }: { title?: string | undefined; body?: string | null | undefined },
): PostRow {
  return { ...post, title, body, updatedAt: Date.now(), version: post.version + 1 };
}

/** Publishes a draft that was read with an exclusive lock, with the time of the event that is being appended. */
export const publishPost = createStatement((db, { id, roomId, updatedAt, version }: PostRow) =>
  db
    .updateTable('posts')
    .set({ updatedAt, version, publishedAt: timeOfAppended(roomId) })
    .where('id', '=', id),
);

export const deletePost = createStatement((db, { id }: Pick<PostRow, 'id'>) =>
  db.deleteFrom('posts').where('id', '=', id),
);

/** The number of an author's posts, drafts included. */
export async function countPostsOf(db: Db, authorId: string): Promise<number> {
  const query = db.selectFrom('posts').select(({ fn }) => fn.countAll<number>().as('posts'));
  return (await query.where('authorId', '=', authorId).executeTakeFirstOrThrow()).posts;
}

/** The columns by which an import recognises a post. */
export type PostIdentity = Pick<PostRow, 'roomId' | 'authorId' | 'publishedAt' | 'body'>;

/** Finds stored posts with the same author, time and body as one of these; no body equals an empty body. */
export async function findDuplicatePosts(
  db: Db,
  posts: readonly Omit<PostIdentity, 'roomId'>[],
): Promise<PostIdentity[]> {
  const build = (part: typeof posts) => {
    const keys = part.map(
      ({ authorId, publishedAt, body }) => sql`(${authorId}, cast(${publishedAt} as bigint), ${body ?? ''})`,
    );
    return db
      .selectFrom('posts')
      .select(['roomId', 'authorId', 'publishedAt', 'body'])
      .where(sql<SqlBool>`("authorId", "publishedAt", coalesce("body", '')) in (values ${sql.join(keys)})`);
  };
  return executeInParts(db, posts, build, ({ authorId, publishedAt, body }) => [authorId, publishedAt, body ?? '']);
}
