// Generated from schema.graphql by `npm run generate`. Do not edit.
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { PublicUser, ApiKeyRow, InvitationRow, PostWithoutBody, RoomRow } from '../data/tables.ts';
import type {
  Pagination as PaginationModel,
  UserPage as UserPageModel,
  PostPage as PostPageModel,
  RoomPage as RoomPageModel,
  PageInfo as PageInfoModel,
  PostConnection as PostConnectionModel,
  PostEdge as PostEdgeModel,
  RoomConnection as RoomConnectionModel,
  RoomEdge as RoomEdgeModel,
  RoomMemberConnection as RoomMemberConnectionModel,
  RoomMemberEdge as RoomMemberEdgeModel,
} from '../data/lists/pages.ts';
import type {
  Client as ClientModel,
  ClientConnection as ClientConnectionModel,
  ClientEdge as ClientEdgeModel,
} from '../live/inventory/clients.ts';
import type {
  ServerStatus as ServerStatusModel,
  ErrorCount as ErrorCountModel,
  RoomFollowers as RoomFollowersModel,
} from '../live/inventory/server-status.ts';
import type { PresenceState as PresenceModel } from '../live/presence/presence-state.ts';
import type { Loads as LoadsModel, Load as UserLoadModel, Load as AddressLoadModel } from '../live/inventory/load.ts';
import type { Refusal as RefusalModel } from '../live/inventory/refusals.ts';
import type { StreamEvent } from '../data/event-log/events.ts';
import type { Context } from '../resolvers/context.ts';
export type Maybe<T> = T | null | undefined;
export type InputMaybe<T> = T | null | undefined;
export type Omit<T, K extends keyof T> = Pick<T, Exclude<keyof T, K>>;
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: Exclude<T[P], undefined> };
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string };
  String: { input: string; output: string };
  Boolean: { input: boolean; output: boolean };
  Int: { input: number; output: number };
  Float: { input: number; output: number };
  /**
   * A time in UTC, in ISO 8601: `2026-11-20T08:30:00.000Z`. Input may have any UTC offset, and no fraction or one of up
   * to nine digits. The precision is 1 ms.
   */
  DateTime: { input: number; output: number };
};

/** Whether an answer may be cached for all viewers. */
export type CacheControlScope =
  /** The answer is the same for every viewer. */
  | 'PUBLIC'
  /** The answer depends on the viewer and is never cached. */
  | 'PRIVATE';

/** A user's permissions in all of Postroom. */
export type Role =
  /** May change their own account, rooms and posts. */
  | 'MEMBER'
  /**
   * May also see every e-mail address and every room, manage every room, delete any post or account, see and end
   * connections, and mute users. The credentials must have the scope `ADMIN`.
   */
  | 'ADMIN';

/** Who can see a room. */
export type RoomVisibility =
  /** Everyone can see the room. Every signed-in user can post in it. */
  | 'PUBLIC'
  /** Only members and admins can see the room. For everyone else it does not exist. */
  | 'PRIVATE';

/** A member's permissions in a room. */
export type RoomRole =
  /** May change and delete the room, and add and remove members. */
  | 'OWNER'
  /** May read and post. */
  | 'MEMBER';

/** A permission that credentials can have. */
export type Scope =
  /** Allows queries and subscriptions. */
  | 'READ'
  /** Allows mutations. */
  | 'WRITE'
  /** Allows the operations of the role `ADMIN`, if the user has that role. */
  | 'ADMIN';

/** An object with a globally unique id. */
export type Node = {
  /** The object's id: opaque, unique across all types, ordered by time of creation, assigned by the server. */
  id: Scalars['ID']['output'];
};

/** A person who signed up, an application with an API key, or an author of imported posts. */
export type User = Node & {
  /** The id: opaque and ordered by time of creation. */
  id: Scalars['ID']['output'];
  /** The display name, 1 to 80 characters. It is not unique. It is `deleted user` after the account has been deleted. */
  name: Scalars['String']['output'];
  /**
   * The e-mail address that the user signs in with. It is visible to the user and to admins; for everyone else it is
   * null.
   */
  email?: Maybe<Scalars['String']['output']>;
  /** The user's role. */
  role: Role;
  /** The time at which the user was created. */
  createdAt: Scalars['DateTime']['output'];
  /** The time at which the user was last changed. */
  updatedAt: Scalars['DateTime']['output'];
  /**
   * The number of the latest change. It starts at 1 and increases by 1 with each change. Pass it as `expectedVersion` to
   * refuse an update if somebody else has changed the user since.
   */
  version: Scalars['Int']['output'];
  /** The user's latest published posts that the viewer can see, newest last. */
  posts: Array<Post>;
  /** The user's unpublished posts, oldest first. The list is empty unless the user is the viewer. */
  drafts: PostPage;
  /**
   * The current position in the user's log: rooms that the user joins, leaves and reads. Pass it to `Subscription.inbox` as one
   * more of the cursors in `after`, beside those of `rooms`. It is null unless the user is the viewer.
   */
  cursor?: Maybe<Scalars['String']['output']>;
  /**
   * The rooms of which the user is a member, that with the latest event first. Returns the first 20 if neither `first` nor
   * `last` is given. A room with a new event moves to the start. The list is empty unless the user is the viewer.
   */
  rooms: RoomConnection;
  /**
   * The API keys that the user created and that are not revoked, oldest first. Expired keys are included. A user has at
   * most 100 of them, so the list is complete. The list is empty unless the user is the viewer.
   */
  apiKeys: Array<ApiKey>;
};

/** A person who signed up, an application with an API key, or an author of imported posts. */
export type UserPostsArgs = {
  last?: InputMaybe<Scalars['Int']['input']>;
};

/** A person who signed up, an application with an API key, or an author of imported posts. */
export type UserDraftsArgs = {
  page?: InputMaybe<Scalars['Int']['input']>;
  limit?: InputMaybe<Scalars['Int']['input']>;
};

/** A person who signed up, an application with an API key, or an author of imported posts. */
export type UserRoomsArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
};

/** A key that an application authenticates with. The key itself is returned only when it is created. */
export type ApiKey = {
  /** The id: opaque and ordered by time of creation. */
  id: Scalars['ID']['output'];
  /** The name of the application. */
  name: Scalars['String']['output'];
  /** The first characters of the key, which help to recognise it. */
  prefix: Scalars['String']['output'];
  /** The scopes of the key. */
  scopes: Array<Scope>;
  /** The user that the application acts as. */
  user: User;
  /** The time at which the key was created. */
  createdAt: Scalars['DateTime']['output'];
  /** The time at which the key expires; null if it does not expire. */
  expiresAt?: Maybe<Scalars['DateTime']['output']>;
  /** The time at which the key was last used, accurate to about a minute; null if it was never used. */
  lastUsedAt?: Maybe<Scalars['DateTime']['output']>;
};

/**
 * A code with which people create accounts, which join a room. The code itself is returned only when it is created. It is
 * refused while its creator is neither the owner of the room nor an admin.
 */
export type Invitation = {
  /** The id: opaque and ordered by time of creation. */
  id: Scalars['ID']['output'];
  /** The room that new accounts join. */
  room: Room;
  /** The number of accounts that the invitation can create. */
  uses: Scalars['Int']['output'];
  /** The number of accounts that it has created. */
  used: Scalars['Int']['output'];
  /** The user who created the invitation; null if the account is deleted. */
  createdBy?: Maybe<User>;
  /** The time at which the invitation was created. */
  createdAt: Scalars['DateTime']['output'];
  /** The time at which the invitation expires. */
  expiresAt: Scalars['DateTime']['output'];
};

/** A message in a room. An unpublished post is a draft and is visible only to its author. */
export type Post = Node & {
  /** The id: opaque and ordered by time of creation. */
  id: Scalars['ID']['output'];
  /** The title, 1 to 200 characters. */
  title: Scalars['String']['output'];
  /** The text, up to 20,000 characters; null if the post has none. */
  body?: Maybe<Scalars['String']['output']>;
  /** The user who wrote the post. */
  author: User;
  /** The room that the post belongs to. */
  room: Room;
  /** The time at which the post was published; null for a draft. */
  publishedAt?: Maybe<Scalars['DateTime']['output']>;
  /** The time at which the post was created. */
  createdAt: Scalars['DateTime']['output'];
  /** The time at which the post was last changed. */
  updatedAt: Scalars['DateTime']['output'];
  /** The number of the latest change. It starts at 1 and increases by 1 with each change. */
  version: Scalars['Int']['output'];
};

/** A place for posts, with a stream of live events. */
export type Room = Node & {
  /** The id: opaque and ordered by time of creation. */
  id: Scalars['ID']['output'];
  /** The name, 1 to 80 characters. It is unique among public rooms, and among the private rooms of one owner. */
  name: Scalars['String']['output'];
  /** Who can see the room. */
  visibility: RoomVisibility;
  /** The viewer's role in this room; null if the viewer is not a member. */
  viewerRole?: Maybe<RoomRole>;
  /**
   * The number of published posts by others that the viewer has not read, counted up to 100; null if the viewer is not a
   * member. Imported posts count by their time. In the answer to a query or a mutation, posts after its `cursor` do not
   * count.
   */
  unread?: Maybe<Scalars['Int']['output']>;
  /**
   * The time up to which the viewer has read the room: at first the time of joining, then that of a post that the viewer
   * marked as read or published, or of the latest event. Null if the viewer is not a member.
   */
  lastRead?: Maybe<Scalars['DateTime']['output']>;
  /** The time at which the room was created. */
  createdAt: Scalars['DateTime']['output'];
  /** The time at which the room was last changed. */
  updatedAt: Scalars['DateTime']['output'];
  /** The number of the latest change of the room itself. It starts at 1 and increases by 1 with each change. */
  version: Scalars['Int']['output'];
  /** The user who created the room; null after that account has been deleted, and for direct and imported rooms. */
  owner?: Maybe<User>;
  /**
   * The other user of a direct room of the viewer, which `openDirectRoom` returns; null for other rooms, for all other
   * viewers, and after that account has been deleted.
   */
  directUser?: Maybe<User>;
  /**
   * The current position in the room's stream of events. Everything else that the same operation reads of the room is at
   * least as new. To miss no event, read the room and then subscribe with `after: cursor`.
   */
  cursor: Scalars['String']['output'];
  /** Who is present in the room now, and who is typing. */
  presence: RoomPresence;
  /** The members, in the order in which they joined. Returns the first 20 if neither `first` nor `last` is given. */
  members: RoomMemberConnection;
  /**
   * The invitations that are not revoked, oldest first, also those that have expired or are used up. A room has at most 100
   * of them, so the list is complete. Null unless the viewer is the owner of the room or an admin.
   */
  invitations?: Maybe<Array<Invitation>>;
  /** The published posts, newest last. Returns the first 20 if neither `first` nor `last` is given. */
  posts: PostConnection;
};

/** A place for posts, with a stream of live events. */
export type RoomMembersArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
};

/** A place for posts, with a stream of live events. */
export type RoomPostsArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
};

/**
 * Who is present in a room, and who is typing. Present are the viewers that subscribe to `roomPresence` with `visible`. It
 * is a state that is not stored: it changes neither the room's events nor its `cursor`.
 */
export type RoomPresence = {
  /** The room. */
  room: Room;
  /** The number of present users, each counted once, and of anonymous viewers. */
  count: Scalars['Int']['output'];
  /** The first 100 of the present users, by name. */
  users: Array<User>;
  /** The first 10 of the users that are typing, by name. A user may type without being present. */
  typing: Array<User>;
};

/** Information about a page of a connection, as in the Relay specification. */
export type PageInfo = {
  /** Whether there are items before this page, whatever the direction of pagination. */
  hasPreviousPage: Scalars['Boolean']['output'];
  /** Whether there are items after this page, whatever the direction of pagination. */
  hasNextPage: Scalars['Boolean']['output'];
  /** The cursor of the first edge; null if the page is empty. */
  startCursor?: Maybe<Scalars['String']['output']>;
  /** The cursor of the last edge; null if the page is empty. */
  endCursor?: Maybe<Scalars['String']['output']>;
};

/** A page of a room's posts, as in the Relay specification. */
export type PostConnection = {
  /** The posts with their cursors. */
  edges: Array<PostEdge>;
  /** The posts without their cursors. */
  nodes: Array<Post>;
  /** Information about the page. */
  pageInfo: PageInfo;
};

/** A post in a connection. */
export type PostEdge = {
  /** The position of the post in the list, for `after` and `before`. It is not a cursor of a stream. */
  cursor: Scalars['String']['output'];
  /** The post. */
  node: Post;
};

/** A page of a user's rooms, as in the Relay specification. */
export type RoomConnection = {
  /** The rooms with their cursors. */
  edges: Array<RoomEdge>;
  /** The rooms without their cursors. */
  nodes: Array<Room>;
  /** Information about the page. */
  pageInfo: PageInfo;
};

/** A room in a connection. */
export type RoomEdge = {
  /** The position of the room in the list, for `after` and `before`. It is not a cursor of a stream. */
  cursor: Scalars['String']['output'];
  /** The room. */
  node: Room;
};

/** A page of a room's members, as in the Relay specification. */
export type RoomMemberConnection = {
  /** The members with their cursors. */
  edges: Array<RoomMemberEdge>;
  /** The members without their cursors. */
  nodes: Array<User>;
  /** Information about the page. */
  pageInfo: PageInfo;
};

/** A member in a connection. */
export type RoomMemberEdge = {
  /** The position of the member in the list, for `after` and `before`. */
  cursor: Scalars['String']['output'];
  /** The member. */
  node: User;
  /** The time at which the user joined the room. */
  joinedAt: Scalars['DateTime']['output'];
};

