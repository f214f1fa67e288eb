import type { Generated } from 'kysely';
import { fields, integer, oneOf, orNull, type Parsed, text } from '../common/parsers.ts';

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

/** The rows with these columns. A column has the parser of its values, for the rows that other processes send. */
type RowOf<Columns> = { [Name in keyof Columns]: Parsed<Columns[Name]> };

/** The columns of a user that every client may read, and the resolvers need. */
const publicUser = {
  id: text,
  name: text,
  role: oneOf('MEMBER', 'ADMIN'),
  createdAt: integer,
  updatedAt: integer,
  version: integer,
  deletedAt: orNull(integer),
};

/** Never sent to clients, except that owners and admins see the e-mail. */
const privateUser = {
  email: orNull(text),
  /** The e-mail without regard to case, for uniqueness. */
  emailKey: orNull(text),
  passwordHash: orNull(text),
  /**
   * The generation of the account's sessions: sessions of earlier generations are revoked. A generation is never compared
   * with a clock. For the user of an issuer, who has no sessions, it is a time in milliseconds
   * since 1970: tokens that the issuer issued earlier are revoked.
   */
  sessionsFrom: integer,
  /** Null: with any other value, earlier programs do not revoke this session. */
  keptSession: orNull(text),
  /**
   * The user's issuer and subject. For a deleted user, `oauthSubject` is a hash of both, so that earlier tokens stay
   * refused.
   */
  oauthIssuer: orNull(text),
  oauthSubject: orNull(text),
};

const user = { ...publicUser, ...privateUser };
export type UserRow = RowOf<typeof user>;

const room = {
  id: text,
  name: text,
  visibility: oneOf('PUBLIC', 'PRIVATE'),
  ownerId: orNull(text),
  /** The number of the room's latest event. */
  head: integer,
  /** The mark of the room's latest event; 0 before the first. */
  headMark: integer,
  /** The time of the room's latest event; before the first, that of the room's creation. */
  headAt: integer,
  /** The mark of the event before the latest; it equals the `previousMark` of the latest event. */
  previousMark: integer,
  createdAt: integer,
  updatedAt: integer,
  version: integer,
};
export type RoomRow = RowOf<typeof room>;

const post = {
  id: text,
  roomId: text,
  authorId: text,
  title: text,
  body: orNull(text),
  publishedAt: orNull(integer),
  createdAt: integer,
  updatedAt: integer,
  version: integer,
};
export type PostRow = RowOf<typeof post>;

/** The log of events, numbered by the `head` of their room. It has no content, so erased content is not replayed. */
const roomEvent = {
  roomId: text,
  seq: integer,
  /** Random, 31 bits, never 0. It distinguishes this event from an event that gets the same number after a rewind. */
  mark: integer,
  /** The mark of the previous event, 0 for the first event. It stays available after the previous event is trimmed. */
  previousMark: integer,
  /** See `roomEventTypes`. A newer program, or an extension, may have written others. */
  type: text,
  /** The id of the post, user or room that the event concerns. */
  subjectId: text,
  /** The subject's version after the change. */
  version: integer,
  actorId: orNull(text),
  at: integer,
};
export type RoomEventRow = RowOf<typeof roomEvent>;

/** What happens to a user is an event in the log of this user, numbered by its head. Triggers write the memberships. */
const userEvent = {
  userId: text,
  seq: integer,
  mark: integer,
  previousMark: integer,
  /** A newer program may have written others. */
  type: oneOf('MemberJoined', 'MemberLeft', 'RoomDeleted', 'RoomRead'),
  roomId: text,
  /** The position in the log of the room: of a membership that before its event, of a deletion the last one, otherwise 0. */
  roomSeq: integer,
  roomMark: integer,
  at: integer,
};
export type UserEventRow = RowOf<typeof userEvent>;

const apiKey = {
  id: text,
  name: text,
  prefix: text,
  /** SHA-256 of the key, in hex. The key is random enough that no slower hash is needed. */
  hash: text,
  /** READ, WRITE and ADMIN, separated by spaces. */
  scopes: text,
  /** The user that the application acts as. */
  userId: text,
  /** The user who created it; null for the operator. */
  ownerId: orNull(text),
  createdAt: integer,
  expiresAt: orNull(integer),
  lastUsedAt: orNull(integer),
  revokedAt: orNull(integer),
};
export type ApiKeyRow = RowOf<typeof apiKey>;

/** A code with which people create accounts, which join the room. */
const invitation = {
  id: text,
  roomId: text,
  /** SHA-256 of the code, in hex. */
  hash: text,
  /** The number of accounts that it may create, and that it has created. */
  uses: integer,
  used: integer,
  creatorId: text,
  createdAt: integer,
  expiresAt: integer,
};
export type InvitationRow = RowOf<typeof invitation>;

/** The rows of a deleted account that are being deleted. */
export type Erasure = 'ACCOUNT' | 'POSTS';
/** A user without private columns. The absent columns are part of the type, so that it refuses a whole `UserRow`. */
export type PublicUser = RowOf<typeof publicUser> & { [Column in keyof typeof privateUser]?: never };
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

export const parsePublicUser = fields<RowOf<typeof publicUser>>(publicUser);
export const parsePost = fields<PostRow>(post);
export const parseRoomEvent = fields<RoomEventRow>(roomEvent);

function namesOf<Row extends object>(row: Row): readonly (keyof Row & string)[] {
  return Object.keys(row) as (keyof Row & string)[];
}
