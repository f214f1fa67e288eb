import type { GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import { headOf, type StreamEvent } from '../data/event-log/events.ts';
import type { InboxEventType, RoomEventType } from '../data/event-log/room-event-types.ts';
import type { PostRow } from '../data/tables.ts';
import type {
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

type EventResolvers<Event> = typeof eventFields &
  (Event extends { subject: infer Subject extends string } ? Record<Uncapitalize<Subject>, never> : unknown);

/** The fields of events, by their type. The event has a field with its subject, whose id is its `subjectId`, such as `post`. */
export function resolveEvents<const Events extends Readonly<Record<string, { subject?: string }>>>(
  events: Events,
): { [Type in keyof Events]: EventResolvers<Events[Type]> } {
  const types = Object.entries(events).map(([type, { subject }]) => [
    type,
    subject === undefined ? eventFields : { ...eventFields, [fieldOf(subject)]: resolveSubject(subject) },
  ]);
  return Object.fromEntries(types) as { [Type in keyof Events]: EventResolvers<Events[Type]> };
}

/** The name of the field with the subject of an event: that of its type. */
export function fieldOf(type: string): string {
  return type.charAt(0).toLowerCase() + type.slice(1);
}

/** Null after the subject was deleted, or moved to another room, which the viewers of this one may not see. */
function resolveSubject(type: string) {
  if (type === 'User')
    return ({ subjectId }: StreamEvent, _: unknown, { loaders }: Context) => findLivingUser(loaders, subjectId);
  if (type === 'Post') return (event: StreamEvent, _: unknown, context: Context) => findEventPost(event, context);
  return async ({ subjectId, roomId }: StreamEvent, _: unknown, { loaders, services }: Context) => {
    const row = await loaders.by(services.extensions.ofType(type).find, subjectId);
    return row?.roomId === roomId ? row : null;
  };
}

/** The name of an event's type in the schema. One that only another program knows is `OtherEvent`. */
function typeOf({ type }: StreamEvent, schema: GraphQLSchema): RoomEventType {
  return (implementsInterface(schema.getType(type), 'RoomEvent') ? type : 'OtherEvent') as RoomEventType;
}

/** The resolvers of the interface, and of each type of event. */
export const roomEventResolvers = {
  RoomEvent: {
    __resolveType: (event: StreamEvent, _: unknown, { schema }: GraphQLResolveInfo) => typeOf(event, schema),
  },
  ...resolveEvents({
    PostCreated: { subject: 'Post' },
    PostUpdated: { subject: 'Post' },
    MemberJoined: { subject: 'User' },
    MemberLeft: { subject: 'User' },
    RoomUpdated: {},
    OtherEvent: {},
    RoomRead: {},
    RoomDeleted: {},
  }),
  PostDeleted: { ...eventFields, postId: ({ subjectId }: StreamEvent) => subjectId },
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

/**
 * A live event holds the post as it was written. A replay loads the post as it is now. An event of an extension may name one that
 * those who see the event must not see: a draft, or a post of another room.
 */
function findEventPost({ content, subjectId, roomId }: StreamEvent, { loaders }: Context): FoundPost {
  const isShown = (post: PostRow | undefined) => post?.roomId === roomId && post.publishedAt !== null;
  return content?.post ?? loaders.post.load(subjectId).then((post) => (isShown(post) ? post : undefined));
}