/** The position of a page among all pages. */
export type Pagination = {
  /** The number of this page, starting at 1. */
  page: Scalars['Int']['output'];
  /** The number of items per page. */
  limit: Scalars['Int']['output'];
  /** The number of all items. It is counted only if selected. Counting is expensive; `total` and `pages` share one count. */
  total: Scalars['Int']['output'];
  /** The number of all pages; 0 if `total` is 0. It is computed only if selected, from the same count as `total`. */
  pages: Scalars['Int']['output'];
};

/** A page of users, in the order in which they were created. */
export type UserPage = {
  /** The users of this page. */
  data: Array<User>;
  /** The position of this page. */
  pagination: Pagination;
};

/** A page of posts. */
export type PostPage = {
  /** The posts of this page. */
  data: Array<Post>;
  /** The position of this page. */
  pagination: Pagination;
};

/** A page of rooms, in the order in which they were created. */
export type RoomPage = {
  /** The rooms of this page. */
  data: Array<Room>;
  /** The position of this page. */
  pagination: Pagination;
};

/** Conditions that users must meet. All given conditions must be met. */
export type UserFilter = {
  /**
   * The name contains this text. The case of the letters A to Z is ignored. The search reads every name that meets the
   * other conditions.
   */
  name?: InputMaybe<Scalars['String']['input']>;
  /** The user was created after this time. */
  createdAfter?: InputMaybe<Scalars['DateTime']['input']>;
  /** The user was created before this time. */
  createdBefore?: InputMaybe<Scalars['DateTime']['input']>;
};

/** Conditions that posts must meet. All given conditions must be met. */
export type PostFilter = {
  /** The post belongs to the room with this id. */
  room?: InputMaybe<Scalars['ID']['input']>;
  /** The post was written by the user with this id. */
  author?: InputMaybe<Scalars['ID']['input']>;
  /**
   * The title contains this text. The case of the letters A to Z is ignored. The search reads every title that meets the
   * other conditions.
   */
  title?: InputMaybe<Scalars['String']['input']>;
  /** The post was published after this time. */
  publishedAfter?: InputMaybe<Scalars['DateTime']['input']>;
  /** The post was published before this time. */
  publishedBefore?: InputMaybe<Scalars['DateTime']['input']>;
};

/** Conditions that rooms must meet. All given conditions must be met. */
export type RoomFilter = {
  /**
   * The name contains this text. The case of the letters A to Z is ignored. The search reads every name that meets the
   * other conditions.
   */
  name?: InputMaybe<Scalars['String']['input']>;
  /** The user with this id is a member of the room. */
  member?: InputMaybe<Scalars['ID']['input']>;
  /** The room has this visibility. */
  visibility?: InputMaybe<RoomVisibility>;
};

/** The order of posts by (`publishedAt`, `id`). */
export type PostOrder =
  /** The first page has the oldest posts. New posts appear on the last page. */
  | 'OLDEST_FIRST'
  /** The first page has the newest posts. New posts move the others to later pages. */
  | 'NEWEST_FIRST';

/** All queries. A field that returns a single object is null if the object does not exist or the viewer may not see it. */
export type Query = {
  /** The authenticated user; null without credentials. */
  viewer?: Maybe<User>;
  /** A user, post or room by its id. */
  node?: Maybe<Node>;
  /** A user by id. */
  user?: Maybe<User>;
  /** A post by id. A draft is returned only to its author. */
  post?: Maybe<Post>;
  /** A room by id. */
  room?: Maybe<Room>;
  /** A room by its exact name: the public room of this name, or else a private room that the viewer can see. */
  roomByName?: Maybe<Room>;
  /** A page of users, oldest first. */
  users: UserPage;
  /** A page of published posts. */
  posts: PostPage;
  /** A page of rooms, oldest first. */
  rooms: RoomPage;
  /**
   * The open WebSockets and event streams of all nodes, in the order in which they were opened. A node that does not
   * answer within half a second is left out. Only for admins.
   */
  connections: ClientConnection;
  /** The state of all nodes, the database and the bus. Only for admins. */
  serverStatus: ServerStatus;
  /**
   * The users and the addresses that caused most of the load of all nodes in the last five minutes. A node that does not
   * answer within half a second is left out. Only for admins.
   */
  load: Load;
  /**
   * The latest operations of all nodes that were answered with an error, newest first, at most 50. Each node keeps the latest
   * 500 that it has logged. A node that does not answer within half a second is left out. Only for admins.
   */
  refusals: Array<Refusal>;
};

/** All queries. A field that returns a single object is null if the object does not exist or the viewer may not see it. */
export type QueryNodeArgs = {
  id: Scalars['ID']['input'];
};

/** All queries. A field that returns a single object is null if the object does not exist or the viewer may not see it. */
export type QueryUserArgs = {
  id: Scalars['ID']['input'];
};

/** All queries. A field that returns a single object is null if the object does not exist or the viewer may not see it. */
export type QueryPostArgs = {
  id: Scalars['ID']['input'];
};

/** All queries. A field that returns a single object is null if the object does not exist or the viewer may not see it. */
export type QueryRoomArgs = {
  id: Scalars['ID']['input'];
};

/** All queries. A field that returns a single object is null if the object does not exist or the viewer may not see it. */
export type QueryRoomByNameArgs = {
  name: Scalars['String']['input'];
};

/** All queries. A field that returns a single object is null if the object does not exist or the viewer may not see it. */
export type QueryUsersArgs = {
  page?: InputMaybe<Scalars['Int']['input']>;
  limit?: InputMaybe<Scalars['Int']['input']>;
  filter?: InputMaybe<UserFilter>;
};

/** All queries. A field that returns a single object is null if the object does not exist or the viewer may not see it. */
export type QueryPostsArgs = {
  page?: InputMaybe<Scalars['Int']['input']>;
  limit?: InputMaybe<Scalars['Int']['input']>;
  filter?: InputMaybe<PostFilter>;
  order?: InputMaybe<PostOrder>;
};

/** All queries. A field that returns a single object is null if the object does not exist or the viewer may not see it. */
export type QueryRoomsArgs = {
  page?: InputMaybe<Scalars['Int']['input']>;
  limit?: InputMaybe<Scalars['Int']['input']>;
  filter?: InputMaybe<RoomFilter>;
};

/** All queries. A field that returns a single object is null if the object does not exist or the viewer may not see it. */
export type QueryConnectionsArgs = {
  filter?: InputMaybe<ConnectionFilter>;
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
};

/** All queries. A field that returns a single object is null if the object does not exist or the viewer may not see it. */
export type QueryLoadArgs = {
  order?: InputMaybe<LoadOrder>;
};

/** All queries. A field that returns a single object is null if the object does not exist or the viewer may not see it. */
export type QueryRefusalsArgs = {
  requestId?: InputMaybe<Scalars['ID']['input']>;
};

/** Conditions that connections must meet. All given conditions must be met. */
export type ConnectionFilter = {
  /** The connection has the credentials of the user with this id. */
  viewer?: InputMaybe<Scalars['ID']['input']>;
  /** The connection has this transport. */
  transport?: InputMaybe<Transport>;
  /** The connection is from this address, which is written as `Client.address` is. */
  address?: InputMaybe<Scalars['String']['input']>;
};

/** How a client receives the events of its subscriptions. */
export type Transport =
  /** Server-sent events: one subscription over HTTP. */
  | 'SSE'
  /** Apollo's multipart protocol: one subscription over HTTP. */
  | 'MULTIPART'
  /** A WebSocket, with any number of operations. */
  | 'WEBSOCKET';

/** A page of the open connections, as in the Relay specification. */
export type ClientConnection = {
  /** The connections with their cursors. */
  edges: Array<ClientEdge>;
  /** The connections without their cursors. */
  nodes: Array<Client>;
  /** Information about the page. */
  pageInfo: PageInfo;
  /** The number of all connections that meet the conditions. */
  total: Scalars['Int']['output'];
};

/** A client in a connection. */
export type ClientEdge = {
  /** The position of the client in the list, for `after`. */
  cursor: Scalars['String']['output'];
  /** The client. */
  node: Client;
};

/** A client with an open WebSocket or event stream. */
export type Client = {
  /** The id of the connection: opaque and ordered by time of its start. A client that connects again gets another id. */
  id: Scalars['ID']['output'];
  /** The user of its credentials; null without credentials, and after the account has been deleted. */
  viewer?: Maybe<User>;
  /** The IP address; of an IPv6 address only the network, the first 64 bits. */
  address: Scalars['String']['output'];
  /** How the client receives events. */
  transport: Transport;
  /** The time at which the connection was opened. */
  since: Scalars['DateTime']['output'];
  /** The name of the node that the client is connected to. */
  node: Scalars['String']['output'];
  /** The number of open subscriptions. */
  subscriptions: Scalars['Int']['output'];
  /** The number of bytes that the client has not read yet, without those in the buffers of the network. */
  bytesWaiting: Scalars['Int']['output'];
  /**
   * The milliseconds from the time of the latest event to its write to the connection; 0 before the first event. Events
   * that were read from the log, by a client that resumes or is slow, do not count.
   */
  lagMs: Scalars['Float']['output'];
};

/** The state of the server: of all its nodes, of the database, and of the bus between the nodes. */
export type ServerStatus = {
  /** The time of this state, by the clock of the node that answers. */
  time: Scalars['DateTime']['output'];
  /** The nodes that answer within half a second, by name. */
  nodes: Array<NodeStatus>;
  /** The state of the database. */
  database: DatabaseStatus;
  /** The state of the bus. */
  bus: BusStatus;
  /** The rooms with the most subscriptions, at most 20. Of each node, the 100 rooms with the most subscriptions count. */
  mostFollowedRooms: Array<RoomFollowers>;
  /** The operations that were answered with an error since the start of their node, most frequent code first. */
  errors: Array<ErrorCount>;
};

/** The state of one node. Rates are those of the last full second. */
export type NodeStatus = {
  /** The name: `NODE_NAME`, or else the name of the host and the number of the process. */
  name: Scalars['String']['output'];
  /** The version of Postroom. */
  version: Scalars['String']['output'];
  /** The version of Node. */
  nodeVersion: Scalars['String']['output'];
  /** The time at which the node started. */
  startedAt: Scalars['DateTime']['output'];
  /** The number of open WebSockets and event streams. */
  connections: Scalars['Int']['output'];
  /** The number of open subscriptions. */
  subscriptions: Scalars['Int']['output'];
  /** The number of rooms with subscriptions. */
  roomsFollowed: Scalars['Int']['output'];
  /** Operations per second, over all transports. */
  operationsPerSecond: Scalars['Float']['output'];
  /** Events per second that were written to live subscriptions, once for each subscription. */
  deliveriesPerSecond: Scalars['Float']['output'];
  /** Operations per second that were answered with an error. */
  failedOperationsPerSecond: Scalars['Float']['output'];
  /** The mean time in milliseconds from an event to its write to a connection; 0 if none was written. */
  lagMs: Scalars['Float']['output'];
  /** The number of subscriptions whose clients must read before more is written. */
  slowConsumers: Scalars['Int']['output'];
  /** The work that waits. */
  queues: Array<QueueDepth>;
  /** The resident memory of the process, in bytes. */
  memoryBytes: Scalars['Float']['output'];
  /** The delay of the event loop in milliseconds: the 99th percentile of the last 30 to 60 seconds. */
  eventLoopLagMs: Scalars['Float']['output'];
};

/** A queue of a node. */
export type QueueDepth = {
  /** What waits: `transactions`, `longReads`, or `bus` for messages to other nodes. */
  name: Scalars['String']['output'];
  /** The number of entries that wait. */
  depth: Scalars['Int']['output'];
};

/** The state of the database, as the node that answers sees it. */
export type DatabaseStatus = {
  /** `sqlite` or `postgres`. */
  kind: Scalars['String']['output'];
  /** The version of SQLite or PostgreSQL. */
  version: Scalars['String']['output'];
  /** Whether the database can be read and, with SQLite, written. */
  isUp: Scalars['Boolean']['output'];
};

/** The state of the bus, as the node that answers sees it. */
export type BusStatus = {
  /** `memory` for a single process, `local` between the workers of one machine, `postgres` or `redis`. */
  kind: Scalars['String']['output'];
  /** Whether messages of other nodes arrive. */
  isUp: Scalars['Boolean']['output'];
};

/** A room and the number of its subscriptions. */
export type RoomFollowers = {
  /** The room; null if it has been deleted. */
  room?: Maybe<Room>;
  /** The number of its subscriptions on all nodes. */
  followers: Scalars['Int']['output'];
};

/** The number of operations that were answered with a code. */
export type ErrorCount = {
  /** The code of the first error. */
  code: Scalars['String']['output'];
  /** The number of these operations. */
  count: Scalars['Int']['output'];
  /** The time of the latest of them. */
  lastAt?: Maybe<Scalars['DateTime']['output']>;
};

/** What users and addresses are compared by. */
export type LoadOrder =
  /** The number of operations. */
  | 'OPERATIONS'
  /** The number of deliveries. */
  | 'DELIVERIES'
  /** The number of refusals. */
  | 'REFUSALS';

/**
 * Who caused the load of the last five minutes: the current minute and the four before it. Each node contributes its 50
 * users and 50 addresses with the most. When a node counts more than 1,000 users and addresses in a minute, it keeps only
 * those with the most operations, deliveries and refusals, 50 of each, so that numbers are then too low.
 */
export type Load = {
  /** The users with the most of the requested order, at most 10. Clients without credentials count only for their address. */
  users: Array<UserLoad>;
  /** The addresses with the most of the requested order, at most 10. */
  addresses: Array<AddressLoad>;
};

/** The load that a user caused. */
export type UserLoad = {
  /** The user; null after the account has been deleted. */
  user?: Maybe<User>;
  /** The number of operations, over all transports. */
  operations: Scalars['Int']['output'];
  /** The number of live events that were written to the subscriptions of the user, without those after a cursor. */
  deliveries: Scalars['Int']['output'];
  /** The number of operations that were refused or have failed. */
  refusals: Scalars['Int']['output'];
};

