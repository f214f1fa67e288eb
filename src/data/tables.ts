import type { Generated, Selectable } from 'kysely';
import { inboxEventTypes, type RoomEventType, roomEventTypes } from './room-event-types.ts';

/*
 * Columns have the names of the schema's fields, so that scalar fields need no resolver.
 * Times are milliseconds since 1970, UTC.
 */

export interface Tables {
  users: UserTable;
  rooms: RoomTable;
  roomMembers: RoomMemberTable;
  posts: PostTable;
  roomEvents: RoomEventTable;
  apiKeys: ApiKeyTable;
  invitations: InvitationTable;
  signInAttempts: SignInAttemptTable;
  mutes: MuteTable;
  idempotencyKeys: IdempotencyKeyTable;
  formerMembers: FormerMemberTable;
  membershipVersions: MembershipVersionTable;
  settings: SettingTable;
}

interface Versioned {
  id: string;
  createdAt: number;
  updatedAt: number;
  version: number;
}

/** The columns of a user that every client may read, and the resolvers need. */
interface PublicUserTable extends Versioned {
  name: string;
  role: 'MEMBER' | 'ADMIN';
  deletedAt: number | null;
}

/** Never sent to clients, except that owners and admins see the e-mail. */
interface PrivateUserTable {
  email: string | null;
  /** The e-mail without regard to case, for uniqueness. */
  emailKey: string | null;
  passwordHash: string | null;
  /**
   * The generation of the account's sessions: sessions of earlier generations are revoked. A generation is never compared
   * with a clock. For the user of an issuer, who has no sessions, it is a time in milliseconds
   * since 1970: tokens that the issuer issued earlier are revoked.
   */
  sessionsFrom: number;
  /** Null: with any other value, earlier programs do not revoke this session. */
  keptSession: string | null;
  /**
   * The user's issuer and subject. For a deleted user, `oauthSubject` is a hash of both, so that earlier tokens stay
   * refused.
   */
  oauthIssuer: string | null;
  oauthSubject: string | null;
}

interface UserTable extends PublicUserTable, PrivateUserTable {
  /** Null except while the rows of a deleted account are being deleted: its drafts and memberships, or also its posts. */
  erasing: Generated<Erasure | null>;
}

interface RoomTable extends Versioned {
  name: string;
  visibility: 'PUBLIC' | 'PRIVATE';
  ownerId: string | null;
  /** The number of the room's latest event. */
  head: number;
  /** The mark of the room's latest event; 0 before the first. */
  headMark: number;
  /** The time of the room's latest event; before the first, that of the room's creation. */
  headAt: number;
  /** The mark of the event before the latest; it equals the `previousMark` of the latest event. */
  previousMark: number;
  /** Null except while the rows of a deleted room are being deleted. Nothing else reads or changes such a room. */
  deletedAt: Generated<number | null>;
}

interface RoomMemberTable {
  roomId: string;
  userId: string;
  joinedAt: number;
  /**
   * The member has read the posts that were published up to this time. It is a time of the room's events, which always
   * increases. Null before the member has read anything: then `joinedAt` is this time.
   */
  readUpTo: Generated<number | null>;
}

/** A user who was a member of the room, and may be one again. */
interface FormerMemberTable {
  userId: string;
  roomId: string;
}

/** The number of the user's memberships that have begun or ended; absent before the first. */
interface MembershipVersionTable {
  userId: string;
  version: number;
}

interface PostTable extends Versioned {
  roomId: string;
  authorId: string;
  title: string;
  body: string | null;
  publishedAt: number | null;
}

/**
 * The log of events, numbered by the `head` of their room. It has no content, so that erased content cannot be
 * replayed.
 */
interface RoomEventTable {
  roomId: string;
  seq: number;
  /** Random, 31 bits, never 0. It distinguishes this event from an event that gets the same number after a rewind. */
  mark: number;
  /** The mark of the previous event, 0 for the first event. It stays available after the previous event is trimmed. */
  previousMark: number;
  type: RoomEventType;
  /** The id of the post, user or room that the event concerns. */
  subjectId: string;
  /** The subject's version after the change. */
  version: number;
  actorId: string | null;
  at: number;
}

interface ApiKeyTable {
  id: string;
  name: string;
  prefix: string;
  /** SHA-256 of the key, in hex. The key is random enough that no slower hash is needed. */
  hash: string;
  /** READ, WRITE and ADMIN, separated by spaces. */
  scopes: string;
  /** The user that the application acts as. */
  userId: string;
  /** The user who created it; null for the operator. */
  ownerId: string | null;
  createdAt: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
  revokedAt: number | null;
}

