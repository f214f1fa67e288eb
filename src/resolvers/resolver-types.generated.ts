// Made from schema.graphql by `npm run generate`: change that, not this.
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { UserRow, ApiKeyRow, PostRow, RoomRow } from '../data/tables.ts';
import type {
  Pagination as PaginationModel,
  UserPage as UserPageModel,
  PostPage as PostPageModel,
  RoomPage as RoomPageModel,
  PageInfo as PageInfoModel,
  PostConnection as PostConnectionModel,
  PostEdge as PostEdgeModel,
  RoomMemberConnection as RoomMemberConnectionModel,
  RoomMemberEdge as RoomMemberEdgeModel,
} from '../data/pages.ts';
import type { RoomEvent as RoomEventModel } from '../data/events.ts';
import type { Context } from '../engine/context.ts';
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
  /** A moment in UTC, ISO 8601 with milliseconds: `2026-11-20T08:30:00.000Z`. Input may carry any offset; it is kept to the millisecond. */
  DateTime: { input: number; output: number };
};

/** Whose an answer is. */
export type CacheControlScope =
  /** The same for everyone. */
  | 'PUBLIC'
  /** The viewer's alone: never kept. */
  | 'PRIVATE';

/** What a user may do in all of Postroom. */
export type Role =
  /** What everyone may: change what is theirs. */
  | 'MEMBER'
  /** Besides, see every e-mail and every room, own every room, and delete any post or account. */
  | 'ADMIN';

/** Who sees a room. */
export type RoomVisibility =
  /** Everyone; whoever is signed in may post. */
  | 'PUBLIC'
  /** Its members alone; for anyone else it does not exist. */
  | 'PRIVATE';

/** What a member may do in a room. */
export type RoomRole =
  /** Change the room and its members. */
  | 'OWNER'
  /** Read and post. */
  | 'MEMBER';

/** What credentials may be used for. */
export type Scope =
  /** Queries and subscriptions. */
  | 'READ'
  /** Mutations. */
  | 'WRITE'
  /** What the role ADMIN allows, for one who has it. */
  | 'ADMIN';

/** Anything with an id of its own. */
export type Node = {
  /** Opaque, unique over all types, time-ordered, assigned by the server. */
  id: Scalars['ID']['output'];
};

/** A person who signed up, or a name that came with imported history. */
export type User = Node & {
  /** Opaque and time-ordered. */
  id: Scalars['ID']['output'];
  /** The display name, 1 to 80 characters; not unique. `deleted user` once the account is gone. */
  name: Scalars['String']['output'];
  /** The address one signs in with; shown to its owner and to admins. */
  email?: Maybe<Scalars['String']['output']>;
  /** What the user may do. */
  role: Role;
  /** When the user was made. */
  createdAt: Scalars['DateTime']['output'];
  /** When the user last changed. */
  updatedAt: Scalars['DateTime']['output'];
  /** Starts at 1 and grows by 1 with each change; give it as `expectedVersion` to change only what you have seen. */
  version: Scalars['Int']['output'];
  /** The last `last` (1 to 100) published posts, newest last. */
  posts: Array<Post>;
  /** The posts not yet published, oldest first; empty unless the user is the viewer. */
  drafts: PostPage;
  /** The keys one made that are not revoked, oldest first; empty unless the user is the viewer. */
  apiKeys: Array<ApiKey>;
};

/** A person who signed up, or a name that came with imported history. */
export type UserPostsArgs = {
  last?: InputMaybe<Scalars['Int']['input']>;
};

/** A person who signed up, or a name that came with imported history. */
export type UserDraftsArgs = {
  page?: InputMaybe<Scalars['Int']['input']>;
  limit?: InputMaybe<Scalars['Int']['input']>;
};

/** A key by which an application acts. The key itself is shown once, when it is made. */
export type ApiKey = {
  /** Opaque and time-ordered. */
  id: Scalars['ID']['output'];
  /** What the application is called. */
  name: Scalars['String']['output'];
  /** How the key begins, to tell it from others. */
  prefix: Scalars['String']['output'];
  /** What it may be used for. */
  scopes: Array<Scope>;
  /** The user that the application acts as. */
  user: User;
  /** When it was made. */
  createdAt: Scalars['DateTime']['output'];
  /** When it ends; null for never. */
  expiresAt?: Maybe<Scalars['DateTime']['output']>;
  /** When it was last used, to the minute or so. */
  lastUsedAt?: Maybe<Scalars['DateTime']['output']>;
};

/** A message in a room; a draft until it is published, and until then seen by its author alone. */
export type Post = Node & {
  /** Opaque and time-ordered. */
  id: Scalars['ID']['output'];
  /** 1 to 200 characters. */
  title: Scalars['String']['output'];
  /** Up to 20,000 characters. */
  body?: Maybe<Scalars['String']['output']>;
  /** Who wrote it. */
  author: User;
  /** Where it stands. */
  room: Room;
  /** When it was published; null for a draft. */
  publishedAt?: Maybe<Scalars['DateTime']['output']>;
  /** When it was made. */
  createdAt: Scalars['DateTime']['output'];
  /** When it last changed. */
  updatedAt: Scalars['DateTime']['output'];
  /** Starts at 1 and grows by 1 with each change. */
  version: Scalars['Int']['output'];
};