/** The load that came from an address. */
export type AddressLoad = {
  /** The IP address; of an IPv6 address only the network, the first 64 bits. */
  address: Scalars['String']['output'];
  /** The number of operations, over all transports. */
  operations: Scalars['Int']['output'];
  /** The number of live events that were written to subscriptions, without those after a cursor. */
  deliveries: Scalars['Int']['output'];
  /** The number of operations that were refused or have failed. */
  refusals: Scalars['Int']['output'];
};

/** An operation that was refused or has failed. */
export type Refusal = {
  /** The time of the answer. */
  time: Scalars['DateTime']['output'];
  /** The name of the node that answered. */
  node: Scalars['String']['output'];
  /** The id of the request: the header `x-request-id` of its answer. Each operation over a WebSocket has another. */
  requestId: Scalars['ID']['output'];
  /** The name of the operation, at most 100 characters long; null without a name. */
  operation?: Maybe<Scalars['String']['output']>;
  /** The code of the first error. */
  code: Scalars['String']['output'];
  /**
   * The message of the first error, at most 300 characters long. `…` replaces a value of the document or of its variables
   * that the message quotes.
   */
  reason: Scalars['String']['output'];
  /** The user of the credentials; null without credentials, and after the account has been deleted. */
  viewer?: Maybe<User>;
  /** The IP address; of an IPv6 address only the network, the first 64 bits. */
  address: Scalars['String']['output'];
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type Mutation = {
  /**
   * Creates an account and signs in. A server with `SIGN_UP=closed` refuses it with FORBIDDEN, and a server with
   * `SIGN_UP=invited` refuses it without an invitation. The users of a network address share a limit: RATE_LIMITED.
   */
  signUp?: Maybe<SignUpPayload>;
  /** Signs in with an e-mail address and a password. */
  signIn?: Maybe<SignInPayload>;
  /**
   * Signs in with the token of a link that an operator created. The token is valid once, for 15 minutes, and until the password is
   * changed. Its use revokes all access tokens of the user that were issued before. API keys stay valid.
   */
  signInWithLink?: Maybe<SignInWithLinkPayload>;
  /** Creates a new access token for the current session. The previous access token remains valid until it expires. */
  renewSession?: Maybe<RenewSessionPayload>;
  /**
   * Sets a new password, starts a new session and revokes all access tokens of the user that were issued before, including
   * the one that the request was sent with. API keys stay valid.
   */
  changePassword?: Maybe<ChangePasswordPayload>;
  /**
   * Creates an API key for an application, which acts as a user of its own. The key is returned only once. A request
   * with an API key cannot create keys. A user can have 100 keys that are not revoked, including expired keys; a further
   * key is refused with CONFLICT until one is revoked. All keys of a user share one rate.
   */
  createApiKey?: Maybe<CreateApiKeyPayload>;
  /** Revokes an API key of the viewer and ends all streams of its application. Admins can revoke any key. */
  revokeApiKey?: Maybe<RevokeApiKeyPayload>;
  /**
   * Creates a code with which people create accounts, which join the room. Only the owner of the room and admins can do
   * this. A room has at most 100 invitations.
   */
  createInvitation?: Maybe<CreateInvitationPayload>;
  /**
   * Ends an invitation and removes it from the list. Accounts that it has created remain, and remain members. Only the
   * owner of the room and admins can do this.
   */
  revokeInvitation?: Maybe<RevokeInvitationPayload>;
  /** Changes fields of the viewer's account. */
  updateUser?: Maybe<UpdateUserPayload>;
  /** Sets all writable fields of the viewer's account. */
  replaceUser?: Maybe<ReplaceUserPayload>;
  /**
   * Deletes the viewer's account: erases its name, e-mail address and credentials, and deletes its drafts. Published
   * posts remain unless `deletePosts` is true. Admins can delete any account.
   */
  deleteUser?: Maybe<DeleteUserPayload>;
  /** Creates a room. The viewer becomes its owner and first member: its first event is `MemberJoined`. */
  createRoom?: Maybe<CreateRoomPayload>;
  /** Changes fields of a room. Only its owner and admins can do this. */
  updateRoom?: Maybe<UpdateRoomPayload>;
  /** Sets all writable fields of a room. Only its owner and admins can do this. */
  replaceRoom?: Maybe<ReplaceRoomPayload>;
  /** Deletes a room with its posts and ends its streams. Only its owner and admins can do this. */
  deleteRoom?: Maybe<DeleteRoomPayload>;
  /** Adds the viewer to a public room. Does nothing if the viewer is a member already. */
  joinRoom?: Maybe<JoinRoomPayload>;
  /** Removes the viewer from a room. Does nothing if the viewer is not a member. The owner cannot leave. */
  leaveRoom?: Maybe<LeaveRoomPayload>;
  /**
   * Opens the direct room of the viewer and another user: a private room without an owner, of which both are members. There
   * is one for each pair of users: every call of either of them returns the same room, and whoever has left it is a member
   * again.
   */
  openDirectRoom?: Maybe<OpenDirectRoomPayload>;
  /**
   * Adds a user to a room. Does nothing if the user is a member already. Only the room's owner and admins can do this. A user
   * who is a member of 900 rooms is not added to more (`FORBIDDEN`), so that the rest of an inbox is left to the user.
   */
  addRoomMember?: Maybe<AddRoomMemberPayload>;
  /**
   * Removes a user from a room. Does nothing if the user is not a member. Only the room's owner and admins can do this.
   * The owner cannot be removed.
   */
  removeRoomMember?: Maybe<RemoveRoomMemberPayload>;
  /** Creates a post and publishes it, or creates a draft if `publish` is false. */
  createPost?: Maybe<CreatePostPayload>;
  /** Changes fields of the viewer's post. */
  updatePost?: Maybe<UpdatePostPayload>;
  /** Sets all writable fields of the viewer's post. */
  replacePost?: Maybe<ReplacePostPayload>;
  /** Publishes the viewer's draft. Does nothing if the post is published already. */
  publishPost?: Maybe<PublishPostPayload>;
  /** Deletes the viewer's post. Admins can delete any post. */
  deletePost?: Maybe<DeletePostPayload>;
  /**
   * Marks a room as read: up to a post, or up to now. The position never moves back. Publishing a post marks its room as
   * read, too. Only for members.
   */
  markRead?: Maybe<MarkReadPayload>;
  /**
   * Ends a connection on any node. A WebSocket is closed with the code 1008, and an event stream ends with
   * CONNECTION_ENDED. The client may connect again. Only for admins.
   */
  endConnection?: Maybe<EndConnectionPayload>;
  /**
   * Mutes a user in a room until a time: the user cannot create, change or publish posts there, nor can the API keys of the
   * user. This applies to everyone, also to the owner and to admins, and whether or not the user is a member. Only for admins.
   */
  muteUser?: Maybe<MuteUserPayload>;
  /**
   * Shows that the viewer is typing in a room, or is no longer typing. It lasts for 5 seconds, or until the viewer publishes
   * a post in the room: send it again about every 3 seconds. Everyone who can post in the room can do this.
   */
  setTyping?: Maybe<SetTypingPayload>;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationSignUpArgs = {
  input: SignUpInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationSignInArgs = {
  input: SignInInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationSignInWithLinkArgs = {
  input: SignInWithLinkInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationChangePasswordArgs = {
  input: ChangePasswordInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationCreateApiKeyArgs = {
  input: CreateApiKeyInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationRevokeApiKeyArgs = {
  input: RevokeApiKeyInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationCreateInvitationArgs = {
  input: CreateInvitationInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationRevokeInvitationArgs = {
  input: RevokeInvitationInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationUpdateUserArgs = {
  input: UpdateUserInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationReplaceUserArgs = {
  input: ReplaceUserInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationDeleteUserArgs = {
  input: DeleteUserInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationCreateRoomArgs = {
  input: CreateRoomInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationUpdateRoomArgs = {
  input: UpdateRoomInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationReplaceRoomArgs = {
  input: ReplaceRoomInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationDeleteRoomArgs = {
  input: DeleteRoomInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationJoinRoomArgs = {
  input: JoinRoomInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationLeaveRoomArgs = {
  input: LeaveRoomInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationOpenDirectRoomArgs = {
  input: OpenDirectRoomInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationAddRoomMemberArgs = {
  input: AddRoomMemberInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationRemoveRoomMemberArgs = {
  input: RemoveRoomMemberInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationCreatePostArgs = {
  input: CreatePostInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationUpdatePostArgs = {
  input: UpdatePostInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationReplacePostArgs = {
  input: ReplacePostInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationPublishPostArgs = {
  input: PublishPostInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationDeletePostArgs = {
  input: DeletePostInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationMarkReadArgs = {
  input: MarkReadInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationEndConnectionArgs = {
  input: EndConnectionInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationMuteUserArgs = {
  input: MuteUserInput;
};

/**
 * All mutations. An `update…` mutation changes only the given fields. A `replace…` mutation sets all writable fields; a
 * nullable field that is absent becomes null. Both are refused with CONFLICT if `expectedVersion` is given and is not
 * the current version. A mutation that fails is null, and its error has its path. The mutations after it run nevertheless.
 */
export type MutationSetTypingArgs = {
  input: SetTypingInput;
};

/** The input fields of `signUp`. */
export type SignUpInput = {
  /**
   * The display name: 1 to 80 characters, one of them visible, no control characters or other invisible characters. White
   * space at its ends is removed.
   */
  name: Scalars['String']['input'];
  /** The e-mail address. It is unique; case is ignored. */
  email: Scalars['String']['input'];
  /** The password, 8 to 200 characters. */
  password: Scalars['String']['input'];
  /**
   * The code of an invitation: the account joins the room of the invitation. A code that is wrong, has expired, or was used
   * up or revoked is refused with FORBIDDEN.
   */
  invitation?: InputMaybe<Scalars['String']['input']>;
};

/** The input fields of `signIn`. */
export type SignInInput = {
  /** The e-mail address of the account; case is ignored. */
  email: Scalars['String']['input'];
  /** The password of the account. */
  password: Scalars['String']['input'];
};

/** The input fields of `signInWithLink`. */
export type SignInWithLinkInput = {
  /** The token of the link. */
  token: Scalars['String']['input'];
};

/** The input fields of `changePassword`. */
export type ChangePasswordInput = {
  /** The current password. */
  currentPassword: Scalars['String']['input'];
  /** The new password, 8 to 200 characters. */
  newPassword: Scalars['String']['input'];
};

/** The input fields of `createApiKey`. */
export type CreateApiKeyInput = {
  /**
   * The name of the application: 1 to 80 characters, one of them visible, no control characters or other invisible
   * characters. White space at its ends is removed.
   */
  name: Scalars['String']['input'];
  /**
   * The scopes of the key, at least one. The viewer's credentials must have each of them. Only an admin can grant
   * `ADMIN`.
   */
  scopes: Array<Scope>;
  /** The time at which the key expires. It must be in the future. If absent, the key does not expire. */
  expiresAt?: InputMaybe<Scalars['DateTime']['input']>;
};

/** The input fields of `revokeApiKey`. */
export type RevokeApiKeyInput = {
  /** The id of the key to revoke. */
  id: Scalars['ID']['input'];
};

/** The input fields of `createInvitation`. */
export type CreateInvitationInput = {
  /** The id of the room that new accounts join. */
  room: Scalars['ID']['input'];
  /** The number of accounts that the invitation can create, 1 to 1,000. */
  uses?: Scalars['Int']['input'];
  /** The time at which the invitation expires, at most 90 days from now. The default is 7 days from now. */
  expiresAt?: InputMaybe<Scalars['DateTime']['input']>;
};

/** The input fields of `revokeInvitation`. */
export type RevokeInvitationInput = {
  /** The id of the invitation's room. */
  room: Scalars['ID']['input'];
  /** The id of the invitation. */
  id: Scalars['ID']['input'];
};

/** The input fields of `openDirectRoom`. */
export type OpenDirectRoomInput = {
  /** The id of the other user. */
  user: Scalars['ID']['input'];
};

/** The input fields of `addRoomMember`. */
export type AddRoomMemberInput = {
  /** The id of the room. */
  room: Scalars['ID']['input'];
  /** The id of the user to add. */
  user: Scalars['ID']['input'];
};

/** The input fields of `removeRoomMember`. */
export type RemoveRoomMemberInput = {
  /** The id of the room. */
  room: Scalars['ID']['input'];
  /** The id of the user to remove. */
  user: Scalars['ID']['input'];
};

/** The input fields of `updateUser`. */
export type UpdateUserInput = {
  /** The id of the account, which must be the viewer's own. */
  id: Scalars['ID']['input'];
  /**
   * The display name: 1 to 80 characters, one of them visible, no control characters or other invisible characters. White
   * space at its ends is removed.
   */
  name?: InputMaybe<Scalars['String']['input']>;
  /** The e-mail address. It is unique; case is ignored. It can be null only if the account has no password. */
  email?: InputMaybe<Scalars['String']['input']>;
  /** Refuses the mutation with CONFLICT unless this is the current version. */
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
};

/** The input fields of `replaceUser`. */
export type ReplaceUserInput = {
  /** The id of the account, which must be the viewer's own. */
  id: Scalars['ID']['input'];
  /**
   * The display name: 1 to 80 characters, one of them visible, no control characters or other invisible characters. White
   * space at its ends is removed.
   */
  name: Scalars['String']['input'];
  /** The e-mail address. It is unique; case is ignored. It can be null or absent only if the account has no password. */
  email?: InputMaybe<Scalars['String']['input']>;
  /** Refuses the mutation with CONFLICT unless this is the current version. */
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
};

/** The input fields of `deleteUser`. */
export type DeleteUserInput = {
  /** The id of the account to delete. */
  id: Scalars['ID']['input'];
  /** Whether to delete the published posts as well. Drafts are always deleted. */
  deletePosts?: InputMaybe<Scalars['Boolean']['input']>;
};

/** The input fields of `createRoom`. */
export type CreateRoomInput = {
  /**
   * The name: 1 to 80 characters, one of them visible, no control characters or other invisible characters. White space at
   * its ends is removed. It is unique among public rooms, and among the private rooms of one owner.
   */
  name: Scalars['String']['input'];
  /** Who can see the room. */
  visibility?: InputMaybe<RoomVisibility>;
};

/** The input fields of `updateRoom`. */
export type UpdateRoomInput = {
  /** The id of the room. */
  id: Scalars['ID']['input'];
  /**
   * The name: 1 to 80 characters, one of them visible, no control characters or other invisible characters. White space at
   * its ends is removed. It is unique among public rooms, and among the private rooms of one owner.
   */
  name?: InputMaybe<Scalars['String']['input']>;
  /** Who can see the room. */
  visibility?: InputMaybe<RoomVisibility>;
  /** Refuses the mutation with CONFLICT unless this is the current version. */
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
};

/** The input fields of `replaceRoom`. */
export type ReplaceRoomInput = {
  /** The id of the room. */
  id: Scalars['ID']['input'];
  /**
   * The name: 1 to 80 characters, one of them visible, no control characters or other invisible characters. White space at
   * its ends is removed. It is unique among public rooms, and among the private rooms of one owner.
   */
  name: Scalars['String']['input'];
  /** Who can see the room. */
  visibility: RoomVisibility;
  /** Refuses the mutation with CONFLICT unless this is the current version. */
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
};

/** The input fields of `deleteRoom`. */
export type DeleteRoomInput = {
  /** The id of the room to delete. */
  id: Scalars['ID']['input'];
  /** Refuses the mutation with CONFLICT unless this is the current version. */
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
};

/** The input fields of `joinRoom`. */
export type JoinRoomInput = {
  /** The id of the room to join. */
  room: Scalars['ID']['input'];
};

/** The input fields of `leaveRoom`. */
export type LeaveRoomInput = {
  /** The id of the room to leave. */
  room: Scalars['ID']['input'];
};

/** The input fields of `createPost`. */
export type CreatePostInput = {
  /** The id of the room to post in. */
  room: Scalars['ID']['input'];
  /** The title: 1 to 200 characters, no control characters. */
  title: Scalars['String']['input'];
  /** The text, up to 20,000 characters. */
  body?: InputMaybe<Scalars['String']['input']>;
  /** Whether to publish the post. If false, the post is a draft. */
  publish?: InputMaybe<Scalars['Boolean']['input']>;
};

/** The input fields of `updatePost`. */
export type UpdatePostInput = {
  /** The id of the post. */
  id: Scalars['ID']['input'];
  /** The title: 1 to 200 characters, no control characters. */
  title?: InputMaybe<Scalars['String']['input']>;
  /** The text, up to 20,000 characters. Null removes it. */
  body?: InputMaybe<Scalars['String']['input']>;
  /** Refuses the mutation with CONFLICT unless this is the current version. */
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
};

/** The input fields of `replacePost`. */
export type ReplacePostInput = {
  /** The id of the post. */
  id: Scalars['ID']['input'];
  /** The title: 1 to 200 characters, no control characters. */
  title: Scalars['String']['input'];
  /** The text, up to 20,000 characters. If it is absent, the text is removed. */
  body?: InputMaybe<Scalars['String']['input']>;
  /** Refuses the mutation with CONFLICT unless this is the current version. */
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
};

/** The input fields of `publishPost`. */
export type PublishPostInput = {
  /** The id of the draft to publish. */
  id: Scalars['ID']['input'];
};

/** The input fields of `deletePost`. */
export type DeletePostInput = {
  /** The id of the post to delete. */
  id: Scalars['ID']['input'];
  /** Refuses the mutation with CONFLICT unless this is the current version. */
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
};

/** The input fields of `endConnection`. */
export type EndConnectionInput = {
  /** The id of the connection. */
  id: Scalars['ID']['input'];
};

/** The input fields of `markRead`. */
export type MarkReadInput = {
  /** The id of the room. */
  room: Scalars['ID']['input'];
  /** The id of the last post that was read, which is a published post of the room. Without it everything until now was read. */
  post?: InputMaybe<Scalars['ID']['input']>;
};

/** The input fields of `muteUser`. */
export type MuteUserInput = {
  /** The id of the user. */
  user: Scalars['ID']['input'];
  /** The id of the room. */
  room: Scalars['ID']['input'];
  /** The time at which the mute ends. It must be in the future. Null, or absent, ends the mute now. */
  until?: InputMaybe<Scalars['DateTime']['input']>;
};

/** The input fields of `setTyping`. */
export type SetTypingInput = {
  /** The id of the room. */
  room: Scalars['ID']['input'];
  /** Whether the viewer is typing. */
  typing: Scalars['Boolean']['input'];
};

/** The result of `signUp`. */
export type SignUpPayload = {
  /** The access token, for the header `Authorization: Bearer …`. */
  accessToken: Scalars['String']['output'];
  /** The time at which the access token expires. */
  expiresAt: Scalars['DateTime']['output'];
  /** The new account. */
  user: User;
};

/** The result of `signIn`. */
export type SignInPayload = {
  /** The access token, for the header `Authorization: Bearer …`. */
  accessToken: Scalars['String']['output'];
  /** The time at which the access token expires. */
  expiresAt: Scalars['DateTime']['output'];
  /** The account that signed in. */
  user: User;
};

/** The result of `signInWithLink`. */
export type SignInWithLinkPayload = {
  /** The access token, for the header `Authorization: Bearer …`. */
  accessToken: Scalars['String']['output'];
  /** The time at which the access token expires. */
  expiresAt: Scalars['DateTime']['output'];
  /** The account that signed in. */
  user: User;
};

/** The result of `renewSession`. */
export type RenewSessionPayload = {
  /** The access token, for the header `Authorization: Bearer …`. */
  accessToken: Scalars['String']['output'];
  /** The time at which the access token expires. */
  expiresAt: Scalars['DateTime']['output'];
  /** The account of the session. */
  user: User;
};

/** The result of `changePassword`: the access token of the new session. */
export type ChangePasswordPayload = {
  /** The access token, for the header `Authorization: Bearer …`. */
  accessToken: Scalars['String']['output'];
  /** The time at which the access token expires. */
  expiresAt: Scalars['DateTime']['output'];
  /** The account of the session. */
  user: User;
};

/** The result of `createApiKey`. */
export type CreateApiKeyPayload = {
  /** The key, for the header `Authorization: ApiKey …`. It is returned only here. */
  key: Scalars['String']['output'];
  /** The API key without the secret. */
  apiKey: ApiKey;
};

/** The result of `revokeApiKey`. */
export type RevokeApiKeyPayload = {
  /** The API key as it was before it was revoked. */
  apiKey: ApiKey;
};

/** The result of `createInvitation`. */
export type CreateInvitationPayload = {
  /** The code, for the field `invitation` of `signUp`. It is returned only here. */
  code: Scalars['String']['output'];
  /** The invitation without the code. */
  invitation: Invitation;
};

/** The result of `revokeInvitation`. */
export type RevokeInvitationPayload = {
  /** The invitation as it was before it was revoked. */
  invitation: Invitation;
};

/** The result of `openDirectRoom`. */
export type OpenDirectRoomPayload = {
  /** The direct room. */
  room: Room;
};

/** The result of `addRoomMember`. */
export type AddRoomMemberPayload = {
  /** The room with the member. */
  room: Room;
};

/** The result of `removeRoomMember`. */
export type RemoveRoomMemberPayload = {
  /** The room without the member. */
  room: Room;
};

/** The result of `updateUser`. */
export type UpdateUserPayload = {
  /** The account after the change. */
  user: User;
};

/** The result of `replaceUser`. */
export type ReplaceUserPayload = {
  /** The account after the change. */
  user: User;
};

/** The result of `deleteUser`. */
export type DeleteUserPayload = {
  /** The account as it was before it was deleted. */
  user: User;
};

/** The result of `createRoom`. */
export type CreateRoomPayload = {
  /** The new room. */
  room: Room;
};

/** The result of `updateRoom`. */
export type UpdateRoomPayload = {
  /** The room after the change. */
  room: Room;
};

/** The result of `replaceRoom`. */
export type ReplaceRoomPayload = {
  /** The room after the change. */
  room: Room;
};

/** The result of `deleteRoom`. */
export type DeleteRoomPayload = {
  /** The room as it was before it was deleted. Its connections are empty. */
  room: Room;
};

/** The result of `joinRoom`. */
export type JoinRoomPayload = {
  /** The room that the viewer is now a member of. */
  room: Room;
};

/** The result of `leaveRoom`. */
export type LeaveRoomPayload = {
  /** The room that the viewer has left. */
  room: Room;
};

/** The result of `createPost`. */
export type CreatePostPayload = {
  /** The new post. */
  post: Post;
};

/** The result of `updatePost`. */
export type UpdatePostPayload = {
  /** The post after the change. */
  post: Post;
};

/** The result of `replacePost`. */
export type ReplacePostPayload = {
  /** The post after the change. */
  post: Post;
};

/** The result of `publishPost`. */
export type PublishPostPayload = {
  /** The published post. */
  post: Post;
};

/** The result of `deletePost`. */
export type DeletePostPayload = {
  /** The post as it was before it was deleted. */
  post: Post;
};

/** The result of `endConnection`. */
export type EndConnectionPayload = {
  /** The id of the connection that was ended. */
  id: Scalars['ID']['output'];
};

/** The result of `markRead`. */
export type MarkReadPayload = {
  /** The room. */
  room: Room;
};

/** The result of `muteUser`. */
export type MuteUserPayload = {
  /** The user. */
  user: User;
  /** The room. */
  room: Room;
  /** The time at which the mute ends; null if the user is not muted. */
  until?: Maybe<Scalars['DateTime']['output']>;
};

/** The result of `setTyping`. */
export type SetTypingPayload = {
  /** The room. */
  room: Room;
};

/**
 * All subscriptions. A stream of a room delivers every event of it once, in order. A stream that cannot continue ends with
 * an error whose code gives the reason, for example CURSOR_EXPIRED, SLOW_CONSUMER, ROOM_DELETED or MEMBERSHIP_REVOKED.
 */
export type Subscription = {
  /** Every event of a room: all new events, or all events after the cursor `after`. */
  roomEvents: RoomEvent;
  /**
   * Every post that is published in a room: all new posts, or all posts after the cursor `after`. A replay omits posts
   * that have been deleted since.
   */
  postAdded: Post;
  /**
   * Every event of all rooms that the viewer belongs to: all new events, or all events after the cursors `after`. The
   * events of each room are in order; between rooms there is no order. A room that the viewer joins or creates enters
   * with the viewer's `MemberJoined`, and ends with the viewer's `MemberLeft` or with `RoomDeleted`. An inbox covers up to
   * 1,000 rooms.
   */
  inbox: RoomEvent;
  /**
   * Who is present in a room, and who is typing: at once, then the whole state whenever it has changed, at most five times
   * in a second. A client that reads slowly misses states and receives the latest. It cannot be resumed: a client that
   * reconnects receives the latest state.
   */
  roomPresence: RoomPresence;
  /**
   * The state of the server: at once, then once a second. A client that reads slowly misses states and receives the
   * latest. It cannot be resumed: a client that reconnects receives the latest state. Only for admins.
   */
  serverStatusChanged: ServerStatus;
};

/**
 * All subscriptions. A stream of a room delivers every event of it once, in order. A stream that cannot continue ends with
 * an error whose code gives the reason, for example CURSOR_EXPIRED, SLOW_CONSUMER, ROOM_DELETED or MEMBERSHIP_REVOKED.
 */
export type SubscriptionRoomEventsArgs = {
  room: Scalars['ID']['input'];
  after?: InputMaybe<Scalars['String']['input']>;
  types?: InputMaybe<Array<RoomEventType>>;
};

/**
 * All subscriptions. A stream of a room delivers every event of it once, in order. A stream that cannot continue ends with
 * an error whose code gives the reason, for example CURSOR_EXPIRED, SLOW_CONSUMER, ROOM_DELETED or MEMBERSHIP_REVOKED.
 */
export type SubscriptionPostAddedArgs = {
  room: Scalars['ID']['input'];
  after?: InputMaybe<Scalars['String']['input']>;
};

/**
 * All subscriptions. A stream of a room delivers every event of it once, in order. A stream that cannot continue ends with
 * an error whose code gives the reason, for example CURSOR_EXPIRED, SLOW_CONSUMER, ROOM_DELETED or MEMBERSHIP_REVOKED.
 */
export type SubscriptionInboxArgs = {
  after?: InputMaybe<Array<Scalars['String']['input']>>;
  types?: InputMaybe<Array<RoomEventType>>;
};

/**
 * All subscriptions. A stream of a room delivers every event of it once, in order. A stream that cannot continue ends with
 * an error whose code gives the reason, for example CURSOR_EXPIRED, SLOW_CONSUMER, ROOM_DELETED or MEMBERSHIP_REVOKED.
 */
export type SubscriptionRoomPresenceArgs = {
  room: Scalars['ID']['input'];
  visible?: InputMaybe<Scalars['Boolean']['input']>;
};

/** The types that implement `RoomEvent`, without those that only an inbox has. */
export type RoomEventType =
  /** A post was published. */
  | 'PostCreated'
  /** A published post was changed. */
  | 'PostUpdated'
  /** A published post was deleted. */
  | 'PostDeleted'
  /** A user joined the room. */
  | 'MemberJoined'
  /** A user left the room, or was removed. */
  | 'MemberLeft'
  /** The room was changed. */
  | 'RoomUpdated'
  /** An event of a type that this server does not know. */
  | 'OtherEvent';

/** A change in a room. */
export type RoomEvent = {
  /** The position of this event in the room's stream. Pass it as `after` to resume after this event. */
  cursor: Scalars['String']['output'];
  /** The time of the event. */
  at: Scalars['DateTime']['output'];
  /** The room of the event. */
  room: Room;
  /** The user who caused the event; null after that account has been deleted. */
  actor?: Maybe<User>;
};

/** A post was published. */
export type PostCreated = RoomEvent & {
  /** The position of this event in the room's stream. Pass it as `after` to resume after this event. */
  cursor: Scalars['String']['output'];
  /** The time of the event. */
  at: Scalars['DateTime']['output'];
  /** The room of the event. */
  room: Room;
  /** The user who caused the event; null after that account has been deleted. */
  actor?: Maybe<User>;
  /** The post as it was at the time of the event. In a replay, the post as it is now; null if it has been deleted since. */
  post?: Maybe<Post>;
};

/** A published post was changed. */
export type PostUpdated = RoomEvent & {
  /** The position of this event in the room's stream. Pass it as `after` to resume after this event. */
  cursor: Scalars['String']['output'];
  /** The time of the event. */
  at: Scalars['DateTime']['output'];
  /** The room of the event. */
  room: Room;
  /** The user who caused the event; null after that account has been deleted. */
  actor?: Maybe<User>;
  /** The post as it was at the time of the event. In a replay, the post as it is now; null if it has been deleted since. */
  post?: Maybe<Post>;
};

/** A published post was deleted. */
export type PostDeleted = RoomEvent & {
  /** The position of this event in the room's stream. Pass it as `after` to resume after this event. */
  cursor: Scalars['String']['output'];
  /** The time of the event. */
  at: Scalars['DateTime']['output'];
  /** The room of the event. */
  room: Room;
  /** The user who caused the event; null after that account has been deleted. */
  actor?: Maybe<User>;
  /** The id of the deleted post. */
  postId: Scalars['ID']['output'];
};

/** A user created or joined a room, or was added to it. */
export type MemberJoined = RoomEvent & {
  /** The position of this event in the room's stream. Pass it as `after` to resume after this event. */
  cursor: Scalars['String']['output'];
  /** The time of the event. */
  at: Scalars['DateTime']['output'];
  /** The room of the event. */
  room: Room;
  /** The user who caused the event; null after that account has been deleted. */
  actor?: Maybe<User>;
  /** The user who joined; null after that account has been deleted. */
  user?: Maybe<User>;
};

/** A user left a room or was removed from it. */
export type MemberLeft = RoomEvent & {
  /** The position of this event in the room's stream. Pass it as `after` to resume after this event. */
  cursor: Scalars['String']['output'];
  /** The time of the event. */
  at: Scalars['DateTime']['output'];
  /** The room of the event. */
  room: Room;
  /** The user who caused the event; null after that account has been deleted. */
  actor?: Maybe<User>;
  /** The user who left; null after that account has been deleted. */
  user?: Maybe<User>;
};

/** The room itself was changed. */
export type RoomUpdated = RoomEvent & {
  /** The position of this event in the room's stream. Pass it as `after` to resume after this event. */
  cursor: Scalars['String']['output'];
  /** The time of the event. */
  at: Scalars['DateTime']['output'];
  /** The room of the event. */
  room: Room;
  /** The user who caused the event; null after that account has been deleted. */
  actor?: Maybe<User>;
};

/**
 * An event whose type this node does not know, because a newer version of the server has written it. What has changed may
 * be anything: query the room again. A node that knows the type delivers the event with it.
 */
export type OtherEvent = RoomEvent & {
  /** The position of this event in the room's stream. Pass it as `after` to resume after this event. */
  cursor: Scalars['String']['output'];
  /** The time of the event. */
  at: Scalars['DateTime']['output'];
  /** The room of the event. */
  room: Room;
  /** The user who caused the event; null after that account has been deleted, or if nobody did. */
  actor?: Maybe<User>;
};

/** The viewer has read a room, perhaps on another device. It is sent in the inbox only. */
export type RoomRead = RoomEvent & {
  /** The position of the latest event of the room that was sent before. */
  cursor: Scalars['String']['output'];
  /** The time of the event. */
  at: Scalars['DateTime']['output'];
  /** The room of the event. */
  room: Room;
  /** The user who caused the event; null after that account has been deleted. */
  actor?: Maybe<User>;
};

/**
 * The room was deleted. It is sent in the inbox only, as the last event of the room, which is as it was before. For a client
 * that was away, only the id of the room is left.
 */
export type RoomDeleted = RoomEvent & {
  /** The position of the latest event of the room that was sent before. */
  cursor: Scalars['String']['output'];
  /** The time of the event. */
  at: Scalars['DateTime']['output'];
  /** The room of the event. */
  room: Room;
  /** The user who caused the event; null if that account has been deleted, or if it is not known. */
  actor?: Maybe<User>;
};

export type ResolverTypeWrapper<T> = Promise<T> | T;

export type ResolverWithResolve<TResult, TParent, TContext, TArgs> = {
  resolve: ResolverFn<TResult, TParent, TContext, TArgs>;
};
export type Resolver<
  TResult,
  TParent = Record<PropertyKey, never>,
  TContext = Record<PropertyKey, never>,
  TArgs = Record<PropertyKey, never>,
> = ResolverFn<TResult, TParent, TContext, TArgs> | ResolverWithResolve<TResult, TParent, TContext, TArgs>;

export type ResolverFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo,
) => Promise<TResult> | TResult;

export type SubscriptionSubscribeFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo,
) => AsyncIterable<TResult> | Promise<AsyncIterable<TResult>>;

export type SubscriptionResolveFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo,
) => TResult | Promise<TResult>;

export interface SubscriptionSubscriberObject<TResult, TKey extends string, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<{ [key in TKey]: TResult }, TParent, TContext, TArgs>;
  resolve?: SubscriptionResolveFn<TResult, { [key in TKey]: TResult }, TContext, TArgs>;
}

export interface SubscriptionResolverObject<TResult, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<any, TParent, TContext, TArgs>;
  resolve: SubscriptionResolveFn<TResult, any, TContext, TArgs>;
}

export type SubscriptionObject<TResult, TKey extends string, TParent, TContext, TArgs> =
  | SubscriptionSubscriberObject<TResult, TKey, TParent, TContext, TArgs>
  | SubscriptionResolverObject<TResult, TParent, TContext, TArgs>;

export type SubscriptionResolver<
  TResult,
  TKey extends string,
  TParent = Record<PropertyKey, never>,
  TContext = Record<PropertyKey, never>,
  TArgs = Record<PropertyKey, never>,
> =
  | ((...args: any[]) => SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>)
  | SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>;

export type TypeResolveFn<TTypes, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (
  parent: TParent,
  context: TContext,
  info: GraphQLResolveInfo,
) => Maybe<TTypes> | Promise<Maybe<TTypes>>;

export type IsTypeOfResolverFn<T = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (
  obj: T,
  context: TContext,
  info: GraphQLResolveInfo,
) => boolean | Promise<boolean>;

export type NextResolverFn<T> = () => Promise<T>;

export type DirectiveResolverFn<
  TResult = Record<PropertyKey, never>,
  TParent = Record<PropertyKey, never>,
  TContext = Record<PropertyKey, never>,
  TArgs = Record<PropertyKey, never>,
> = (
  next: NextResolverFn<TResult>,
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo,
) => TResult | Promise<TResult>;

/** Mapping of interface types */
export type ResolversInterfaceTypes<_RefType extends Record<string, unknown>> = {
  Node: PublicUser | PostWithoutBody | RoomRow;
  RoomEvent:
    | StreamEvent
    | StreamEvent
    | StreamEvent
    | StreamEvent
    | StreamEvent
    | StreamEvent
    | StreamEvent
    | StreamEvent
    | StreamEvent;
};

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  CacheControlScope: CacheControlScope;
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  Role: Role;
  RoomVisibility: RoomVisibility;
  RoomRole: RoomRole;
  Scope: Scope;
  Node: ResolverTypeWrapper<ResolversInterfaceTypes<ResolversTypes>['Node']>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  User: ResolverTypeWrapper<PublicUser>;
  ApiKey: ResolverTypeWrapper<ApiKeyRow>;
  Invitation: ResolverTypeWrapper<InvitationRow>;
  Post: ResolverTypeWrapper<PostWithoutBody>;
  Room: ResolverTypeWrapper<RoomRow>;
  RoomPresence: ResolverTypeWrapper<PresenceModel>;
  PageInfo: ResolverTypeWrapper<PageInfoModel>;
  PostConnection: ResolverTypeWrapper<PostConnectionModel>;
  PostEdge: ResolverTypeWrapper<PostEdgeModel>;
  RoomConnection: ResolverTypeWrapper<RoomConnectionModel>;
  RoomEdge: ResolverTypeWrapper<RoomEdgeModel>;
  RoomMemberConnection: ResolverTypeWrapper<RoomMemberConnectionModel>;
  RoomMemberEdge: ResolverTypeWrapper<RoomMemberEdgeModel>;
  Pagination: ResolverTypeWrapper<PaginationModel>;
  UserPage: ResolverTypeWrapper<UserPageModel>;
  PostPage: ResolverTypeWrapper<PostPageModel>;
  RoomPage: ResolverTypeWrapper<RoomPageModel>;
  UserFilter: UserFilter;
  PostFilter: PostFilter;
  RoomFilter: RoomFilter;
  PostOrder: PostOrder;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  ConnectionFilter: ConnectionFilter;
  Transport: Transport;
  ClientConnection: ResolverTypeWrapper<ClientConnectionModel>;
  ClientEdge: ResolverTypeWrapper<ClientEdgeModel>;
  Client: ResolverTypeWrapper<ClientModel>;
  Float: ResolverTypeWrapper<Scalars['Float']['output']>;
  ServerStatus: ResolverTypeWrapper<ServerStatusModel>;
  NodeStatus: ResolverTypeWrapper<NodeStatus>;
  QueueDepth: ResolverTypeWrapper<QueueDepth>;
  DatabaseStatus: ResolverTypeWrapper<DatabaseStatus>;
  BusStatus: ResolverTypeWrapper<BusStatus>;
  RoomFollowers: ResolverTypeWrapper<RoomFollowersModel>;
  ErrorCount: ResolverTypeWrapper<ErrorCountModel>;
  LoadOrder: LoadOrder;
  Load: ResolverTypeWrapper<LoadsModel>;
  UserLoad: ResolverTypeWrapper<UserLoadModel>;
  AddressLoad: ResolverTypeWrapper<AddressLoadModel>;
  Refusal: ResolverTypeWrapper<RefusalModel>;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  SignUpInput: SignUpInput;
  SignInInput: SignInInput;
  SignInWithLinkInput: SignInWithLinkInput;
  ChangePasswordInput: ChangePasswordInput;
  CreateApiKeyInput: CreateApiKeyInput;
  RevokeApiKeyInput: RevokeApiKeyInput;
  CreateInvitationInput: CreateInvitationInput;
  RevokeInvitationInput: RevokeInvitationInput;
  OpenDirectRoomInput: OpenDirectRoomInput;
  AddRoomMemberInput: AddRoomMemberInput;
  RemoveRoomMemberInput: RemoveRoomMemberInput;
  UpdateUserInput: UpdateUserInput;
  ReplaceUserInput: ReplaceUserInput;
  DeleteUserInput: DeleteUserInput;
  CreateRoomInput: CreateRoomInput;
  UpdateRoomInput: UpdateRoomInput;
  ReplaceRoomInput: ReplaceRoomInput;
  DeleteRoomInput: DeleteRoomInput;
  JoinRoomInput: JoinRoomInput;
  LeaveRoomInput: LeaveRoomInput;
  CreatePostInput: CreatePostInput;
  UpdatePostInput: UpdatePostInput;
  ReplacePostInput: ReplacePostInput;
  PublishPostInput: PublishPostInput;
  DeletePostInput: DeletePostInput;
  EndConnectionInput: EndConnectionInput;
  MarkReadInput: MarkReadInput;
  MuteUserInput: MuteUserInput;
  SetTypingInput: SetTypingInput;
  SignUpPayload: ResolverTypeWrapper<Omit<SignUpPayload, 'user'> & { user: ResolversTypes['User'] }>;
  SignInPayload: ResolverTypeWrapper<Omit<SignInPayload, 'user'> & { user: ResolversTypes['User'] }>;
  SignInWithLinkPayload: ResolverTypeWrapper<Omit<SignInWithLinkPayload, 'user'> & { user: ResolversTypes['User'] }>;
  RenewSessionPayload: ResolverTypeWrapper<Omit<RenewSessionPayload, 'user'> & { user: ResolversTypes['User'] }>;
  ChangePasswordPayload: ResolverTypeWrapper<Omit<ChangePasswordPayload, 'user'> & { user: ResolversTypes['User'] }>;
  CreateApiKeyPayload: ResolverTypeWrapper<Omit<CreateApiKeyPayload, 'apiKey'> & { apiKey: ResolversTypes['ApiKey'] }>;
  RevokeApiKeyPayload: ResolverTypeWrapper<Omit<RevokeApiKeyPayload, 'apiKey'> & { apiKey: ResolversTypes['ApiKey'] }>;
  CreateInvitationPayload: ResolverTypeWrapper<
    Omit<CreateInvitationPayload, 'invitation'> & { invitation: ResolversTypes['Invitation'] }
  >;
  RevokeInvitationPayload: ResolverTypeWrapper<
    Omit<RevokeInvitationPayload, 'invitation'> & { invitation: ResolversTypes['Invitation'] }
  >;
  OpenDirectRoomPayload: ResolverTypeWrapper<Omit<OpenDirectRoomPayload, 'room'> & { room: ResolversTypes['Room'] }>;
  AddRoomMemberPayload: ResolverTypeWrapper<Omit<AddRoomMemberPayload, 'room'> & { room: ResolversTypes['Room'] }>;
  RemoveRoomMemberPayload: ResolverTypeWrapper<
    Omit<RemoveRoomMemberPayload, 'room'> & { room: ResolversTypes['Room'] }
  >;
  UpdateUserPayload: ResolverTypeWrapper<Omit<UpdateUserPayload, 'user'> & { user: ResolversTypes['User'] }>;
  ReplaceUserPayload: ResolverTypeWrapper<Omit<ReplaceUserPayload, 'user'> & { user: ResolversTypes['User'] }>;
  DeleteUserPayload: ResolverTypeWrapper<Omit<DeleteUserPayload, 'user'> & { user: ResolversTypes['User'] }>;
  CreateRoomPayload: ResolverTypeWrapper<Omit<CreateRoomPayload, 'room'> & { room: ResolversTypes['Room'] }>;
  UpdateRoomPayload: ResolverTypeWrapper<Omit<UpdateRoomPayload, 'room'> & { room: ResolversTypes['Room'] }>;
  ReplaceRoomPayload: ResolverTypeWrapper<Omit<ReplaceRoomPayload, 'room'> & { room: ResolversTypes['Room'] }>;
  DeleteRoomPayload: ResolverTypeWrapper<Omit<DeleteRoomPayload, 'room'> & { room: ResolversTypes['Room'] }>;
  JoinRoomPayload: ResolverTypeWrapper<Omit<JoinRoomPayload, 'room'> & { room: ResolversTypes['Room'] }>;
  LeaveRoomPayload: ResolverTypeWrapper<Omit<LeaveRoomPayload, 'room'> & { room: ResolversTypes['Room'] }>;
  CreatePostPayload: ResolverTypeWrapper<Omit<CreatePostPayload, 'post'> & { post: ResolversTypes['Post'] }>;
  UpdatePostPayload: ResolverTypeWrapper<Omit<UpdatePostPayload, 'post'> & { post: ResolversTypes['Post'] }>;
  ReplacePostPayload: ResolverTypeWrapper<Omit<ReplacePostPayload, 'post'> & { post: ResolversTypes['Post'] }>;
  PublishPostPayload: ResolverTypeWrapper<Omit<PublishPostPayload, 'post'> & { post: ResolversTypes['Post'] }>;
  DeletePostPayload: ResolverTypeWrapper<Omit<DeletePostPayload, 'post'> & { post: ResolversTypes['Post'] }>;
  EndConnectionPayload: ResolverTypeWrapper<EndConnectionPayload>;
  MarkReadPayload: ResolverTypeWrapper<Omit<MarkReadPayload, 'room'> & { room: ResolversTypes['Room'] }>;
  MuteUserPayload: ResolverTypeWrapper<
    Omit<MuteUserPayload, 'user' | 'room'> & { user: ResolversTypes['User']; room: ResolversTypes['Room'] }
  >;
  SetTypingPayload: ResolverTypeWrapper<Omit<SetTypingPayload, 'room'> & { room: ResolversTypes['Room'] }>;
  Subscription: ResolverTypeWrapper<Record<PropertyKey, never>>;
  RoomEventType: RoomEventType;
  RoomEvent: ResolverTypeWrapper<StreamEvent>;
  PostCreated: ResolverTypeWrapper<StreamEvent>;
  PostUpdated: ResolverTypeWrapper<StreamEvent>;
  PostDeleted: ResolverTypeWrapper<StreamEvent>;
  MemberJoined: ResolverTypeWrapper<StreamEvent>;
  MemberLeft: ResolverTypeWrapper<StreamEvent>;
  RoomUpdated: ResolverTypeWrapper<StreamEvent>;
  OtherEvent: ResolverTypeWrapper<StreamEvent>;
  RoomRead: ResolverTypeWrapper<StreamEvent>;
  RoomDeleted: ResolverTypeWrapper<StreamEvent>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  DateTime: Scalars['DateTime']['output'];
  Node: ResolversInterfaceTypes<ResolversParentTypes>['Node'];
  ID: Scalars['ID']['output'];
  User: PublicUser;
  ApiKey: ApiKeyRow;
  Invitation: InvitationRow;
  Post: PostWithoutBody;
  Room: RoomRow;
  RoomPresence: PresenceModel;
  PageInfo: PageInfoModel;
  PostConnection: PostConnectionModel;
  PostEdge: PostEdgeModel;
  RoomConnection: RoomConnectionModel;
  RoomEdge: RoomEdgeModel;
  RoomMemberConnection: RoomMemberConnectionModel;
  RoomMemberEdge: RoomMemberEdgeModel;
  Pagination: PaginationModel;
  UserPage: UserPageModel;
  PostPage: PostPageModel;
  RoomPage: RoomPageModel;
  UserFilter: UserFilter;
  PostFilter: PostFilter;
  RoomFilter: RoomFilter;
  Query: Record<PropertyKey, never>;
  ConnectionFilter: ConnectionFilter;
  ClientConnection: ClientConnectionModel;
  ClientEdge: ClientEdgeModel;
  Client: ClientModel;
  Float: Scalars['Float']['output'];
  ServerStatus: ServerStatusModel;
  NodeStatus: NodeStatus;
  QueueDepth: QueueDepth;
  DatabaseStatus: DatabaseStatus;
  BusStatus: BusStatus;
  RoomFollowers: RoomFollowersModel;
  ErrorCount: ErrorCountModel;
  Load: LoadsModel;
  UserLoad: UserLoadModel;
  AddressLoad: AddressLoadModel;
  Refusal: RefusalModel;
  Mutation: Record<PropertyKey, never>;
  SignUpInput: SignUpInput;
  SignInInput: SignInInput;
  SignInWithLinkInput: SignInWithLinkInput;
  ChangePasswordInput: ChangePasswordInput;
  CreateApiKeyInput: CreateApiKeyInput;
  RevokeApiKeyInput: RevokeApiKeyInput;
  CreateInvitationInput: CreateInvitationInput;
  RevokeInvitationInput: RevokeInvitationInput;
  OpenDirectRoomInput: OpenDirectRoomInput;
  AddRoomMemberInput: AddRoomMemberInput;
  RemoveRoomMemberInput: RemoveRoomMemberInput;
  UpdateUserInput: UpdateUserInput;
  ReplaceUserInput: ReplaceUserInput;
  DeleteUserInput: DeleteUserInput;
  CreateRoomInput: CreateRoomInput;
  UpdateRoomInput: UpdateRoomInput;
  ReplaceRoomInput: ReplaceRoomInput;
  DeleteRoomInput: DeleteRoomInput;
  JoinRoomInput: JoinRoomInput;
  LeaveRoomInput: LeaveRoomInput;
  CreatePostInput: CreatePostInput;
  UpdatePostInput: UpdatePostInput;
  ReplacePostInput: ReplacePostInput;
  PublishPostInput: PublishPostInput;
  DeletePostInput: DeletePostInput;
  EndConnectionInput: EndConnectionInput;
  MarkReadInput: MarkReadInput;
  MuteUserInput: MuteUserInput;
  SetTypingInput: SetTypingInput;
  SignUpPayload: Omit<SignUpPayload, 'user'> & { user: ResolversParentTypes['User'] };
  SignInPayload: Omit<SignInPayload, 'user'> & { user: ResolversParentTypes['User'] };
  SignInWithLinkPayload: Omit<SignInWithLinkPayload, 'user'> & { user: ResolversParentTypes['User'] };
  RenewSessionPayload: Omit<RenewSessionPayload, 'user'> & { user: ResolversParentTypes['User'] };
  ChangePasswordPayload: Omit<ChangePasswordPayload, 'user'> & { user: ResolversParentTypes['User'] };
  CreateApiKeyPayload: Omit<CreateApiKeyPayload, 'apiKey'> & { apiKey: ResolversParentTypes['ApiKey'] };
  RevokeApiKeyPayload: Omit<RevokeApiKeyPayload, 'apiKey'> & { apiKey: ResolversParentTypes['ApiKey'] };
  CreateInvitationPayload: Omit<CreateInvitationPayload, 'invitation'> & {
    invitation: ResolversParentTypes['Invitation'];
  };
  RevokeInvitationPayload: Omit<RevokeInvitationPayload, 'invitation'> & {
    invitation: ResolversParentTypes['Invitation'];
  };
  OpenDirectRoomPayload: Omit<OpenDirectRoomPayload, 'room'> & { room: ResolversParentTypes['Room'] };
  AddRoomMemberPayload: Omit<AddRoomMemberPayload, 'room'> & { room: ResolversParentTypes['Room'] };
  RemoveRoomMemberPayload: Omit<RemoveRoomMemberPayload, 'room'> & { room: ResolversParentTypes['Room'] };
  UpdateUserPayload: Omit<UpdateUserPayload, 'user'> & { user: ResolversParentTypes['User'] };
  ReplaceUserPayload: Omit<ReplaceUserPayload, 'user'> & { user: ResolversParentTypes['User'] };
  DeleteUserPayload: Omit<DeleteUserPayload, 'user'> & { user: ResolversParentTypes['User'] };
  CreateRoomPayload: Omit<CreateRoomPayload, 'room'> & { room: ResolversParentTypes['Room'] };
  UpdateRoomPayload: Omit<UpdateRoomPayload, 'room'> & { room: ResolversParentTypes['Room'] };
  ReplaceRoomPayload: Omit<ReplaceRoomPayload, 'room'> & { room: ResolversParentTypes['Room'] };
  DeleteRoomPayload: Omit<DeleteRoomPayload, 'room'> & { room: ResolversParentTypes['Room'] };
  JoinRoomPayload: Omit<JoinRoomPayload, 'room'> & { room: ResolversParentTypes['Room'] };
  LeaveRoomPayload: Omit<LeaveRoomPayload, 'room'> & { room: ResolversParentTypes['Room'] };
  CreatePostPayload: Omit<CreatePostPayload, 'post'> & { post: ResolversParentTypes['Post'] };
  UpdatePostPayload: Omit<UpdatePostPayload, 'post'> & { post: ResolversParentTypes['Post'] };
  ReplacePostPayload: Omit<ReplacePostPayload, 'post'> & { post: ResolversParentTypes['Post'] };
  PublishPostPayload: Omit<PublishPostPayload, 'post'> & { post: ResolversParentTypes['Post'] };
  DeletePostPayload: Omit<DeletePostPayload, 'post'> & { post: ResolversParentTypes['Post'] };
  EndConnectionPayload: EndConnectionPayload;
  MarkReadPayload: Omit<MarkReadPayload, 'room'> & { room: ResolversParentTypes['Room'] };
  MuteUserPayload: Omit<MuteUserPayload, 'user' | 'room'> & {
    user: ResolversParentTypes['User'];
    room: ResolversParentTypes['Room'];
  };
  SetTypingPayload: Omit<SetTypingPayload, 'room'> & { room: ResolversParentTypes['Room'] };
  Subscription: Record<PropertyKey, never>;
  RoomEvent: StreamEvent;
  PostCreated: StreamEvent;
  PostUpdated: StreamEvent;
  PostDeleted: StreamEvent;
  MemberJoined: StreamEvent;
  MemberLeft: StreamEvent;
  RoomUpdated: StreamEvent;
  OtherEvent: StreamEvent;
  RoomRead: StreamEvent;
  RoomDeleted: StreamEvent;
  String: Scalars['String']['output'];
  Int: Scalars['Int']['output'];
  Boolean: Scalars['Boolean']['output'];
};

export type CostDirectiveArgs = {
  weight: Scalars['String']['input'];
};

export type CostDirectiveResolver<
  Result,
  Parent,
  ContextType = Context,
  Args = CostDirectiveArgs,
> = DirectiveResolverFn<Result, Parent, ContextType, Args>;

export type ListSizeDirectiveArgs = {
  assumedSize?: Maybe<Scalars['Int']['input']>;
  slicingArguments?: Maybe<Array<Scalars['String']['input']>>;
  sizedFields?: Maybe<Array<Scalars['String']['input']>>;
  requireOneSlicingArgument?: Maybe<Scalars['Boolean']['input']>;
};

export type ListSizeDirectiveResolver<
  Result,
  Parent,
  ContextType = Context,
  Args = ListSizeDirectiveArgs,
> = DirectiveResolverFn<Result, Parent, ContextType, Args>;

export type SharedCostDirectiveArgs = {
  work: Scalars['String']['input'];
};

export type SharedCostDirectiveResolver<
  Result,
  Parent,
  ContextType = Context,
  Args = SharedCostDirectiveArgs,
> = DirectiveResolverFn<Result, Parent, ContextType, Args>;

export type OffsetCostDirectiveArgs = {
  pageArgument: Scalars['String']['input'];
  limitArgument: Scalars['String']['input'];
  itemsPerUnit: Scalars['Int']['input'];
};

export type OffsetCostDirectiveResolver<
  Result,
  Parent,
  ContextType = Context,
  Args = OffsetCostDirectiveArgs,
> = DirectiveResolverFn<Result, Parent, ContextType, Args>;

export type CacheControlDirectiveArgs = {
  maxAge?: Maybe<Scalars['Int']['input']>;
  scope?: Maybe<CacheControlScope>;
};

export type CacheControlDirectiveResolver<
  Result,
  Parent,
  ContextType = Context,
  Args = CacheControlDirectiveArgs,
> = DirectiveResolverFn<Result, Parent, ContextType, Args>;

export type IdempotentDirectiveArgs = {
  key: Scalars['String']['input'];
};

export type IdempotentDirectiveResolver<
  Result,
  Parent,
  ContextType = Context,
  Args = IdempotentDirectiveArgs,
> = DirectiveResolverFn<Result, Parent, ContextType, Args>;

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type NodeResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['Node'] = ResolversParentTypes['Node'],
> = {
  __resolveType: TypeResolveFn<'User' | 'Post' | 'Room', ParentType, ContextType>;
};

export type UserResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['User'] = ResolversParentTypes['User'],
> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  email?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  role?: Resolver<ResolversTypes['Role'], ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  updatedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  version?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  posts?: Resolver<Array<ResolversTypes['Post']>, ParentType, ContextType, RequireFields<UserPostsArgs, 'last'>>;
  drafts?: Resolver<
    ResolversTypes['PostPage'],
    ParentType,
    ContextType,
    RequireFields<UserDraftsArgs, 'page' | 'limit'>
  >;
  cursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  rooms?: Resolver<ResolversTypes['RoomConnection'], ParentType, ContextType, Partial<UserRoomsArgs>>;
  apiKeys?: Resolver<Array<ResolversTypes['ApiKey']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type ApiKeyResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['ApiKey'] = ResolversParentTypes['ApiKey'],
> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  prefix?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  scopes?: Resolver<Array<ResolversTypes['Scope']>, ParentType, ContextType>;
  user?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  expiresAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  lastUsedAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
};

export type InvitationResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['Invitation'] = ResolversParentTypes['Invitation'],
> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
  uses?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  used?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  createdBy?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  expiresAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export type PostResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['Post'] = ResolversParentTypes['Post'],
> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  title?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  body?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  author?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
  publishedAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  updatedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  version?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type RoomResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['Room'] = ResolversParentTypes['Room'],
> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  visibility?: Resolver<ResolversTypes['RoomVisibility'], ParentType, ContextType>;
  viewerRole?: Resolver<Maybe<ResolversTypes['RoomRole']>, ParentType, ContextType>;
  unread?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  lastRead?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  updatedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  version?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  owner?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  directUser?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  presence?: Resolver<ResolversTypes['RoomPresence'], ParentType, ContextType>;
  members?: Resolver<ResolversTypes['RoomMemberConnection'], ParentType, ContextType, Partial<RoomMembersArgs>>;
  invitations?: Resolver<Maybe<Array<ResolversTypes['Invitation']>>, ParentType, ContextType>;
  posts?: Resolver<ResolversTypes['PostConnection'], ParentType, ContextType, Partial<RoomPostsArgs>>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type RoomPresenceResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['RoomPresence'] = ResolversParentTypes['RoomPresence'],
> = {
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
  count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  users?: Resolver<Array<ResolversTypes['User']>, ParentType, ContextType>;
  typing?: Resolver<Array<ResolversTypes['User']>, ParentType, ContextType>;
};

export type PageInfoResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['PageInfo'] = ResolversParentTypes['PageInfo'],
> = {
  hasPreviousPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  hasNextPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  startCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  endCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type PostConnectionResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['PostConnection'] = ResolversParentTypes['PostConnection'],
> = {
  edges?: Resolver<Array<ResolversTypes['PostEdge']>, ParentType, ContextType>;
  nodes?: Resolver<Array<ResolversTypes['Post']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
};

export type PostEdgeResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['PostEdge'] = ResolversParentTypes['PostEdge'],
> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['Post'], ParentType, ContextType>;
};

export type RoomConnectionResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['RoomConnection'] = ResolversParentTypes['RoomConnection'],
> = {
  edges?: Resolver<Array<ResolversTypes['RoomEdge']>, ParentType, ContextType>;
  nodes?: Resolver<Array<ResolversTypes['Room']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
};

export type RoomEdgeResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['RoomEdge'] = ResolversParentTypes['RoomEdge'],
> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
};

export type RoomMemberConnectionResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['RoomMemberConnection'] = ResolversParentTypes['RoomMemberConnection'],
> = {
  edges?: Resolver<Array<ResolversTypes['RoomMemberEdge']>, ParentType, ContextType>;
  nodes?: Resolver<Array<ResolversTypes['User']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
};

export type RoomMemberEdgeResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['RoomMemberEdge'] = ResolversParentTypes['RoomMemberEdge'],
> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
  joinedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export type PaginationResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['Pagination'] = ResolversParentTypes['Pagination'],
> = {
  page?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  limit?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  total?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  pages?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type UserPageResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['UserPage'] = ResolversParentTypes['UserPage'],
> = {
  data?: Resolver<Array<ResolversTypes['User']>, ParentType, ContextType>;
  pagination?: Resolver<ResolversTypes['Pagination'], ParentType, ContextType>;
};

export type PostPageResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['PostPage'] = ResolversParentTypes['PostPage'],
> = {
  data?: Resolver<Array<ResolversTypes['Post']>, ParentType, ContextType>;
  pagination?: Resolver<ResolversTypes['Pagination'], ParentType, ContextType>;
};

export type RoomPageResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['RoomPage'] = ResolversParentTypes['RoomPage'],
> = {
  data?: Resolver<Array<ResolversTypes['Room']>, ParentType, ContextType>;
  pagination?: Resolver<ResolversTypes['Pagination'], ParentType, ContextType>;
};

export type QueryResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query'],
> = {
  viewer?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  node?: Resolver<Maybe<ResolversTypes['Node']>, ParentType, ContextType, RequireFields<QueryNodeArgs, 'id'>>;
  user?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType, RequireFields<QueryUserArgs, 'id'>>;
  post?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType, RequireFields<QueryPostArgs, 'id'>>;
  room?: Resolver<Maybe<ResolversTypes['Room']>, ParentType, ContextType, RequireFields<QueryRoomArgs, 'id'>>;
  roomByName?: Resolver<
    Maybe<ResolversTypes['Room']>,
    ParentType,
    ContextType,
    RequireFields<QueryRoomByNameArgs, 'name'>
  >;
  users?: Resolver<
    ResolversTypes['UserPage'],
    ParentType,
    ContextType,
    RequireFields<QueryUsersArgs, 'page' | 'limit'>
  >;
  posts?: Resolver<
    ResolversTypes['PostPage'],
    ParentType,
    ContextType,
    RequireFields<QueryPostsArgs, 'page' | 'limit' | 'order'>
  >;
  rooms?: Resolver<
    ResolversTypes['RoomPage'],
    ParentType,
    ContextType,
    RequireFields<QueryRoomsArgs, 'page' | 'limit'>
  >;
  connections?: Resolver<
    ResolversTypes['ClientConnection'],
    ParentType,
    ContextType,
    RequireFields<QueryConnectionsArgs, 'first'>
  >;
  serverStatus?: Resolver<ResolversTypes['ServerStatus'], ParentType, ContextType>;
  load?: Resolver<ResolversTypes['Load'], ParentType, ContextType, RequireFields<QueryLoadArgs, 'order'>>;
  refusals?: Resolver<Array<ResolversTypes['Refusal']>, ParentType, ContextType, Partial<QueryRefusalsArgs>>;
};

export type ClientConnectionResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['ClientConnection'] = ResolversParentTypes['ClientConnection'],
> = {
  edges?: Resolver<Array<ResolversTypes['ClientEdge']>, ParentType, ContextType>;
  nodes?: Resolver<Array<ResolversTypes['Client']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
  total?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type ClientEdgeResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['ClientEdge'] = ResolversParentTypes['ClientEdge'],
> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['Client'], ParentType, ContextType>;
};

export type ClientResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['Client'] = ResolversParentTypes['Client'],
> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  viewer?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  address?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  transport?: Resolver<ResolversTypes['Transport'], ParentType, ContextType>;
  since?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  subscriptions?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  bytesWaiting?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  lagMs?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export type ServerStatusResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['ServerStatus'] = ResolversParentTypes['ServerStatus'],
> = {
  time?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  nodes?: Resolver<Array<ResolversTypes['NodeStatus']>, ParentType, ContextType>;
  database?: Resolver<ResolversTypes['DatabaseStatus'], ParentType, ContextType>;
  bus?: Resolver<ResolversTypes['BusStatus'], ParentType, ContextType>;
  mostFollowedRooms?: Resolver<Array<ResolversTypes['RoomFollowers']>, ParentType, ContextType>;
  errors?: Resolver<Array<ResolversTypes['ErrorCount']>, ParentType, ContextType>;
};

export type NodeStatusResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['NodeStatus'] = ResolversParentTypes['NodeStatus'],
> = {
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  version?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  nodeVersion?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  startedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  connections?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  subscriptions?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  roomsFollowed?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  operationsPerSecond?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  deliveriesPerSecond?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  failedOperationsPerSecond?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  lagMs?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  slowConsumers?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  queues?: Resolver<Array<ResolversTypes['QueueDepth']>, ParentType, ContextType>;
  memoryBytes?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  eventLoopLagMs?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export type QueueDepthResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['QueueDepth'] = ResolversParentTypes['QueueDepth'],
> = {
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  depth?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type DatabaseStatusResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['DatabaseStatus'] = ResolversParentTypes['DatabaseStatus'],
> = {
  kind?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  version?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  isUp?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
};

export type BusStatusResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['BusStatus'] = ResolversParentTypes['BusStatus'],
> = {
  kind?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  isUp?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
};

export type RoomFollowersResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['RoomFollowers'] = ResolversParentTypes['RoomFollowers'],
> = {
  room?: Resolver<Maybe<ResolversTypes['Room']>, ParentType, ContextType>;
  followers?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type ErrorCountResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['ErrorCount'] = ResolversParentTypes['ErrorCount'],
> = {
  code?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  lastAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
};

export type LoadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['Load'] = ResolversParentTypes['Load'],
> = {
  users?: Resolver<Array<ResolversTypes['UserLoad']>, ParentType, ContextType>;
  addresses?: Resolver<Array<ResolversTypes['AddressLoad']>, ParentType, ContextType>;
};

export type UserLoadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['UserLoad'] = ResolversParentTypes['UserLoad'],
> = {
  user?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  operations?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  deliveries?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  refusals?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type AddressLoadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['AddressLoad'] = ResolversParentTypes['AddressLoad'],
> = {
  address?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  operations?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  deliveries?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  refusals?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type RefusalResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['Refusal'] = ResolversParentTypes['Refusal'],
> = {
  time?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  requestId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  operation?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  code?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  reason?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  viewer?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  address?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type MutationResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation'],
> = {
  signUp?: Resolver<
    Maybe<ResolversTypes['SignUpPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationSignUpArgs, 'input'>
  >;
  signIn?: Resolver<
    Maybe<ResolversTypes['SignInPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationSignInArgs, 'input'>
  >;
  signInWithLink?: Resolver<
    Maybe<ResolversTypes['SignInWithLinkPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationSignInWithLinkArgs, 'input'>
  >;
  renewSession?: Resolver<Maybe<ResolversTypes['RenewSessionPayload']>, ParentType, ContextType>;
  changePassword?: Resolver<
    Maybe<ResolversTypes['ChangePasswordPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationChangePasswordArgs, 'input'>
  >;
  createApiKey?: Resolver<
    Maybe<ResolversTypes['CreateApiKeyPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationCreateApiKeyArgs, 'input'>
  >;
  revokeApiKey?: Resolver<
    Maybe<ResolversTypes['RevokeApiKeyPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationRevokeApiKeyArgs, 'input'>
  >;
  createInvitation?: Resolver<
    Maybe<ResolversTypes['CreateInvitationPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationCreateInvitationArgs, 'input'>
  >;
  revokeInvitation?: Resolver<
    Maybe<ResolversTypes['RevokeInvitationPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationRevokeInvitationArgs, 'input'>
  >;
  updateUser?: Resolver<
    Maybe<ResolversTypes['UpdateUserPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationUpdateUserArgs, 'input'>
  >;
  replaceUser?: Resolver<
    Maybe<ResolversTypes['ReplaceUserPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationReplaceUserArgs, 'input'>
  >;
  deleteUser?: Resolver<
    Maybe<ResolversTypes['DeleteUserPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationDeleteUserArgs, 'input'>
  >;
  createRoom?: Resolver<
    Maybe<ResolversTypes['CreateRoomPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationCreateRoomArgs, 'input'>
  >;
  updateRoom?: Resolver<
    Maybe<ResolversTypes['UpdateRoomPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationUpdateRoomArgs, 'input'>
  >;
  replaceRoom?: Resolver<
    Maybe<ResolversTypes['ReplaceRoomPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationReplaceRoomArgs, 'input'>
  >;
  deleteRoom?: Resolver<
    Maybe<ResolversTypes['DeleteRoomPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationDeleteRoomArgs, 'input'>
  >;
  joinRoom?: Resolver<
    Maybe<ResolversTypes['JoinRoomPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationJoinRoomArgs, 'input'>
  >;
  leaveRoom?: Resolver<
    Maybe<ResolversTypes['LeaveRoomPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationLeaveRoomArgs, 'input'>
  >;
  openDirectRoom?: Resolver<
    Maybe<ResolversTypes['OpenDirectRoomPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationOpenDirectRoomArgs, 'input'>
  >;
  addRoomMember?: Resolver<
    Maybe<ResolversTypes['AddRoomMemberPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationAddRoomMemberArgs, 'input'>
  >;
  removeRoomMember?: Resolver<
    Maybe<ResolversTypes['RemoveRoomMemberPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationRemoveRoomMemberArgs, 'input'>
  >;
  createPost?: Resolver<
    Maybe<ResolversTypes['CreatePostPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationCreatePostArgs, 'input'>
  >;
  updatePost?: Resolver<
    Maybe<ResolversTypes['UpdatePostPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationUpdatePostArgs, 'input'>
  >;
  replacePost?: Resolver<
    Maybe<ResolversTypes['ReplacePostPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationReplacePostArgs, 'input'>
  >;
  publishPost?: Resolver<
    Maybe<ResolversTypes['PublishPostPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationPublishPostArgs, 'input'>
  >;
  deletePost?: Resolver<
    Maybe<ResolversTypes['DeletePostPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationDeletePostArgs, 'input'>
  >;
  markRead?: Resolver<
    Maybe<ResolversTypes['MarkReadPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationMarkReadArgs, 'input'>
  >;
  endConnection?: Resolver<
    Maybe<ResolversTypes['EndConnectionPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationEndConnectionArgs, 'input'>
  >;
  muteUser?: Resolver<
    Maybe<ResolversTypes['MuteUserPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationMuteUserArgs, 'input'>
  >;
  setTyping?: Resolver<
    Maybe<ResolversTypes['SetTypingPayload']>,
    ParentType,
    ContextType,
    RequireFields<MutationSetTypingArgs, 'input'>
  >;
};

export type SignUpPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['SignUpPayload'] = ResolversParentTypes['SignUpPayload'],
> = {
  accessToken?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  expiresAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  user?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
};

export type SignInPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['SignInPayload'] = ResolversParentTypes['SignInPayload'],
> = {
  accessToken?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  expiresAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  user?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
};

export type SignInWithLinkPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['SignInWithLinkPayload'] = ResolversParentTypes['SignInWithLinkPayload'],
> = {
  accessToken?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  expiresAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  user?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
};

export type RenewSessionPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['RenewSessionPayload'] = ResolversParentTypes['RenewSessionPayload'],
> = {
  accessToken?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  expiresAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  user?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
};

export type ChangePasswordPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['ChangePasswordPayload'] = ResolversParentTypes['ChangePasswordPayload'],
> = {
  accessToken?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  expiresAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  user?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
};

export type CreateApiKeyPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['CreateApiKeyPayload'] = ResolversParentTypes['CreateApiKeyPayload'],
> = {
  key?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  apiKey?: Resolver<ResolversTypes['ApiKey'], ParentType, ContextType>;
};

export type RevokeApiKeyPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['RevokeApiKeyPayload'] = ResolversParentTypes['RevokeApiKeyPayload'],
> = {
  apiKey?: Resolver<ResolversTypes['ApiKey'], ParentType, ContextType>;
};

export type CreateInvitationPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['CreateInvitationPayload'] = ResolversParentTypes['CreateInvitationPayload'],
> = {
  code?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  invitation?: Resolver<ResolversTypes['Invitation'], ParentType, ContextType>;
};

export type RevokeInvitationPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['RevokeInvitationPayload'] = ResolversParentTypes['RevokeInvitationPayload'],
> = {
  invitation?: Resolver<ResolversTypes['Invitation'], ParentType, ContextType>;
};

export type OpenDirectRoomPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['OpenDirectRoomPayload'] = ResolversParentTypes['OpenDirectRoomPayload'],
> = {
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
};

export type AddRoomMemberPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['AddRoomMemberPayload'] = ResolversParentTypes['AddRoomMemberPayload'],
> = {
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
};

export type RemoveRoomMemberPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['RemoveRoomMemberPayload'] = ResolversParentTypes['RemoveRoomMemberPayload'],
> = {
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
};

export type UpdateUserPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['UpdateUserPayload'] = ResolversParentTypes['UpdateUserPayload'],
> = {
  user?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
};

export type ReplaceUserPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['ReplaceUserPayload'] = ResolversParentTypes['ReplaceUserPayload'],
> = {
  user?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
};

export type DeleteUserPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['DeleteUserPayload'] = ResolversParentTypes['DeleteUserPayload'],
> = {
  user?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
};

export type CreateRoomPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['CreateRoomPayload'] = ResolversParentTypes['CreateRoomPayload'],
> = {
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
};

export type UpdateRoomPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['UpdateRoomPayload'] = ResolversParentTypes['UpdateRoomPayload'],
> = {
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
};

export type ReplaceRoomPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['ReplaceRoomPayload'] = ResolversParentTypes['ReplaceRoomPayload'],
> = {
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
};

export type DeleteRoomPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['DeleteRoomPayload'] = ResolversParentTypes['DeleteRoomPayload'],
> = {
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
};

export type JoinRoomPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['JoinRoomPayload'] = ResolversParentTypes['JoinRoomPayload'],
> = {
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
};

export type LeaveRoomPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['LeaveRoomPayload'] = ResolversParentTypes['LeaveRoomPayload'],
> = {
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
};

export type CreatePostPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['CreatePostPayload'] = ResolversParentTypes['CreatePostPayload'],
> = {
  post?: Resolver<ResolversTypes['Post'], ParentType, ContextType>;
};

export type UpdatePostPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['UpdatePostPayload'] = ResolversParentTypes['UpdatePostPayload'],
> = {
  post?: Resolver<ResolversTypes['Post'], ParentType, ContextType>;
};

export type ReplacePostPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['ReplacePostPayload'] = ResolversParentTypes['ReplacePostPayload'],
> = {
  post?: Resolver<ResolversTypes['Post'], ParentType, ContextType>;
};

export type PublishPostPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['PublishPostPayload'] = ResolversParentTypes['PublishPostPayload'],
> = {
  post?: Resolver<ResolversTypes['Post'], ParentType, ContextType>;
};

export type DeletePostPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['DeletePostPayload'] = ResolversParentTypes['DeletePostPayload'],
> = {
  post?: Resolver<ResolversTypes['Post'], ParentType, ContextType>;
};

export type EndConnectionPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['EndConnectionPayload'] = ResolversParentTypes['EndConnectionPayload'],
> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
};

export type MarkReadPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['MarkReadPayload'] = ResolversParentTypes['MarkReadPayload'],
> = {
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
};

export type MuteUserPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['MuteUserPayload'] = ResolversParentTypes['MuteUserPayload'],
> = {
  user?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
  until?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
};

export type SetTypingPayloadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['SetTypingPayload'] = ResolversParentTypes['SetTypingPayload'],
> = {
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
};

export type SubscriptionResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['Subscription'] = ResolversParentTypes['Subscription'],
> = {
  roomEvents?: SubscriptionResolver<
    ResolversTypes['RoomEvent'],
    'roomEvents',
    ParentType,
    ContextType,
    RequireFields<SubscriptionRoomEventsArgs, 'room'>
  >;
  postAdded?: SubscriptionResolver<
    ResolversTypes['Post'],
    'postAdded',
    ParentType,
    ContextType,
    RequireFields<SubscriptionPostAddedArgs, 'room'>
  >;
  inbox?: SubscriptionResolver<
    ResolversTypes['RoomEvent'],
    'inbox',
    ParentType,
    ContextType,
    Partial<SubscriptionInboxArgs>
  >;
  roomPresence?: SubscriptionResolver<
    ResolversTypes['RoomPresence'],
    'roomPresence',
    ParentType,
    ContextType,
    RequireFields<SubscriptionRoomPresenceArgs, 'room' | 'visible'>
  >;
  serverStatusChanged?: SubscriptionResolver<
    ResolversTypes['ServerStatus'],
    'serverStatusChanged',
    ParentType,
    ContextType
  >;
};

export type RoomEventResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['RoomEvent'] = ResolversParentTypes['RoomEvent'],
> = {
  __resolveType: TypeResolveFn<
    | 'PostCreated'
    | 'PostUpdated'
    | 'PostDeleted'
    | 'MemberJoined'
    | 'MemberLeft'
    | 'RoomUpdated'
    | 'OtherEvent'
    | 'RoomRead'
    | 'RoomDeleted',
    ParentType,
    ContextType
  >;
};

export type PostCreatedResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['PostCreated'] = ResolversParentTypes['PostCreated'],
> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
  actor?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  post?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type PostUpdatedResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['PostUpdated'] = ResolversParentTypes['PostUpdated'],
> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
  actor?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  post?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type PostDeletedResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['PostDeleted'] = ResolversParentTypes['PostDeleted'],
> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
  actor?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  postId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type MemberJoinedResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['MemberJoined'] = ResolversParentTypes['MemberJoined'],
> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
  actor?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  user?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type MemberLeftResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['MemberLeft'] = ResolversParentTypes['MemberLeft'],
> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
  actor?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  user?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type RoomUpdatedResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['RoomUpdated'] = ResolversParentTypes['RoomUpdated'],
> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
  actor?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type OtherEventResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['OtherEvent'] = ResolversParentTypes['OtherEvent'],
> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
  actor?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type RoomReadResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['RoomRead'] = ResolversParentTypes['RoomRead'],
> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
  actor?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type RoomDeletedResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['RoomDeleted'] = ResolversParentTypes['RoomDeleted'],
> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  room?: Resolver<ResolversTypes['Room'], ParentType, ContextType>;
  actor?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type Resolvers<ContextType = Context> = {
  DateTime?: GraphQLScalarType;
  Node?: NodeResolvers<ContextType>;
  User?: UserResolvers<ContextType>;
  ApiKey?: ApiKeyResolvers<ContextType>;
  Invitation?: InvitationResolvers<ContextType>;
  Post?: PostResolvers<ContextType>;
  Room?: RoomResolvers<ContextType>;
  RoomPresence?: RoomPresenceResolvers<ContextType>;
  PageInfo?: PageInfoResolvers<ContextType>;
  PostConnection?: PostConnectionResolvers<ContextType>;
  PostEdge?: PostEdgeResolvers<ContextType>;
  RoomConnection?: RoomConnectionResolvers<ContextType>;
  RoomEdge?: RoomEdgeResolvers<ContextType>;
  RoomMemberConnection?: RoomMemberConnectionResolvers<ContextType>;
  RoomMemberEdge?: RoomMemberEdgeResolvers<ContextType>;
  Pagination?: PaginationResolvers<ContextType>;
  UserPage?: UserPageResolvers<ContextType>;
  PostPage?: PostPageResolvers<ContextType>;
  RoomPage?: RoomPageResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  ClientConnection?: ClientConnectionResolvers<ContextType>;
  ClientEdge?: ClientEdgeResolvers<ContextType>;
  Client?: ClientResolvers<ContextType>;
  ServerStatus?: ServerStatusResolvers<ContextType>;
  NodeStatus?: NodeStatusResolvers<ContextType>;
  QueueDepth?: QueueDepthResolvers<ContextType>;
  DatabaseStatus?: DatabaseStatusResolvers<ContextType>;
  BusStatus?: BusStatusResolvers<ContextType>;
  RoomFollowers?: RoomFollowersResolvers<ContextType>;
  ErrorCount?: ErrorCountResolvers<ContextType>;
  Load?: LoadResolvers<ContextType>;
  UserLoad?: UserLoadResolvers<ContextType>;
  AddressLoad?: AddressLoadResolvers<ContextType>;
  Refusal?: RefusalResolvers<ContextType>;
  Mutation?: MutationResolvers<ContextType>;
  SignUpPayload?: SignUpPayloadResolvers<ContextType>;
  SignInPayload?: SignInPayloadResolvers<ContextType>;
  SignInWithLinkPayload?: SignInWithLinkPayloadResolvers<ContextType>;
  RenewSessionPayload?: RenewSessionPayloadResolvers<ContextType>;
  ChangePasswordPayload?: ChangePasswordPayloadResolvers<ContextType>;
  CreateApiKeyPayload?: CreateApiKeyPayloadResolvers<ContextType>;
  RevokeApiKeyPayload?: RevokeApiKeyPayloadResolvers<ContextType>;
  CreateInvitationPayload?: CreateInvitationPayloadResolvers<ContextType>;
  RevokeInvitationPayload?: RevokeInvitationPayloadResolvers<ContextType>;
  OpenDirectRoomPayload?: OpenDirectRoomPayloadResolvers<ContextType>;
  AddRoomMemberPayload?: AddRoomMemberPayloadResolvers<ContextType>;
  RemoveRoomMemberPayload?: RemoveRoomMemberPayloadResolvers<ContextType>;
  UpdateUserPayload?: UpdateUserPayloadResolvers<ContextType>;
  ReplaceUserPayload?: ReplaceUserPayloadResolvers<ContextType>;
  DeleteUserPayload?: DeleteUserPayloadResolvers<ContextType>;
  CreateRoomPayload?: CreateRoomPayloadResolvers<ContextType>;
  UpdateRoomPayload?: UpdateRoomPayloadResolvers<ContextType>;
  ReplaceRoomPayload?: ReplaceRoomPayloadResolvers<ContextType>;
  DeleteRoomPayload?: DeleteRoomPayloadResolvers<ContextType>;
  JoinRoomPayload?: JoinRoomPayloadResolvers<ContextType>;
  LeaveRoomPayload?: LeaveRoomPayloadResolvers<ContextType>;
  CreatePostPayload?: CreatePostPayloadResolvers<ContextType>;
  UpdatePostPayload?: UpdatePostPayloadResolvers<ContextType>;
  ReplacePostPayload?: ReplacePostPayloadResolvers<ContextType>;
  PublishPostPayload?: PublishPostPayloadResolvers<ContextType>;
  DeletePostPayload?: DeletePostPayloadResolvers<ContextType>;
  EndConnectionPayload?: EndConnectionPayloadResolvers<ContextType>;
  MarkReadPayload?: MarkReadPayloadResolvers<ContextType>;
  MuteUserPayload?: MuteUserPayloadResolvers<ContextType>;
  SetTypingPayload?: SetTypingPayloadResolvers<ContextType>;
  Subscription?: SubscriptionResolvers<ContextType>;
  RoomEvent?: RoomEventResolvers<ContextType>;
  PostCreated?: PostCreatedResolvers<ContextType>;
  PostUpdated?: PostUpdatedResolvers<ContextType>;
  PostDeleted?: PostDeletedResolvers<ContextType>;
  MemberJoined?: MemberJoinedResolvers<ContextType>;
  MemberLeft?: MemberLeftResolvers<ContextType>;
  RoomUpdated?: RoomUpdatedResolvers<ContextType>;
  OtherEvent?: OtherEventResolvers<ContextType>;
  RoomRead?: RoomReadResolvers<ContextType>;
  RoomDeleted?: RoomDeletedResolvers<ContextType>;
};

export type DirectiveResolvers<ContextType = Context> = {
  cost?: CostDirectiveResolver<any, any, ContextType>;
  listSize?: ListSizeDirectiveResolver<any, any, ContextType>;
  sharedCost?: SharedCostDirectiveResolver<any, any, ContextType>;
  offsetCost?: OffsetCostDirectiveResolver<any, any, ContextType>;
  cacheControl?: CacheControlDirectiveResolver<any, any, ContextType>;
  idempotent?: IdempotentDirectiveResolver<any, any, ContextType>;
};
