import { findNextTime, type NewRoomEvent } from '../data/events.ts';
import { deletePost, findPostPage, insertPost, updatePost } from '../data/posts.ts';
import type { PostEventType } from '../data/room-event-types.ts';
import type { PostRow, PublicUser } from '../data/tables.ts';
import { assertMayChangePost, assertMayDeletePost, assertMayPost } from '../identity/access.ts';
import type { Context } from './context.ts';
import type { MutationResolvers, PostResolvers, QueryResolvers, UpdatePostInput } from './resolver-types.generated.ts';
import { changeAsViewer, isEmpty } from './rules/changes.ts';
import { assertVersion } from './rules/conflicts.ts';
import { loadReferenced, loadRoom } from './rules/rows.ts';
import { body, InputCheck, title } from './rules/validation.ts';
import { findPostOrThrow, findRoomOrThrow, findVisiblePost } from './rules/visible-rows.ts';

export const Post: PostResolvers = {
  author: (post, _, { loaders }) => loadReferenced(loaders.user, post.authorId),
  room: (post, _, { loaders }) => loadRoom(loaders, post.roomId),
};

export const postQueries: QueryResolvers = {
  post: (_, { id }, context) => findVisiblePost(id, context),
  posts: (_, { filter, ...page }, context) => findPostPage(context.db, context, filter ?? {}, page),
};

export const postMutations: MutationResolvers = {
  async createPost(_, { input }, context) {
    const post = await changeAsViewer(context, async (db, { append }, viewer) => {
      const { room, isMember } = await findRoomOrThrow(db, viewer, input.room);
      assertMayPost(room, isMember);
      assertPostInput(input);
      const publishedAt = (input.publish ?? true) ? await findNextTime(db, room.id) : null;
      const { title, body = null } = input;
      const post = await insertPost(db, {
        roomId: room.id,
        authorId: viewer.user.id,
        title,
        body,
        publishedAt,
        ...(publishedAt !== null && { createdAt: publishedAt }),
      });
      if (publishedAt !== null) await append({ ...eventOf('PostCreated', post, viewer.user), at: publishedAt });
      return post;
    });
    return { post };
  },
  updatePost: (_, { input }, context) => changePost(context, input),
  replacePost: (_, { input }, context) => changePost(context, { ...input, body: input.body ?? null }),
  async publishPost(_, { input }, context) {
    const post = await changeAsViewer(context, async (db, { append }, viewer) => {
      const post = await findPostOrThrow(db, viewer, input.id);
      assertMayChangePost(viewer, post);
      if (post.publishedAt !== null) return post;
      const publishedAt = await findNextTime(db, post.roomId);
      const published = await updatePost(db, post, { publishedAt });
      await append({ ...eventOf('PostCreated', published, viewer.user), at: publishedAt });
      return published;
    });
    return { post };
  },
  async deletePost(_, { input }, context) {
    const post = await changeAsViewer(context, async (db, { append }, viewer) => {
      const post = await findPostOrThrow(db, viewer, input.id);
      assertMayDeletePost(viewer, post);
      assertVersion(post, input.expectedVersion);
      await deletePost(db, post.id);
      if (post.publishedAt !== null) {
        const { id, roomId, version } = post;
        await append({ roomId, type: 'PostDeleted', subjectId: id, version, actorId: viewer.user.id });
      }
      return post;
    });
    return { post };
  },
};

async function changePost(context: Context, input: UpdatePostInput): Promise<{ post: PostRow }> {
  const post = await changeAsViewer(context, async (db, { append }, viewer) => {
    const post = await findPostOrThrow(db, viewer, input.id);
    assertMayChangePost(viewer, post);
    assertPostInput(input);
    assertVersion(post, input.expectedVersion);
    const changes = { title: input.title ?? undefined, body: input.body };
    if (isEmpty(changes)) return post;
    const changed = await updatePost(db, post, changes);
    if (changed.publishedAt !== null) await append(eventOf('PostUpdated', changed, viewer.user));
    return changed;
  });
  return { post };
}

function assertPostInput(input: { title?: string | null | undefined; body?: string | null | undefined }): void {
  const check = new InputCheck();
  check.given('title', input.title, title);
  check.optional('body', input.body, body);
  check.assertValid();
}

/** Only its author may change a post, so the actor is the author. */
function eventOf(type: PostEventType, post: PostRow, author: PublicUser): NewRoomEvent {
  const { id, roomId, version } = post;
  return { roomId, type, subjectId: id, version, actorId: author.id, content: { post, author } };
}