/** A place for posts, with live events. */
export type Room = Node & {
  /** Opaque and time-ordered. */
  id: Scalars['ID']['output'];
  /** 1 to 80 characters; unique among public rooms, and among an owner's private ones. */
  name: Scalars['String']['output'];
  /** Who sees it. */
  visibility: RoomVisibility;
  /** What the viewer is in this room; null for one who is no member. */
  viewerRole?: Maybe<RoomRole>;
  /** When the room was made. */
  createdAt: Scalars['DateTime']['output'];
  /** When the room last changed. */
  updatedAt: Scalars['DateTime']['output'];
  /** Starts at 1 and grows by 1 with each change of the room itself. */
  version: Scalars['Int']['output'];
  /** Who made it; null once that account is gone, and for imported rooms. */
  owner?: Maybe<User>;
  /**
   * The room's live position. All else of the room that the same operation reads is at least as new: read the room,
   * then subscribe with `after: cursor`, and nothing falls between the two.
   */
  cursor: Scalars['String']['output'];
  /** Who joined, in the order of joining. Neither `first` nor `last` means the first 20. */
  members: RoomMemberConnection;
  /** The published posts, newest last. Neither `first` nor `last` means the first 20. */
  posts: PostConnection;
};

/** A place for posts, with live events. */
export type RoomMembersArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
};

/** A place for posts, with live events. */
export type RoomPostsArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
};

/** Where a connection's page stands (Relay). */
export type PageInfo = {
  /** Whether edges stand before this page, whichever way one pages. */
  hasPreviousPage: Scalars['Boolean']['output'];
  /** Whether edges stand behind this page, whichever way one pages. */
  hasNextPage: Scalars['Boolean']['output'];
  /** The first edge's cursor; null on an empty page. */
  startCursor?: Maybe<Scalars['String']['output']>;
  /** The last edge's cursor; null on an empty page. */
  endCursor?: Maybe<Scalars['String']['output']>;
};

/** A page of a room's posts (Relay). */
export type PostConnection = {
  /** The posts with their places. */
  edges: Array<PostEdge>;
  /** The posts alone. */
  nodes: Array<Post>;
  /** Where the page stands. */
  pageInfo: PageInfo;
};

/** A post and its place. */
export type PostEdge = {
  /** The place, for `after` and `before`; not a position of the live feed. */
  cursor: Scalars['String']['output'];
  /** The post. */
  node: Post;
};

/** A page of a room's members (Relay). */
export type RoomMemberConnection = {
  /** The members with their places. */
  edges: Array<RoomMemberEdge>;
  /** The members alone. */
  nodes: Array<User>;
  /** Where the page stands. */
  pageInfo: PageInfo;
};

/** A member and their place. */
export type RoomMemberEdge = {
  /** The place, for `after` and `before`. */
  cursor: Scalars['String']['output'];
  /** The member. */
  node: User;
  /** When they joined. */
  joinedAt: Scalars['DateTime']['output'];
};

/** Where a page stands among all pages. */
export type Pagination = {
  /** This page, from 1. */
  page: Scalars['Int']['output'];
  /** Items a page. */
  limit: Scalars['Int']['output'];
  /** All items; counted only when selected. The count is the expensive part of a page, and is shared with `pages`. */
  total: Scalars['Int']['output'];
  /** All pages, 0 where `total` is 0; counted only when selected. The count is shared with `total`. */
  pages: Scalars['Int']['output'];
};

/** A page of users, in the order they were made. */
export type UserPage = {
  /** The users of this page. */
  data: Array<User>;
  /** Where it stands. */
  pagination: Pagination;
};

/** A page of posts. */
export type PostPage = {
  /** The posts of this page. */
  data: Array<Post>;
  /** Where it stands. */
  pagination: Pagination;
};

/** A page of rooms, in the order they were made. */
export type RoomPage = {
  /** The rooms of this page. */
  data: Array<Room>;
  /** Where it stands. */
  pagination: Pagination;
};

/** Which users; all that is given must hold. */
export type UserFilter = {
  /** Part of the name; A to Z match a to z. It is looked for in every name that the other filters leave. */
  name?: InputMaybe<Scalars['String']['input']>;
  /** Made after this moment. */
  createdAfter?: InputMaybe<Scalars['DateTime']['input']>;
  /** Made before this moment. */
  createdBefore?: InputMaybe<Scalars['DateTime']['input']>;
};

/** Which posts; all that is given must hold. */
export type PostFilter = {
  /** In this room. */
  room?: InputMaybe<Scalars['ID']['input']>;
  /** By this user. */
  author?: InputMaybe<Scalars['ID']['input']>;
  /** Part of the title; A to Z match a to z. It is looked for in every title that the other filters leave. */
  title?: InputMaybe<Scalars['String']['input']>;
  /** Published after this moment. */
  publishedAfter?: InputMaybe<Scalars['DateTime']['input']>;
  /** Published before this moment. */
  publishedBefore?: InputMaybe<Scalars['DateTime']['input']>;
};

