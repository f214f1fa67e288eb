import type { Generated } from 'kysely';

/*
 * Columns have the names of the schema's fields, so that scalar fields need no resolver.
 * Times are milliseconds since 1970, UTC.
 */

export interface Tables {
  users: UserRow & {
    /** Null except while the rows of a deleted account are being deleted: its drafts and memberships, or also its posts. */
    erasing: Generated<Erasure | null>;
  };
  rooms: RoomRow & {
    /** Null except while the rows of a deleted room are being deleted. Nothing else reads or changes such a room. */
    deletedAt: Generated<number | null>;
  };
  roomMembers: {
    roomId: string;
    userId: string;
    joinedAt: number;
    /**
     * The member has read the posts that were published up to this time. It is a time of the room's events, which always
     * increases. Null before the member has read anything: then `joinedAt` is this time.
     */
    readUpTo: Generated<number | null>;
  };
  directRooms: {
    /** The ids of its two users, in order, separated by a space. */
    pair: string;
    roomId: string;
  };
  posts: PostRow;
  roomEvents: RoomEventRow;
  apiKeys: ApiKeyRow;
  invitations: InvitationRow;
  signInAttempts: {
    /** A hash of the address or the account that the attempts belong to. */
    key: string;
    attempts: number;
    /** When the window ends. */
    endsAt: number;
  };
  /** Whether the user is a member does not matter. The row may remain after the time. */
  mutes: {
    roomId: string;
    userId: string;
    until: number;
  };
  /** A mutation that its client may repeat. */
  idempotencyKeys: {
    userId: string;
    /** Chosen by the client. */
    key: string;
    /** SHA-256 of the field's name and arguments, in hex. */
    hash: string;
    /** The id of the object that the mutation returned. */
    resultId: string;
    at: number;
  };
  /** A user who was a member of the room, and may be one again. */
  formerMembers: {
    userId: string;
    roomId: string;
  };
  /** The end of the log of a user; absent before the first event. It has the same columns as that of a room. */
  userLogs: Pick<RoomRow, 'head' | 'headMark' | 'previousMark'> & {
    userId: string;
  };
  userEvents: UserEventRow;
  settings: {
    name: string;
    value: string;
  };
}

/** Declares the type of a column. The values of these objects are never read, only their names. */
function column<T>(): T {
  return undefined as T;
}

/** The columns of a user that every client may read, and the resolvers need. */
const publicUser = {
  id: column<string>(),
  name: column<string>(),
  role: column<'MEMBER' | 'ADMIN'>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
  version: column<number>(),
  deletedAt: column<number | null>(),
};

/** Never sent to clients, except that owners and admins see the e-mail. */
const privateUser = {
  email: column<string | null>(),
  /** The e-mail without regard to case, for uniqueness. */
  emailKey: column<string | null>(),
  passwordHash: column<string | null>(),
  /**
   * The generation of the account's sessions: sessions of earlier generations are revoked. A generation is never compared
   * with a clock. For the user of an issuer, who has no sessions, it is a time in milliseconds
   * since 1970: tokens that the issuer issued earlier are revoked.
   */
  sessionsFrom: column<number>(),
  /** Null: with any other value, earlier programs do not revoke this session. */
  keptSession: column<string | null>(),
  /**
   * The user's issuer and subject. For a deleted user, `oauthSubject` is a hash of both, so that earlier tokens stay
   * refused.
   */
  oauthIssuer: column<string | null>(),
  oauthSubject: column<string | null>(),
};

const user = { ...publicUser, ...privateUser };
export type UserRow = typeof user;

const room = {
  id: column<string>(),
  name: column<string>(),
  visibility: column<'PUBLIC' | 'PRIVATE'>(),
  ownerId: column<string | null>(),
  /** The number of the room's latest event. */
  head: column<number>(),
  /** The mark of the room's latest event; 0 before the first. */
  headMark: column<number>(),
  /** The time of the room's latest event; before the first, that of the room's creation. */
  headAt: column<number>(),
  /** The mark of the event before the latest; it equals the `previousMark` of the latest event. */
  previousMark: column<number>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
  version: column<number>(),
};
export type RoomRow = typeof room;

