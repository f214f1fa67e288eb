import { type RoomEvent as Event, headOf } from '../data/events.ts';
import type { PostRow, PublicUser, RoomRow } from '../data/tables.ts';
import type { Context } from '../engine/context.ts';
import { ClientError } from '../errors.ts';
import { encodeCursor } from '../live/cursor.ts';
import type {
  MemberJoinedResolvers,
  PostCreatedResolvers,
  PostDeletedResolvers,
  RoomEventResolvers,
  RoomUpdatedResolvers,
  SubscriptionResolvers,
} from './resolver-types.generated.ts';
import { RoomStream } from './room-stream.ts';
import { loadRoom } from './rows.ts';
import { findVisibleRoom } from './visible-rows.ts';

export const RoomEvent: RoomEventResolvers = {
  __resolveType: ({ type }) => type,
};

/** The fields that all events have. */
export const RoomUpdated: RoomUpdatedResolvers = {
  cursor: (event) => encodeCursor(event),
  room: (event, _, { loaders }) => loadRoom(loaders, event.roomId),
  actor: (event, _, context) => (event.actorId === null ? null : findLivingUser(event.actorId, context)),
};

export const PostCreated: PostCreatedResolvers = {
  ...RoomUpdated,
  post: (event, _, context) => findEventPost(event, context),
};

export const PostUpdated = PostCreated;

export const PostDeleted: PostDeletedResolvers = {
  ...RoomUpdated,
  postId: ({ subjectId }) => subjectId,
};

export const MemberJoined: MemberJoinedResolvers = {
  ...RoomUpdated,
  user: (event, _, context) => findLivingUser(event.subjectId, context),
};

export const MemberLeft = MemberJoined;

export const roomSubscriptions: SubscriptionResolvers = {
  roomEvents: {
    subscribe: async (_, { room, after }, context) => {
      const found = await assertVisible(room, context);
      return new RoomStream({ roomId: found.id, after, head: headOf(found), project: (event) => event });
    },
    resolve: (event: Event) => event,
  },
  postAdded: {
    subscribe: async (_, { room, after }, context) => {
      const found = await assertVisible(room, context);
      return new RoomStream({ roomId: found.id, after, head: headOf(found), project: findAddedPost });
    },
    resolve: (post: PostRow) => post,
  },
};

async function assertVisible(id: string, context: Context): Promise<RoomRow> {
  const room = await findVisibleRoom(id, context);
  if (room) return room;
  throw new ClientError('NOT_FOUND', 'There is no such room.');
}

type FoundPost = PostRow | undefined | Promise<PostRow | undefined>;

/** Leaves out all other events, and, in a replay, posts that were deleted since. */
function findAddedPost(event: Event, context: Context): FoundPost {
  return event.type === 'PostCreated' ? findEventPost(event, context) : undefined;
}

/** A live event holds the post as it was written. A replay loads the post as it is now. */
function findEventPost(event: Event, { loaders }: Context): FoundPost {
  return event.content?.post ?? loaders.post.load(event.subjectId);
}

async function findLivingUser(id: string, { loaders }: Context): Promise<PublicUser | null> {
  const user = await loaders.user.load(id);
  return user && user.deletedAt === null ? user : null;
}
