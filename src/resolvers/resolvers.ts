import { ApiKey, apiKeyMutations } from './api-key.ts';
import { Node, nodeQueries } from './node.ts';
import { Post, postMutations, postQueries } from './post.ts';
import type { Resolvers } from './resolver-types.generated.ts';
import { Room, roomMutations, roomQueries } from './room.ts';
import {
  MemberJoined,
  MemberLeft,
  PostCreated,
  PostDeleted,
  PostUpdated,
  RoomEvent,
  RoomUpdated,
  roomSubscriptions,
} from './room-event.ts';
import { dateTime } from './scalars.ts';
import { sessionMutations } from './session.ts';
import { User, userMutations, userQueries } from './user.ts';

/** All resolvers. Fields that are properties of a row need none. */
export const resolvers: Resolvers = {
  DateTime: dateTime,
  Query: { ...nodeQueries, ...userQueries, ...postQueries, ...roomQueries },
  Mutation: { ...sessionMutations, ...apiKeyMutations, ...userMutations, ...roomMutations, ...postMutations },
  Subscription: roomSubscriptions,
  Node,
  User,
  ApiKey,
  Post,
  Room,
  RoomEvent,
  PostCreated,
  PostUpdated,
  PostDeleted,
  MemberJoined,
  MemberLeft,
  RoomUpdated,
};