const post = {
  id: column<string>(),
  roomId: column<string>(),
  authorId: column<string>(),
  title: column<string>(),
  body: column<string | null>(),
  publishedAt: column<number | null>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
  version: column<number>(),
};
export type PostRow = typeof post;

/** The log of events, numbered by the `head` of their room. It has no content, so erased content is not replayed. */
const roomEvent = {
  roomId: column<string>(),
  seq: column<number>(),
  /** Random, 31 bits, never 0. It distinguishes this event from an event that gets the same number after a rewind. */
  mark: column<number>(),
  /** The mark of the previous event, 0 for the first event. It stays available after the previous event is trimmed. */
  previousMark: column<number>(),
  /** See `roomEventTypes`. A newer program, or an extension, may have written others. */
  type: column<string>(),
  /** The id of the post, user or room that the event concerns. */
  subjectId: column<string>(),
  /** The subject's version after the change. */
  version: column<number>(),
  actorId: column<string | null>(),
  at: column<number>(),
};
export type RoomEventRow = typeof roomEvent;

/** What happens to a user is an event in the log of this user, numbered by its head. Triggers write the memberships. */
const userEvent = {
  userId: column<string>(),
  seq: column<number>(),
  mark: column<number>(),
  previousMark: column<number>(),
  /** A newer program may have written others. */
  type: column<'MemberJoined' | 'MemberLeft' | 'RoomDeleted' | 'RoomRead'>(),
  roomId: column<string>(),
  /** The position in the log of the room: of a membership that before its event, of a deletion the last one, otherwise 0. */
  roomSeq: column<number>(),
  roomMark: column<number>(),
  at: column<number>(),
};
export type UserEventRow = typeof userEvent;

const apiKey = {
  id: column<string>(),
  name: column<string>(),
  prefix: column<string>(),
  /** SHA-256 of the key, in hex. The key is random enough that no slower hash is needed. */
  hash: column<string>(),
  /** READ, WRITE and ADMIN, separated by spaces. */
  scopes: column<string>(),
  /** The user that the application acts as. */
  userId: column<string>(),
  /** The user who created it; null for the operator. */
  ownerId: column<string | null>(),
  createdAt: column<number>(),
  expiresAt: column<number | null>(),
  lastUsedAt: column<number | null>(),
  revokedAt: column<number | null>(),
};
export type ApiKeyRow = typeof apiKey;

/** A code with which people create accounts, which join the room. */
const invitation = {
  id: column<string>(),
  roomId: column<string>(),
  /** SHA-256 of the code, in hex. */
  hash: column<string>(),
  /** The number of accounts that it may create, and that it has created. */
  uses: column<number>(),
  used: column<number>(),
  creatorId: column<string>(),
  createdAt: column<number>(),
  expiresAt: column<number>(),
};
export type InvitationRow = typeof invitation;

/** The rows of a deleted account that are being deleted. */
export type Erasure = 'ACCOUNT' | 'POSTS';
/** A user without private columns. The absent columns are part of the type, so that it refuses a whole `UserRow`. */
export type PublicUser = typeof publicUser & { [Column in keyof typeof privateUser]?: never };
/** A post as its resolvers get it: the body is read only if the operation selects `Post.body`. */
export type PostWithoutBody = Omit<PostRow, 'body'> & Partial<Pick<PostRow, 'body'>>;

/**
 * Statements list their columns: a newer version of the program may add columns while this one runs, and PostgreSQL then
 * refuses a prepared statement whose result changes.
 */
export const publicUserColumns = namesOf(publicUser);
export const userColumns = namesOf(user);
export const roomColumns = namesOf(room);
export const postColumns = namesOf(post);
export const roomEventColumns = namesOf(roomEvent);
export const userEventColumns = namesOf(userEvent);
export const apiKeyColumns = namesOf(apiKey);
export const invitationColumns = namesOf(invitation);

function namesOf<Row extends object>(row: Row): readonly (keyof Row & string)[] {
  return Object.keys(row) as (keyof Row & string)[];
}