/** A code with which people create accounts, which join the room. */
interface InvitationTable {
  id: string;
  roomId: string;
  /** SHA-256 of the code, in hex. */
  hash: string;
  /** The number of accounts that it may create, and that it has created. */
  uses: number;
  used: number;
  creatorId: string;
  createdAt: number;
  expiresAt: number;
}

interface SignInAttemptTable {
  /** A hash of the address or the account that the attempts belong to. */
  key: string;
  attempts: number;
  /** When the window ends. */
  endsAt: number;
}

/** Whether the user is a member does not matter. The row may remain after the time. */
interface MuteTable {
  roomId: string;
  userId: string;
  until: number;
}

/** A mutation that its client may repeat. */
interface IdempotencyKeyTable {
  userId: string;
  /** Chosen by the client. */
  key: string;
  /** SHA-256 of the field's name and arguments, in hex. */
  hash: string;
  /** The id of the object that the mutation returned. */
  resultId: string;
  at: number;
}

interface SettingTable {
  name: string;
  value: string;
}

export type UserRow = Omit<Selectable<UserTable>, 'erasing'>;
/** The rows of a deleted account that are being deleted. */
export type Erasure = 'ACCOUNT' | 'POSTS';
/** A user without private columns. The absent columns are part of the type, so that it refuses a whole `UserRow`. */
export type PublicUser = Selectable<PublicUserTable> & { [Column in keyof PrivateUserTable]?: never };
export type RoomRow = Omit<Selectable<RoomTable>, 'deletedAt'>;
export type PostRow = Selectable<PostTable>;
/** A post as its resolvers get it: the body is read only if the operation selects `Post.body`. */
export type PostWithoutBody = Omit<PostRow, 'body'>;
export type ApiKeyRow = Selectable<ApiKeyTable>;
export type InvitationRow = Selectable<InvitationTable>;
export type RoomEventRow = Selectable<RoomEventTable>;

export const publicUserColumns = [
  'id',
  'name',
  'role',
  'createdAt',
  'updatedAt',
  'version',
  'deletedAt',
] as const satisfies readonly (keyof PublicUserTable)[];

/*
 * Statements list their columns: a newer version of the program may add columns while this one runs, and PostgreSQL then
 * refuses a prepared statement whose result changes.
 */

export const userColumns = allColumns<UserRow>()([
  ...publicUserColumns,
  'email',
  'emailKey',
  'passwordHash',
  'sessionsFrom',
  'keptSession',
  'oauthIssuer',
  'oauthSubject',
]);

export const roomColumns = allColumns<RoomRow>()([
  'id',
  'name',
  'visibility',
  'ownerId',
  'head',
  'headMark',
  'headAt',
  'previousMark',
  'createdAt',
  'updatedAt',
  'version',
]);

export const postColumns = allColumns<PostRow>()([
  'id',
  'roomId',
  'authorId',
  'title',
  'body',
  'publishedAt',
  'createdAt',
  'updatedAt',
  'version',
]);

export const roomEventColumns = allColumns<RoomEventRow>()([
  'roomId',
  'seq',
  'mark',
  'previousMark',
  'type',
  'subjectId',
  'version',
  'actorId',
  'at',
]);

export const apiKeyColumns = allColumns<ApiKeyRow>()([
  'id',
  'name',
  'prefix',
  'hash',
  'scopes',
  'userId',
  'ownerId',
  'createdAt',
  'expiresAt',
  'lastUsedAt',
  'revokedAt',
]);

export const invitationColumns = allColumns<InvitationRow>()([
  'id',
  'roomId',
  'hash',
  'uses',
  'used',
  'creatorId',
  'createdAt',
  'expiresAt',
]);

/** A list of columns that the compiler refuses if one is missing. */
function allColumns<Row>() {
  return <const Columns extends readonly (keyof Row)[]>(
    columns: [keyof Row] extends [Columns[number]] ? Columns : never,
  ): Columns => columns;
}

const eventColumns: readonly (keyof RoomEventRow)[] = ['at'];

/** The columns that are fields of the schema without a resolver. */
export const columns = {
  User: ['id', 'name', 'role', 'createdAt', 'updatedAt', 'version'] satisfies (keyof PublicUser)[],
  Room: ['id', 'name', 'visibility', 'createdAt', 'updatedAt', 'version'] satisfies (keyof RoomRow)[],
  Post: ['id', 'title', 'body', 'publishedAt', 'createdAt', 'updatedAt', 'version'] satisfies (keyof PostRow)[],
  ApiKey: ['id', 'name', 'prefix', 'createdAt', 'expiresAt', 'lastUsedAt'] satisfies (keyof ApiKeyRow)[],
  Invitation: ['id', 'uses', 'used', 'createdAt', 'expiresAt'] satisfies (keyof InvitationRow)[],
  ...Object.fromEntries([...Object.keys(roomEventTypes), ...inboxEventTypes].map((type) => [type, eventColumns])),
};
