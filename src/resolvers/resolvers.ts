import type { Resolvers, ResolversParentTypes, SubscriptionResolvers } from '../generated/resolver-types.generated.ts';
import { ApiKey, apiKeyMutations } from './api-key.ts';
import { inbox } from './inbox.ts';
import { inventoryMutations, inventoryQueries, inventoryResolvers, serverStatusChanged } from './inventory.ts';
import { Invitation, invitationMutations } from './invitation.ts';
import { muteMutations } from './mute.ts';
import { Node, nodeQueries } from './node.ts';
import { Post, postMutations, postQueries } from './post.ts';
import { presenceMutations, RoomPresence, roomPresence } from './presence.ts';
import { Room, roomMutations, roomQueries } from './room.ts';
import { postAdded, roomEventResolvers, roomEvents } from './room-event.ts';
import { withIdempotency } from './rules/idempotency.ts';
import { dateTime } from './scalars.ts';
import { sessionMutations } from './session.ts';
import { User, userMutations, userQueries } from './user.ts';

const subscriptions = { roomEvents, postAdded, inbox, roomPresence, serverStatusChanged } satisfies Record<
  keyof SubscriptionResolvers,
  unknown
>;

/** An event or a state is executed with the value of the field as its root value. */
const resolve = (value: unknown) => value;

/** The fields of a type that its objects do not have as properties. */
type Unresolved<Type extends keyof Resolvers & keyof ResolversParentTypes> = Exclude<
  keyof NonNullable<Resolvers[Type]>,
  keyof ResolversParentTypes[Type] | '__isTypeOf'
>;
type AllResolvers = Omit<Resolvers, 'Subscription'> & { Subscription: object } & {
  [Type in keyof Resolvers & keyof ResolversParentTypes as [Unresolved<Type>] extends [never] ? never : Type]: Record<
    Unresolved<Type>,
    unknown
  >;
};

/** All resolvers. Fields that are properties of a row need none. */
export const resolvers = {
  DateTime: dateTime,
  Query: { ...nodeQueries, ...userQueries, ...postQueries, ...roomQueries, ...inventoryQueries },
  Mutation: withIdempotency({
    ...sessionMutations,
    ...apiKeyMutations,
    ...invitationMutations,
    ...userMutations,
    ...roomMutations,
    ...postMutations,
    ...inventoryMutations,
    ...muteMutations,
    ...presenceMutations,
  }),
  // The generated type requires iterables, which Postroom does not use.
  Subscription: Object.fromEntries(
    Object.entries(subscriptions).map(([name, subscribe]) => [name, { subscribe, resolve }]),
  ),
  Node,
  User,
  ApiKey,
  Invitation,
  Post,
  Room,
  RoomPresence,
  ...inventoryResolvers,
  ...roomEventResolvers,
} satisfies AllResolvers;
