import type { Selectable } from 'kysely';

/*
 * Columns carry the names of the schema's fields, so that a row answers its scalar fields by itself.
 * Times are milliseconds since 1970, UTC.
 */

export interface Tables {
  users: UserTable;
  rooms: RoomTable;
  roomMembers: RoomMemberTable;
  posts: PostTable;
  roomEvents: RoomEventTable;
  apiKeys: ApiKeyTable;
  settings: SettingTable;
}

interface Versioned {
  id: string;
  createdAt: number;
  updatedAt: number;
  version: number;
}

interface UserTable extends Versioned {
  name: string;
  email: string | null;
  /** The e-mail without regard to case, for uniqueness. */
  emailKey: string | null;
  passwordHash: string | null;
  role: 'MEMBER' | 'ADMIN';
  /** Sessions that began under a lower value, and an issuer's tokens of before, have ended, but for the session `keptSession`. */
  sessionsFrom: number;
  keptSession: string | null;
  /** Whom an OAuth issuer knows them as; of one who is gone a hash of both, so that tokens of before stay refused. */
  oauthIssuer: string | null;
  oauthSubject: string | null;
  deletedAt: number | null;
}

interface RoomTable extends Versioned {
  name: string;
  visibility: 'PUBLIC' | 'PRIVATE';
  ownerId: string | null;
  /** The number of the room's latest event. */
  head: number;
  /** The mark of the room's latest event; 0 before the first. */
  headMark: number;
  /** The mark of the event before the latest: what the latest names as its `previousMark`. */
  previousMark: number;
}

interface RoomMemberTable {
  roomId: string;
  userId: string;
  joinedAt: number;
}

interface PostTable extends Versioned {
  roomId: string;
  authorId: string;
  title: string;
  body: string | null;
  publishedAt: number | null;
}

/** The log: what happened in a room, numbered from the room's own row. Holds no content, so that nothing erased can be replayed. */
interface RoomEventTable {
  roomId: string;
  seq: number;
  /** Random, 31 bits, never 0: it tells this event from another one that takes the same number after the database was rewound. */
  mark: number;
  /** The mark of the event numbered one less; 0 for the first. It stays known when that event is trimmed. */
  previousMark: number;
  type: RoomEventType;
  /** The post or user it is about; the room itself for RoomUpdated. */
  subjectId: string;
  /** The subject's version behind the change. */
  version: number;
  actorId: string | null;
  at: number;
}

interface ApiKeyTable {
  id: string;
  name: string;
  prefix: string;
  /** SHA-256 of the key, in hex; the key itself is random enough to need no slower one. */
  hash: string;
  /** READ, WRITE and ADMIN, separated by spaces. */
  scopes: string;
  /** The user that the application acts as. */
  userId: string;
  /** Who made it; null where the operator did. */
  ownerId: string | null;
  createdAt: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
  revokedAt: number | null;
}

interface SettingTable {
  name: string;
  value: string;
}

export const roomEventTypes = [
  'PostCreated',
  'PostUpdated',
  'PostDeleted',
  'MemberJoined',
  'MemberLeft',
  'RoomUpdated',
] as const;

export type RoomEventType = (typeof roomEventTypes)[number];

export type UserRow = Selectable<UserTable>;
export type RoomRow = Selectable<RoomTable>;
export type RoomMemberRow = Selectable<RoomMemberTable>;
export type PostRow = Selectable<PostTable>;
export type ApiKeyRow = Selectable<ApiKeyTable>;
export type RoomEventRow = Selectable<RoomEventTable>;

const eventColumns: readonly (keyof RoomEventRow)[] = ['at'];

/** Which columns answer a field of the schema as they are. */
export const columns = {
  User: ['id', 'name', 'role', 'createdAt', 'updatedAt', 'version'] satisfies (keyof UserRow)[],
  Room: ['id', 'name', 'visibility', 'createdAt', 'updatedAt', 'version'] satisfies (keyof RoomRow)[],
  Post: ['id', 'title', 'body', 'publishedAt', 'createdAt', 'updatedAt', 'version'] satisfies (keyof PostRow)[],
  ApiKey: ['id', 'name', 'prefix', 'createdAt', 'expiresAt', 'lastUsedAt'] satisfies (keyof ApiKeyRow)[],
  ...Object.fromEntries(roomEventTypes.map((type) => [type, eventColumns])),
};