/** Which rooms; all that is given must hold. */
export type RoomFilter = {
  /** Part of the name; A to Z match a to z. It is looked for in every name that the other filters leave. */
  name?: InputMaybe<Scalars['String']['input']>;
  /** With this user among the members. */
  member?: InputMaybe<Scalars['ID']['input']>;
  /** Public or private. */
  visibility?: InputMaybe<RoomVisibility>;
};

/** Everything that can be read. A single thing is null where there is none, or none that the viewer may see. */
export type Query = {
  /** Who is asking; null without credentials. */
  viewer?: Maybe<User>;
  /** Anything by its id. */
  node?: Maybe<Node>;
  /** A user by id. */
  user?: Maybe<User>;
  /** A post by id; a draft only for its author. */
  post?: Maybe<Post>;
  /** A room by id. */
  room?: Maybe<Room>;
  /** A room by its exact name: the public one, else a private one that the viewer sees. */
  roomByName?: Maybe<Room>;
  /** Users, oldest first. */
  users: UserPage;
  /** Published posts, newest last. */
  posts: PostPage;
  /** Rooms, oldest first. */
  rooms: RoomPage;
};

/** Everything that can be read. A single thing is null where there is none, or none that the viewer may see. */
export type QueryNodeArgs = {
  id: Scalars['ID']['input'];
};

/** Everything that can be read. A single thing is null where there is none, or none that the viewer may see. */
export type QueryUserArgs = {
  id: Scalars['ID']['input'];
};

/** Everything that can be read. A single thing is null where there is none, or none that the viewer may see. */
export type QueryPostArgs = {
  id: Scalars['ID']['input'];
};

/** Everything that can be read. A single thing is null where there is none, or none that the viewer may see. */
export type QueryRoomArgs = {
  id: Scalars['ID']['input'];
};

/** Everything that can be read. A single thing is null where there is none, or none that the viewer may see. */
export type QueryRoomByNameArgs = {
  name: Scalars['String']['input'];
};

/** Everything that can be read. A single thing is null where there is none, or none that the viewer may see. */
export type QueryUsersArgs = {
  page?: InputMaybe<Scalars['Int']['input']>;
  limit?: InputMaybe<Scalars['Int']['input']>;
  filter?: InputMaybe<UserFilter>;
};

/** Everything that can be read. A single thing is null where there is none, or none that the viewer may see. */
export type QueryPostsArgs = {
  page?: InputMaybe<Scalars['Int']['input']>;
  limit?: InputMaybe<Scalars['Int']['input']>;
  filter?: InputMaybe<PostFilter>;
};

