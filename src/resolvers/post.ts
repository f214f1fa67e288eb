import type { Db } from '../data/database/database.ts';
import {
  changePostRow,
  createPostRow,
  deletePost,
  insertPost,
  insertPublishedPost,
  publishPost,
  updatePost,
} from '../data/domain/posts.ts';
import { advanceReadPositionToAppended } from '../data/domain/read-positions.ts';
import type { NewPostEvent } from '../data/event-log/events.ts';
import { findPostPage } from '../data/lists/post-lists.ts';
import type { PostRow } from '../data/tables.ts';
import type {
  MutationResolvers,
  PostResolvers,
  QueryResolvers,
  UpdatePostInput,
} from '../generated/resolver-types.generated.ts';
import { assertMayChangePost, assertMayDeletePost, assertMayPost, assertNotMuted } from '../identity/access.ts';
import type { Context } from './context.ts';
import { changeInRoom, changePostAsViewer, isEmpty } from './rules/changes.ts';
import { assertVersion } from './rules/conflicts.ts';
import { assertInput, given, optional } from './rules/input-check.ts';
import { loadReferenced, loadRoom } from './rules/rows.ts';
import * as rules from './rules/validation.ts';
import { findVisiblePost } from './rules/visible-rows.ts';

export const Post = {
  author: (post, _, { loaders }) => loadReferenced(loaders.user, post.authorId),
  room: (post, _, { loaders }) => loadRoom(loaders, post.roomId),
} satisfies PostResolvers;

export const postQueries = {
  post: (_, { id }, context) => findVisiblePost(id, context),
  posts: (_, { filter, ...page }, context) => findPostPage(context.db, context, filter ?? {}, page),
} satisfies QueryResolvers;

export const postMutations = {
  createPost: (_, { input }, context) =>
    changeInRoom(
      context,
      { id: input.room },
      async (db, { append, write }, { user: author }, { room, isMember, mutedUntil }) => {
        assertMayPost(room, isMember);
        assertNotMuted(mutedUntil);
        assertPostInput(input);
        const { title, body = null } = input;
        const id = context.idempotency?.resultId;
        const row = createPostRow({ id, roomId: room.id, authorId: author.id, title, body, publishedAt: null });
        if (!(input.publish ?? true)) return { post: write(insertPost(db, row).then(() => row)) };
        const store = storePublished(row, isMember, insertPublishedPost);
        const published = (publishedAt: number) => ({
          ...row,
          publishedAt,
          createdAt: publishedAt,
          updatedAt: publishedAt,
        });
        return { post: append({ ...eventOf(row), type: 'PostCreated', author, store, post: published }) };
      },
    ),
  updatePost: (_, { input }, context) => changePost(context, input),
  replacePost: (_, { input }, context) => changePost(context, { ...input, body: input.body ?? null }),
  publishPost: (_, { input }, context) =>
    changePostAsViewer(context, input.id, async (_, { append }, viewer, { post, isMember, mutedUntil }) => {
      assertMayChangePost(viewer, post);
      if (post.publishedAt !== null) return { post };
      assertNotMuted(mutedUntil);
      const changed = changePostRow(post, {});
      const store = storePublished(changed, isMember, publishPost);
      const published = (publishedAt: number) => ({ ...changed, publishedAt });
      return {
        post: append({ ...eventOf(changed), type: 'PostCreated', author: viewer.user, store, post: published }),
      };
    }),
  deletePost: (_, { input }, context) =>
    changePostAsViewer(context, input.id, async (db, { append, write }, viewer, { post }) => {
      assertMayDeletePost(viewer, post);
      assertVersion(post, input.expectedVersion);
      const store = (db: Db) => deletePost(db, post);
      if (post.publishedAt === null) write(store(db));
      else append({ ...eventOf(post), type: 'PostDeleted', actorId: viewer.user.id, store });
      return { post };
    }),
} satisfies MutationResolvers;

function changePost(context: Context, input: UpdatePostInput): Promise<{ post: PostRow | Promise<PostRow> }> {
  return changePostAsViewer(context, input.id, async (db, { append, write }, viewer, { post, mutedUntil }) => {
    assertMayChangePost(viewer, post);
    assertNotMuted(mutedUntil);
    assertPostInput(input);
    assertVersion(post, input.expectedVersion);
    const changes = { title: input.title ?? undefined, body: input.body };
    if (isEmpty(changes)) return { post };
    const changed = changePostRow(post, changes);
    const store = (db: Db) => updatePost(db, post, changed);
    if (post.publishedAt === null) return { post: write(store(db).then(() => changed)) };
    const author = viewer.user;
    return { post: append({ ...eventOf(changed), type: 'PostUpdated', author, store, post: () => changed }) };
  });
}

/** A member who publishes a post has read the room up to it. */
function storePublished(
  post: PostRow,
  isMember: boolean,
  store: (db: Db, post: PostRow) => Promise<unknown>,
): NewPostEvent['store'] {
  const member = { roomId: post.roomId, userId: post.authorId };
  return (db) => Promise.all([store(db, post), isMember && advanceReadPositionToAppended(db, member)]);
}

function assertPostInput(input: { title?: string | null | undefined; body?: string | null | undefined }): void {
  assertInput(given('title', input.title, rules.title), optional('body', input.body, rules.body));
}

function eventOf({ roomId, id, version }: PostRow): Pick<NewPostEvent, 'roomId' | 'subjectId' | 'version'> {
  return { roomId, subjectId: id, version };
}
