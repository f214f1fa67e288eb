import type { GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import { headOf, type StreamEvent } from '../data/event-log/events.ts';
import type { InboxEventType, RoomEventType } from '../data/event-log/room-event-types.ts';
import type { PostRow } from '../data/tables.ts';
import type {
  MemberJoinedResolvers,
  PostCreatedResolvers,
  PostDeletedResolvers,
  RoomUpdatedResolvers,
  SubscriptionPostAddedArgs,
  SubscriptionRoomEventsArgs,
} from '../generated/resolver-types.generated.ts';
import { encodeCursor } from '../live/cursor.ts';
import type { Context } from './context.ts';
import type { FedSubscription } from './extensions/extension.ts';
import { implementsInterface } from './rules/interfaces.ts';
import { findLivingUser, loadRoom } from './rules/rows.ts';
import { findVisibleRoomOrThrow } from './rules/visible-rows.ts';
import type { RoomEventSource, Subscribe } from './subscription-source.ts';

/** The fields that all events have. */
export const eventFields = {
  cursor: (event) => encodeCursor(event),
  room: (event, _, { loaders }) => loadRoom(loaders, event.roomId, event.room),
  actor: (event, _, context) => (event.actorId === null ? null : findLivingUser(context.loaders, event.actorId)),
} satisfies RoomUpdatedResolvers;

const PostCreated = {
  ...eventFields,
  post: (event, _, context) => findEventPost(event, context),
} satisfies PostCreatedResolvers;

const PostDeleted = {
  ...eventFields,
  postId: ({ subjectId }) => subjectId,
} satisfies PostDeletedResolvers;

const MemberJoined = {
  ...eventFields,
  user: (event, _, context) => findLivingUser(context.loaders, event.subjectId),
} satisfies MemberJoinedResolvers;

/** The name of an event's type in the schema. One that only another program knows is `OtherEvent`. */
function typeOf({ type }: StreamEvent, schema: GraphQLSchema): RoomEventType {
  return (implementsInterface(schema.getType(type), 'RoomEvent') ? type : 'OtherEvent') as RoomEventType;
}

/** The resolvers of the interface, and of each type of event. */
export const roomEventResolvers = {
  RoomEvent: {
    __resolveType: (event: StreamEvent, _: unknown, { schema }: GraphQLResolveInfo) => typeOf(event, schema),
  },
  PostCreated,
  PostUpdated: PostCreated,
  PostDeleted,
  MemberJoined,
  MemberLeft: MemberJoined,
  RoomUpdated: eventFields,
  OtherEvent: eventFields,
  RoomRead: eventFields,
  RoomDeleted: eventFields,
} satisfies Record<RoomEventType | InboxEventType | 'RoomEvent', unknown>;

export const roomEvents: Subscribe<SubscriptionRoomEventsArgs> = (_, args, context, { schema }) =>
  createSource(args, context, filterOf(args, schema));

export const postAdded: Subscribe<SubscriptionPostAddedArgs> = (_, args, context) =>
  createSource(args, context, findAddedPost);

/** The field of `Subscription` of an extension that has the events of these types. Its arguments are `room` and `after`. */
export function fromRoomEvents(...types: string[]): FedSubscription {
  const subscribe: Subscribe<SubscriptionPostAddedArgs> = (_, args, context, { schema }) =>
    createSource(args, context, (event) => (types.includes(typeOf(event, schema)) ? event : undefined));
  return { subscribe, resolve: (value) => value, fedBy: types };
}

type Project = RoomEventSource['project'];

/** Leaves out the events of all other types, before they are executed. */
export function filterOf(
  { types }: Pick<SubscriptionRoomEventsArgs, 'types'>,
  schema: GraphQLSchema,
  always: readonly string[] = [],
): Project {
  if (!types) return (event) => event;
  const wanted = new Set<string>([...types, ...always]);
  return (event) => (wanted.has(typeOf(event, schema)) ? event : undefined);
}

/** @throws ClientError NOT_FOUND if the room is not visible. */
async function createSource(
  { room: id, after }: SubscriptionPostAddedArgs,
  context: Context,
  project: Project,
): Promise<RoomEventSource> {
  const room = await findVisibleRoomOrThrow(id, context);
  return { type: 'roomEvents', roomId: room.id, after, head: headOf(room), project };
}

type FoundPost = PostRow | undefined | Promise<PostRow | undefined>;

/** Leaves out all other events, and, in a replay, posts that were deleted since. */
function findAddedPost(event: StreamEvent, context: Context): FoundPost {
  return event.type === 'PostCreated' ? findEventPost(event, context) : undefined;
}

/** A live event holds the post as it was written. A replay loads the post as it is now. */
function findEventPost(event: StreamEvent, { loaders }: Context): FoundPost {
  return event.content?.post ?? loaders.post.load(event.subjectId);
}