/** Everything that can be read. A single thing is null where there is none, or none that the viewer may see. */
export type QueryRoomsArgs = {
  page?: InputMaybe<Scalars['Int']['input']>;
  limit?: InputMaybe<Scalars['Int']['input']>;
  filter?: InputMaybe<RoomFilter>;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type Mutation = {
  /** Makes an account and signs in. */
  signUp: SignUpPayload;
  /** Signs in with e-mail and password. */
  signIn: SignInPayload;
  /** A fresh access token for one that still lives. */
  renewSession: RenewSessionPayload;
  /** Sets a new password and ends all other sessions. */
  changePassword: ChangePasswordPayload;
  /** Makes a key for an application, which acts as a user of its own. The key is shown this once. Keys make no keys. */
  createApiKey: CreateApiKeyPayload;
  /** Ends a key, and every stream of its application. */
  revokeApiKey: RevokeApiKeyPayload;
  /** Changes some of one's own account. */
  updateUser: UpdateUserPayload;
  /** Sets all of one's own account. */
  replaceUser: ReplaceUserPayload;
  /** Erases one's own account: name, e-mail and credentials. The posts stay unless `deletePosts`. */
  deleteUser: DeleteUserPayload;
  /** Makes a room; its owner is its first member. */
  createRoom: CreateRoomPayload;
  /** Changes some of one's own room. */
  updateRoom: UpdateRoomPayload;
  /** Sets all of one's own room. */
  replaceRoom: ReplaceRoomPayload;
  /** Deletes one's own room with its posts and ends its streams. */
  deleteRoom: DeleteRoomPayload;
  /** Joins a room; joining twice changes nothing. */
  joinRoom: JoinRoomPayload;
  /** Leaves a room; leaving twice changes nothing. The owner cannot leave. */
  leaveRoom: LeaveRoomPayload;
  /** Makes someone a member of one's own room; twice changes nothing. */
  addRoomMember: AddRoomMemberPayload;
  /** Takes someone out of one's own room; twice changes nothing. The owner cannot be taken out. */
  removeRoomMember: RemoveRoomMemberPayload;
  /** Writes a post, as a draft where `publish` is false. */
  createPost: CreatePostPayload;
  /** Changes some of one's own post. */
  updatePost: UpdatePostPayload;
  /** Sets all of one's own post. */
  replacePost: ReplacePostPayload;
  /** Publishes one's own draft; publishing twice changes nothing. */
  publishPost: PublishPostPayload;
  /** Deletes one's own post. */
  deletePost: DeletePostPayload;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationSignUpArgs = {
  input: SignUpInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationSignInArgs = {
  input: SignInInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationChangePasswordArgs = {
  input: ChangePasswordInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationCreateApiKeyArgs = {
  input: CreateApiKeyInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationRevokeApiKeyArgs = {
  input: RevokeApiKeyInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationUpdateUserArgs = {
  input: UpdateUserInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationReplaceUserArgs = {
  input: ReplaceUserInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationDeleteUserArgs = {
  input: DeleteUserInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationCreateRoomArgs = {
  input: CreateRoomInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationUpdateRoomArgs = {
  input: UpdateRoomInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationReplaceRoomArgs = {
  input: ReplaceRoomInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationDeleteRoomArgs = {
  input: DeleteRoomInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationJoinRoomArgs = {
  input: JoinRoomInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationLeaveRoomArgs = {
  input: LeaveRoomInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationAddRoomMemberArgs = {
  input: AddRoomMemberInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationRemoveRoomMemberArgs = {
  input: RemoveRoomMemberInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationCreatePostArgs = {
  input: CreatePostInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationUpdatePostArgs = {
  input: UpdatePostInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationReplacePostArgs = {
  input: ReplacePostInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationPublishPostArgs = {
  input: PublishPostInput;
};

/**
 * Everything that can be changed. `update…` changes only the fields given; `replace…` sets every writable field, an absent
 * nullable one to null. Both refuse with CONFLICT where `expectedVersion` is given and is not the present one.
 */
export type MutationDeletePostArgs = {
  input: DeletePostInput;
};

/** What an account starts with. */
export type SignUpInput = {
  /** 1 to 80 characters, no control characters. */
  name: Scalars['String']['input'];
  /** Unique without regard to case. */
  email: Scalars['String']['input'];
  /** 8 to 200 characters. */
  password: Scalars['String']['input'];
};

/** What one signs in with. */
export type SignInInput = {
  /** Without regard to case. */
  email: Scalars['String']['input'];
  /** The password. */
  password: Scalars['String']['input'];
};

/** The password to change. */
export type ChangePasswordInput = {
  /** The password until now. */
  currentPassword: Scalars['String']['input'];
  /** 8 to 200 characters. */
  newPassword: Scalars['String']['input'];
};

/** What a key is made with. */
export type CreateApiKeyInput = {
  /** What the application is called: 1 to 80 characters, no control characters. */
  name: Scalars['String']['input'];
  /** At least one; ADMIN only by an admin. */
  scopes: Array<Scope>;
  /** When it ends, later than now; absent for never. */
  expiresAt?: InputMaybe<Scalars['DateTime']['input']>;
};

/** The key to end. */
export type RevokeApiKeyInput = {
  /** The key's id. */
  id: Scalars['ID']['input'];
};

/** Who becomes a member, and where. */
export type AddRoomMemberInput = {
  /** The room. */
  room: Scalars['ID']['input'];
  /** The user. */
  user: Scalars['ID']['input'];
};

/** Who is taken out, and where. */
export type RemoveRoomMemberInput = {
  /** The room. */
  room: Scalars['ID']['input'];
  /** The user. */
  user: Scalars['ID']['input'];
};

/** The fields of an account to change. */
export type UpdateUserInput = {
  /** The account. */
  id: Scalars['ID']['input'];
  /** 1 to 80 characters, no control characters. */
  name?: InputMaybe<Scalars['String']['input']>;
  /** Unique without regard to case; null only for an account without a password. */
  email?: InputMaybe<Scalars['String']['input']>;
  /** Refuse unless this is the present version. */
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
};

/** All writable fields of an account. */
export type ReplaceUserInput = {
  /** The account. */
  id: Scalars['ID']['input'];
  /** 1 to 80 characters, no control characters. */
  name: Scalars['String']['input'];
  /** Unique without regard to case; null only for an account without a password. */
  email?: InputMaybe<Scalars['String']['input']>;
  /** Refuse unless this is the present version. */
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
};

/** The account to erase. */
export type DeleteUserInput = {
  /** The account. */
  id: Scalars['ID']['input'];
  /** Delete its published posts too; drafts go in any case. */
  deletePosts?: InputMaybe<Scalars['Boolean']['input']>;
};

/** What a room starts with. */
export type CreateRoomInput = {
  /** Unique, 1 to 80 characters, no control characters. */
  name: Scalars['String']['input'];
  /** Who sees it. */
  visibility?: InputMaybe<RoomVisibility>;
};

/** The fields of a room to change. */
export type UpdateRoomInput = {
  /** The room. */
  id: Scalars['ID']['input'];
  /** Unique, 1 to 80 characters, no control characters. */
  name?: InputMaybe<Scalars['String']['input']>;
  /** Who sees it. */
  visibility?: InputMaybe<RoomVisibility>;
  /** Refuse unless this is the present version. */
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
};

/** All writable fields of a room. */
export type ReplaceRoomInput = {
  /** The room. */
  id: Scalars['ID']['input'];
  /** Unique, 1 to 80 characters, no control characters. */
  name: Scalars['String']['input'];
  /** Who sees it. */
  visibility: RoomVisibility;
  /** Refuse unless this is the present version. */
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
};

/** The room to delete. */
export type DeleteRoomInput = {
  /** The room. */
  id: Scalars['ID']['input'];
  /** Refuse unless this is the present version. */
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
};

/** The room to join. */
export type JoinRoomInput = {
  /** The room. */
  room: Scalars['ID']['input'];
};

/** The room to leave. */
export type LeaveRoomInput = {
  /** The room. */
  room: Scalars['ID']['input'];
};

/** What a post starts with. */
export type CreatePostInput = {
  /** Where it stands. */
  room: Scalars['ID']['input'];
  /** 1 to 200 characters, no control characters. */
  title: Scalars['String']['input'];
  /** Up to 20,000 characters. */
  body?: InputMaybe<Scalars['String']['input']>;
  /** False keeps it a draft. */
  publish?: InputMaybe<Scalars['Boolean']['input']>;
};

/** The fields of a post to change. */
export type UpdatePostInput = {
  /** The post. */
  id: Scalars['ID']['input'];
  /** 1 to 200 characters, no control characters. */
  title?: InputMaybe<Scalars['String']['input']>;
  /** Up to 20,000 characters; null clears it. */
  body?: InputMaybe<Scalars['String']['input']>;
  /** Refuse unless this is the present version. */
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
};

/** All writable fields of a post. */
export type ReplacePostInput = {
  /** The post. */
  id: Scalars['ID']['input'];
  /** 1 to 200 characters, no control characters. */
  title: Scalars['String']['input'];
  /** Up to 20,000 characters; absent clears it. */
  body?: InputMaybe<Scalars['String']['input']>;
  /** Refuse unless this is the present version. */
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
};

/** The draft to publish. */
export type PublishPostInput = {
  /** The post. */
  id: Scalars['ID']['input'];
};

/** The post to delete. */
export type DeletePostInput = {
  /** The post. */
  id: Scalars['ID']['input'];
  /** Refuse unless this is the present version. */
  expectedVersion?: InputMaybe<Scalars['Int']['input']>;
};

/** A new account, signed in. */
export type SignUpPayload = {
  /** For `Authorization: Bearer …`. */
  accessToken: Scalars['String']['output'];
  /** When the token ends. */
  expiresAt: Scalars['DateTime']['output'];
  /** The account. */
  user: User;
};

/** Signed in. */
export type SignInPayload = {
  /** For `Authorization: Bearer …`. */
  accessToken: Scalars['String']['output'];
  /** When the token ends. */
  expiresAt: Scalars['DateTime']['output'];
  /** The account. */
  user: User;
};

/** A renewed session. */
export type RenewSessionPayload = {
  /** For `Authorization: Bearer …`. */
  accessToken: Scalars['String']['output'];
  /** When the token ends. */
  expiresAt: Scalars['DateTime']['output'];
  /** The account. */
  user: User;
};

/** The session that goes on. */
export type ChangePasswordPayload = {
  /** For `Authorization: Bearer …`. */
  accessToken: Scalars['String']['output'];
  /** When the token ends. */
  expiresAt: Scalars['DateTime']['output'];
  /** The account. */
  user: User;
};

/** The new key. */
export type CreateApiKeyPayload = {
  /** For `Authorization: ApiKey …`; shown this once. */
  key: Scalars['String']['output'];
  /** What is kept of it. */
  apiKey: ApiKey;
};

/** The ended key. */
export type RevokeApiKeyPayload = {
  /** As it was. */
  apiKey: ApiKey;
};

/** The room with its new member. */
export type AddRoomMemberPayload = {
  /** As it is now. */
  room: Room;
};

/** The room without the member. */
export type RemoveRoomMemberPayload = {
  /** As it is now. */
  room: Room;
};

/** The changed account. */
export type UpdateUserPayload = {
  /** As it is now. */
  user: User;
};

/** The changed account. */
export type ReplaceUserPayload = {
  /** As it is now. */
  user: User;
};

/** The erased account. */
export type DeleteUserPayload = {
  /** As it was. */
  user: User;
};

/** The new room. */
export type CreateRoomPayload = {
  /** As it is now. */
  room: Room;
};

/** The changed room. */
export type UpdateRoomPayload = {
  /** As it is now. */
  room: Room;
};

/** The changed room. */
export type ReplaceRoomPayload = {
  /** As it is now. */
  room: Room;
};

/** The deleted room. */
export type DeleteRoomPayload = {
  /** As it was; its connections are empty. */
  room: Room;
};

/** The joined room. */
export type JoinRoomPayload = {
  /** As it is now. */
  room: Room;
};

/** The room left. */
export type LeaveRoomPayload = {
  /** As it is now. */
  room: Room;
};

/** The new post. */
export type CreatePostPayload = {
  /** As it was written. */
  post: Post;
};

/** The changed post. */
export type UpdatePostPayload = {
  /** As it was written. */
  post: Post;
};

/** The changed post. */
export type ReplacePostPayload = {
  /** As it was written. */
  post: Post;
};

/** The published post. */
export type PublishPostPayload = {
  /** As it was written. */
  post: Post;
};

/** The deleted post. */
export type DeletePostPayload = {
  /** As it was. */
  post: Post;
};

/**
 * Live streams. Each sees every event of its room, once, in order. A stream that cannot go on without a hole ends with an
 * error that says so: CURSOR_INVALID, CURSOR_EXPIRED, SLOW_CONSUMER, ROOM_DELETED.
 */
export type Subscription = {
  /** Every event of a room, from now on or behind `after`. */
  roomEvents: RoomEvent;
  /** Every post as it is published in a room, from now on or behind `after`; replay leaves out what was deleted since. */
  postAdded: Post;
};

/**
 * Live streams. Each sees every event of its room, once, in order. A stream that cannot go on without a hole ends with an
 * error that says so: CURSOR_INVALID, CURSOR_EXPIRED, SLOW_CONSUMER, ROOM_DELETED.
 */
export type SubscriptionRoomEventsArgs = {
  room: Scalars['ID']['input'];
  after?: InputMaybe<Scalars['String']['input']>;
};

/**
 * Live streams. Each sees every event of its room, once, in order. A stream that cannot go on without a hole ends with an
 * error that says so: CURSOR_INVALID, CURSOR_EXPIRED, SLOW_CONSUMER, ROOM_DELETED.
 */
export type SubscriptionPostAddedArgs = {
  room: Scalars['ID']['input'];
  after?: InputMaybe<Scalars['String']['input']>;
};

/** Something that happened in a room. */
export type RoomEvent = {
  /** The position behind this event, for `after`. */
  cursor: Scalars['String']['output'];
  /** When it happened. */
  at: Scalars['DateTime']['output'];
  /** Where it happened. */
  room: Room;
  /** Who did it; null once that account is gone. */
  actor?: Maybe<User>;
};

/** A post was published. */
export type PostCreated = RoomEvent & {
  /** The position behind this event, for `after`. */
  cursor: Scalars['String']['output'];
  /** When it happened. */
  at: Scalars['DateTime']['output'];
  /** Where it happened. */
  room: Room;
  /** Who did it; null once that account is gone. */
  actor?: Maybe<User>;
  /** As it was written; in a replay as it is now, null where it was deleted since. */
  post?: Maybe<Post>;
};

/** A published post changed. */
export type PostUpdated = RoomEvent & {
  /** The position behind this event, for `after`. */
  cursor: Scalars['String']['output'];
  /** When it happened. */
  at: Scalars['DateTime']['output'];
  /** Where it happened. */
  room: Room;
  /** Who did it; null once that account is gone. */
  actor?: Maybe<User>;
  /** As it was written; in a replay as it is now, null where it was deleted since. */
  post?: Maybe<Post>;
};

/** A published post was deleted. */
export type PostDeleted = RoomEvent & {
  /** The position behind this event, for `after`. */
  cursor: Scalars['String']['output'];
  /** When it happened. */
  at: Scalars['DateTime']['output'];
  /** Where it happened. */
  room: Room;
  /** Who did it; null once that account is gone. */
  actor?: Maybe<User>;
  /** The id it had. */
  postId: Scalars['ID']['output'];
};

/** Someone joined the room. */
export type MemberJoined = RoomEvent & {
  /** The position behind this event, for `after`. */
  cursor: Scalars['String']['output'];
  /** When it happened. */
  at: Scalars['DateTime']['output'];
  /** Where it happened. */
  room: Room;
  /** Who did it; null once that account is gone. */
  actor?: Maybe<User>;
  /** Who joined; null once that account is gone. */
  user?: Maybe<User>;
};

/** Someone left the room. */
export type MemberLeft = RoomEvent & {
  /** The position behind this event, for `after`. */
  cursor: Scalars['String']['output'];
  /** When it happened. */
  at: Scalars['DateTime']['output'];
  /** Where it happened. */
  room: Room;
  /** Who did it; null once that account is gone. */
  actor?: Maybe<User>;
  /** Who left; null once that account is gone. */
  user?: Maybe<User>;
};

/** The room itself changed. */
export type RoomUpdated = RoomEvent & {
  /** The position behind this event, for `after`. */
  cursor: Scalars['String']['output'];
  /** When it happened. */
  at: Scalars['DateTime']['output'];
  /** Where it happened. */
  room: Room;
  /** Who did it; null once that account is gone. */
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
  Node: UserRow | PostRow | RoomRow;
  RoomEvent: RoomEventModel | RoomEventModel | RoomEventModel | RoomEventModel | RoomEventModel | RoomEventModel;
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
  User: ResolverTypeWrapper<UserRow>;
  ApiKey: ResolverTypeWrapper<ApiKeyRow>;
  Post: ResolverTypeWrapper<PostRow>;
  Room: ResolverTypeWrapper<RoomRow>;
  PageInfo: ResolverTypeWrapper<PageInfoModel>;
  PostConnection: ResolverTypeWrapper<PostConnectionModel>;
  PostEdge: ResolverTypeWrapper<PostEdgeModel>;
  RoomMemberConnection: ResolverTypeWrapper<RoomMemberConnectionModel>;
  RoomMemberEdge: ResolverTypeWrapper<RoomMemberEdgeModel>;
  Pagination: ResolverTypeWrapper<PaginationModel>;
  UserPage: ResolverTypeWrapper<UserPageModel>;
  PostPage: ResolverTypeWrapper<PostPageModel>;
  RoomPage: ResolverTypeWrapper<RoomPageModel>;
  UserFilter: UserFilter;
  PostFilter: PostFilter;
  RoomFilter: RoomFilter;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  SignUpInput: SignUpInput;
  SignInInput: SignInInput;
  ChangePasswordInput: ChangePasswordInput;
  CreateApiKeyInput: CreateApiKeyInput;
  RevokeApiKeyInput: RevokeApiKeyInput;
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
  SignUpPayload: ResolverTypeWrapper<Omit<SignUpPayload, 'user'> & { user: ResolversTypes['User'] }>;
  SignInPayload: ResolverTypeWrapper<Omit<SignInPayload, 'user'> & { user: ResolversTypes['User'] }>;
  RenewSessionPayload: ResolverTypeWrapper<Omit<RenewSessionPayload, 'user'> & { user: ResolversTypes['User'] }>;
  ChangePasswordPayload: ResolverTypeWrapper<Omit<ChangePasswordPayload, 'user'> & { user: ResolversTypes['User'] }>;
  CreateApiKeyPayload: ResolverTypeWrapper<Omit<CreateApiKeyPayload, 'apiKey'> & { apiKey: ResolversTypes['ApiKey'] }>;
  RevokeApiKeyPayload: ResolverTypeWrapper<Omit<RevokeApiKeyPayload, 'apiKey'> & { apiKey: ResolversTypes['ApiKey'] }>;
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
  Subscription: ResolverTypeWrapper<Record<PropertyKey, never>>;
  RoomEvent: ResolverTypeWrapper<RoomEventModel>;
  PostCreated: ResolverTypeWrapper<RoomEventModel>;
  PostUpdated: ResolverTypeWrapper<RoomEventModel>;
  PostDeleted: ResolverTypeWrapper<RoomEventModel>;
  MemberJoined: ResolverTypeWrapper<RoomEventModel>;
  MemberLeft: ResolverTypeWrapper<RoomEventModel>;
  RoomUpdated: ResolverTypeWrapper<RoomEventModel>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  DateTime: Scalars['DateTime']['output'];
  Node: ResolversInterfaceTypes<ResolversParentTypes>['Node'];
  ID: Scalars['ID']['output'];
  User: UserRow;
  ApiKey: ApiKeyRow;
  Post: PostRow;
  Room: RoomRow;
  PageInfo: PageInfoModel;
  PostConnection: PostConnectionModel;
  PostEdge: PostEdgeModel;
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
  Mutation: Record<PropertyKey, never>;
  SignUpInput: SignUpInput;
  SignInInput: SignInInput;
  ChangePasswordInput: ChangePasswordInput;
  CreateApiKeyInput: CreateApiKeyInput;
  RevokeApiKeyInput: RevokeApiKeyInput;
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
  SignUpPayload: Omit<SignUpPayload, 'user'> & { user: ResolversParentTypes['User'] };
  SignInPayload: Omit<SignInPayload, 'user'> & { user: ResolversParentTypes['User'] };
  RenewSessionPayload: Omit<RenewSessionPayload, 'user'> & { user: ResolversParentTypes['User'] };
  ChangePasswordPayload: Omit<ChangePasswordPayload, 'user'> & { user: ResolversParentTypes['User'] };
  CreateApiKeyPayload: Omit<CreateApiKeyPayload, 'apiKey'> & { apiKey: ResolversParentTypes['ApiKey'] };
  RevokeApiKeyPayload: Omit<RevokeApiKeyPayload, 'apiKey'> & { apiKey: ResolversParentTypes['ApiKey'] };
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
  Subscription: Record<PropertyKey, never>;
  RoomEvent: RoomEventModel;
  PostCreated: RoomEventModel;
  PostUpdated: RoomEventModel;
  PostDeleted: RoomEventModel;
  MemberJoined: RoomEventModel;
  MemberLeft: RoomEventModel;
  RoomUpdated: RoomEventModel;
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
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  updatedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  version?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  owner?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  members?: Resolver<ResolversTypes['RoomMemberConnection'], ParentType, ContextType, Partial<RoomMembersArgs>>;
  posts?: Resolver<ResolversTypes['PostConnection'], ParentType, ContextType, Partial<RoomPostsArgs>>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
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
    RequireFields<QueryPostsArgs, 'page' | 'limit'>
  >;
  rooms?: Resolver<
    ResolversTypes['RoomPage'],
    ParentType,
    ContextType,
    RequireFields<QueryRoomsArgs, 'page' | 'limit'>
  >;
};

export type MutationResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation'],
> = {
  signUp?: Resolver<
    ResolversTypes['SignUpPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationSignUpArgs, 'input'>
  >;
  signIn?: Resolver<
    ResolversTypes['SignInPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationSignInArgs, 'input'>
  >;
  renewSession?: Resolver<ResolversTypes['RenewSessionPayload'], ParentType, ContextType>;
  changePassword?: Resolver<
    ResolversTypes['ChangePasswordPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationChangePasswordArgs, 'input'>
  >;
  createApiKey?: Resolver<
    ResolversTypes['CreateApiKeyPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationCreateApiKeyArgs, 'input'>
  >;
  revokeApiKey?: Resolver<
    ResolversTypes['RevokeApiKeyPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationRevokeApiKeyArgs, 'input'>
  >;
  updateUser?: Resolver<
    ResolversTypes['UpdateUserPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationUpdateUserArgs, 'input'>
  >;
  replaceUser?: Resolver<
    ResolversTypes['ReplaceUserPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationReplaceUserArgs, 'input'>
  >;
  deleteUser?: Resolver<
    ResolversTypes['DeleteUserPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationDeleteUserArgs, 'input'>
  >;
  createRoom?: Resolver<
    ResolversTypes['CreateRoomPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationCreateRoomArgs, 'input'>
  >;
  updateRoom?: Resolver<
    ResolversTypes['UpdateRoomPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationUpdateRoomArgs, 'input'>
  >;
  replaceRoom?: Resolver<
    ResolversTypes['ReplaceRoomPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationReplaceRoomArgs, 'input'>
  >;
  deleteRoom?: Resolver<
    ResolversTypes['DeleteRoomPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationDeleteRoomArgs, 'input'>
  >;
  joinRoom?: Resolver<
    ResolversTypes['JoinRoomPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationJoinRoomArgs, 'input'>
  >;
  leaveRoom?: Resolver<
    ResolversTypes['LeaveRoomPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationLeaveRoomArgs, 'input'>
  >;
  addRoomMember?: Resolver<
    ResolversTypes['AddRoomMemberPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationAddRoomMemberArgs, 'input'>
  >;
  removeRoomMember?: Resolver<
    ResolversTypes['RemoveRoomMemberPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationRemoveRoomMemberArgs, 'input'>
  >;
  createPost?: Resolver<
    ResolversTypes['CreatePostPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationCreatePostArgs, 'input'>
  >;
  updatePost?: Resolver<
    ResolversTypes['UpdatePostPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationUpdatePostArgs, 'input'>
  >;
  replacePost?: Resolver<
    ResolversTypes['ReplacePostPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationReplacePostArgs, 'input'>
  >;
  publishPost?: Resolver<
    ResolversTypes['PublishPostPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationPublishPostArgs, 'input'>
  >;
  deletePost?: Resolver<
    ResolversTypes['DeletePostPayload'],
    ParentType,
    ContextType,
    RequireFields<MutationDeletePostArgs, 'input'>
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
};

export type RoomEventResolvers<
  ContextType = Context,
  ParentType extends ResolversParentTypes['RoomEvent'] = ResolversParentTypes['RoomEvent'],
> = {
  __resolveType: TypeResolveFn<
    'PostCreated' | 'PostUpdated' | 'PostDeleted' | 'MemberJoined' | 'MemberLeft' | 'RoomUpdated',
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

export type Resolvers<ContextType = Context> = {
  DateTime?: GraphQLScalarType;
  Node?: NodeResolvers<ContextType>;
  User?: UserResolvers<ContextType>;
  ApiKey?: ApiKeyResolvers<ContextType>;
  Post?: PostResolvers<ContextType>;
  Room?: RoomResolvers<ContextType>;
  PageInfo?: PageInfoResolvers<ContextType>;
  PostConnection?: PostConnectionResolvers<ContextType>;
  PostEdge?: PostEdgeResolvers<ContextType>;
  RoomMemberConnection?: RoomMemberConnectionResolvers<ContextType>;
  RoomMemberEdge?: RoomMemberEdgeResolvers<ContextType>;
  Pagination?: PaginationResolvers<ContextType>;
  UserPage?: UserPageResolvers<ContextType>;
  PostPage?: PostPageResolvers<ContextType>;
  RoomPage?: RoomPageResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  Mutation?: MutationResolvers<ContextType>;
  SignUpPayload?: SignUpPayloadResolvers<ContextType>;
  SignInPayload?: SignInPayloadResolvers<ContextType>;
  RenewSessionPayload?: RenewSessionPayloadResolvers<ContextType>;
  ChangePasswordPayload?: ChangePasswordPayloadResolvers<ContextType>;
  CreateApiKeyPayload?: CreateApiKeyPayloadResolvers<ContextType>;
  RevokeApiKeyPayload?: RevokeApiKeyPayloadResolvers<ContextType>;
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
  Subscription?: SubscriptionResolvers<ContextType>;
  RoomEvent?: RoomEventResolvers<ContextType>;
  PostCreated?: PostCreatedResolvers<ContextType>;
  PostUpdated?: PostUpdatedResolvers<ContextType>;
  PostDeleted?: PostDeletedResolvers<ContextType>;
  MemberJoined?: MemberJoinedResolvers<ContextType>;
  MemberLeft?: MemberLeftResolvers<ContextType>;
  RoomUpdated?: RoomUpdatedResolvers<ContextType>;
};

export type DirectiveResolvers<ContextType = Context> = {
  cost?: CostDirectiveResolver<any, any, ContextType>;
  listSize?: ListSizeDirectiveResolver<any, any, ContextType>;
  sharedCost?: SharedCostDirectiveResolver<any, any, ContextType>;
  offsetCost?: OffsetCostDirectiveResolver<any, any, ContextType>;
  cacheControl?: CacheControlDirectiveResolver<any, any, ContextType>;
};
