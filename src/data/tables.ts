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
  deletedAt: number | null;
}

interface RoomTable extends Versioned {
  name: string;
  ownerId: string | null;
  /** The number of the room's latest event. */
  head: number;
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
  type: RoomEventType;
  /** The post or user it is about; the room itself for RoomUpdated. */
  subjectId: string;
  /** The subject's version behind the change. */
  version: number;
  actorId: string | null;
  at: number;
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
export type RoomEventRow = Selectable<RoomEventTable>;

const eventColumns: readonly (keyof RoomEventRow)[] = ['at'];

/** Which columns answer a field of the schema as they are. */
export const columns = {
  User: ['id', 'name', 'createdAt', 'updatedAt', 'version'] satisfies (keyof UserRow)[],
  Room: ['id', 'name', 'createdAt', 'updatedAt', 'version'] satisfies (keyof RoomRow)[],
  Post: ['id', 'title', 'body', 'publishedAt', 'createdAt', 'updatedAt', 'version'] satisfies (keyof PostRow)[],
  ...Object.fromEntries(roomEventTypes.map((type) => [type, eventColumns])),
};
