import { sql } from 'kysely';
import { createId } from '../ids.ts';
import { countsRows } from './bounded-work.ts';
import type { Db, RowLock } from './database.ts';
import { timeOfAppended } from './events.ts';
import { createRangeReader, type KeyRange } from './key-ranges.ts';
import { executeInParts } from './list-statements.ts';
import {
  type ConnectionArguments,
  createConnection,
  createPages,
  encodeKey,
  type PageArguments,
  type RoomMemberConnection,
  type RoomPage,
} from './pages.ts';
import { createLockingStatement, createStatement } from './statement.ts';
import { isStorable, matches, toPattern } from './stored-text.ts';
import { publicUserColumns, type RoomRow, roomColumns } from './tables.ts';
import { isAccountKept, isRoomKept, isVisibleRoom, type VisibleRooms } from './visible-rooms.ts';

export interface RoomFilter {
  visibility?: RoomRow['visibility'] | null | undefined;
  name?: string | null | undefined;
  member?: string | null | undefined;
}

export interface NewRoom {
  /** The default is a new id. */
  id?: string | undefined;
  name: string;
  visibility?: RoomRow['visibility'];
  ownerId?: string | null;
}

/** An undefined property stays unchanged. */
export interface RoomChanges {
  name: string | undefined;
  visibility: RoomRow['visibility'] | undefined;
}

export function createRoomRow({
  id = createId('Room'),
  name,
  visibility = 'PUBLIC',
  ownerId = null,
}: NewRoom): RoomRow {
  const now = Date.now();
  return {
    id,
    name,
    visibility,
    ownerId,
    head: 0,
    headMark: 0,
    headAt: now,
    previousMark: 0,
    createdAt: now,
    updatedAt: now,
    version: 1,
  };
}

/** @throws UniqueViolation if the name is taken. */
export async function insertRoom(db: Db, row: RoomRow): Promise<RoomRow> {
  return db.insertInto('rooms').values(row).returning(roomColumns).executeTakeFirstOrThrow();
}

/** @throws UniqueViolation if a name is taken. */
export async function insertRooms(db: Db, rows: readonly RoomRow[]): Promise<void> {
  await executeInParts(db, rows, {
    build: (part) => db.insertInto('rooms').values([...part]),
    parametersOf: Object.values<unknown>,
  });
}

const selectRoom = createLockingStatement((db, { id }: { id: string }) =>
  db.selectFrom('rooms').select(roomColumns).where('id', '=', id).where('deletedAt', 'is', null),
);

export async function findRoom(db: Db, id: string, lock?: RowLock): Promise<RoomRow | undefined> {
  return (await selectRoom(db, { id }, lock))[0];
}

const selectRoomOfPost = createLockingStatement((db, { postId }: { postId: string }) =>
  db
    .selectFrom('rooms')
    .select(roomColumns)
    .where('id', '=', (eb) => eb.selectFrom('posts').select('roomId').where('posts.id', '=', postId))
    .where('deletedAt', 'is', null),
);

/** The room of a post, whose row need not have been read before. */
export async function findRoomOfPost(db: Db, postId: string, lock?: RowLock): Promise<RoomRow | undefined> {
  return (await selectRoomOfPost(db, { postId }, lock))[0];
}

/** The public room with this name, or else the oldest private room with this name that is visible to the viewer. */
export async function findRoomByName(db: Db, visibleRooms: VisibleRooms, name: string): Promise<RoomRow | undefined> {
  if (!isStorable(name)) return undefined;
  return db
    .selectFrom('rooms')
    .where(countsRows(db, 'rooms'))
    .select(roomColumns)
    .where('name', '=', name)
    .where(isVisibleRoom(db, visibleRooms, 'rooms.id'))
    .orderBy('visibility', 'desc')
    .orderBy('createdAt')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
}

/** The public rooms with these names. They are not deleted before the end of the transaction. */
export async function findRoomsByName(db: Db, names: readonly string[]): Promise<Pick<RoomRow, 'id' | 'name'>[]> {
  return executeInParts(db, names, {
    build: (part) =>
      db
        .selectFrom('rooms')
        .select(['id', 'name'])
        .where('name', 'in', part)
        .where(sql<boolean>`"visibility" = 'PUBLIC'`)
        .forKeyShare(),
    parametersOf: (name) => [name],
  });
}

interface RoomValues extends VisibleRooms, Omit<RoomFilter, 'name'> {
  name: string | false | null;
}

const roomPages = createPages('rooms', (rooms, values: RoomValues, db) => {
  const { visibility, name, member } = values;
  let query = rooms.select(roomColumns).where(isVisibleRoom(db, values, 'rooms.id'));
  if (visibility != null) query = query.where('visibility', '=', visibility);
  if (name != null) query = query.where(matches('name', name));
  if (member != null) {
    query = query.where('id', 'in', (eb) =>
      eb
        .selectFrom('roomMembers')
        .where(countsRows(db, 'roomMembers'))
        .select('roomId')
        .where('userId', '=', member)
        .where(isAccountKept('roomMembers.userId')),
    );
  }
  return query.orderBy('createdAt').orderBy('id');
});

export function findRoomPage(db: Db, visibleRooms: VisibleRooms, filter: RoomFilter, page: PageArguments): RoomPage {
  return roomPages(db, { ...visibleRooms, ...filter, name: toPattern(filter.name) }, page);
}

/** Changes a room that was read with an exclusive lock. @throws UniqueViolation if the name is taken. */
export async function updateRoom(db: Db, room: RoomRow, { name, visibility }: RoomChanges): Promise<RoomRow> {
  return db
    .updateTable('rooms')
    .set({
      ...(name !== undefined && { name }),
      ...(visibility !== undefined && { visibility }),
      updatedAt: Date.now(),
      version: room.version + 1,
    })
    .where('id', '=', room.id)
    .where('version', '=', room.version)
    .returning(roomColumns)
    .executeTakeFirstOrThrow();
}

/** Locks rooms in the order of their ids, so that two changes of several rooms never wait for each other. */
export async function lockRooms(db: Db, ids: readonly string[]): Promise<RoomRow[]> {
  const inOrder = [...new Set(ids)].sort();
  return executeInParts(db, inOrder, {
    build: (part) =>
      db
        .selectFrom('rooms')
        .select(roomColumns)
        .where('id', 'in', part)
        .where('deletedAt', 'is', null)
        .orderBy('id')
        .forNoKeyUpdate(),
    parametersOf: (id) => [id],
  });
}

/** Removes the owner of a room whose account is deleted. */
export async function clearRoomOwner(db: Db, room: RoomRow): Promise<void> {
  await db
    .updateTable('rooms')
    .set({ ownerId: null, updatedAt: Date.now(), version: room.version + 1 })
    .where('id', '=', room.id)
    .execute();
}

const insertMemberRow = createStatement((db, row: { roomId: string; userId: string; joinedAt: number }) =>
  db.insertInto('roomMembers').values(row),
);

const insertMemberWithTime = createStatement((db, { roomId, userId }: { roomId: string; userId: string }) =>
  db.insertInto('roomMembers').values({ roomId, userId, joinedAt: timeOfAppended(roomId) }),
);

export async function insertMember(db: Db, roomId: string, userId: string): Promise<void> {
  await insertMemberRow(db, { roomId, userId, joinedAt: Date.now() });
}

/**
 * Inserts a member with the time of the event that is being appended. @throws UniqueViolation if the user is a member
 * already.
 */
export async function insertJoinedMember(db: Db, roomId: string, userId: string): Promise<void> {
  await insertMemberWithTime(db, { roomId, userId });
}

const deleteMemberRow = createStatement((db, { roomId, userId }: { roomId: string; userId: string }) =>
  db.deleteFrom('roomMembers').where('roomId', '=', roomId).where('userId', '=', userId),
);

export async function deleteMember(db: Db, roomId: string, userId: string): Promise<void> {
  await deleteMemberRow(db, { roomId, userId });
}

const selectMember = createStatement((db, { roomId, userId }: { roomId: string; userId: string }) =>
  db.selectFrom('roomMembers').select('roomId').where('userId', '=', userId).where('roomId', '=', roomId),
);

export async function isMember(db: Db, roomId: string, userId: string): Promise<boolean> {
  return (await selectMember(db, { roomId, userId })).length > 0;
}

const selectMemberOfPostRoom = createStatement((db, { postId, userId }: { postId: string; userId: string }) =>
  db
    .selectFrom('roomMembers')
    .select('roomId')
    .where('userId', '=', userId)
    .where('roomId', '=', (eb) => eb.selectFrom('posts').select('posts.roomId').where('posts.id', '=', postId)),
);

/** Whether the user is a member of the room of a post, whose row need not have been read before. */
export async function isMemberOfPostRoom(db: Db, postId: string, userId: string): Promise<boolean> {
  return (await selectMemberOfPostRoom(db, { postId, userId })).length > 0;
}

/**
 * The users among `userIds` who may see the room. Undefined if every user may see it, or if it is deleted: its streams
 * then end for that reason.
 */
export async function findReaders(
  db: Db,
  roomId: string,
  userIds: readonly string[],
): Promise<Set<string> | undefined> {
  const room = await findRoom(db, roomId);
  return room?.visibility === 'PRIVATE' ? findMembersAmong(db, roomId, userIds) : undefined;
}

async function findMembersAmong(db: Db, roomId: string, userIds: readonly string[]): Promise<Set<string>> {
  const rows = await executeInParts(db, userIds, {
    // The room is a parameter once per user, so that each value has the same number of parameters.
    build: (part) =>
      db
        .selectFrom('roomMembers')
        .select('userId')
        .where((eb) => eb.or(part.map((userId) => eb.and([eb('roomId', '=', roomId), eb('userId', '=', userId)])))),
    parametersOf: (userId) => [roomId, userId],
  });
  return new Set(rows.map(({ userId }) => userId));
}

/** The rooms among `roomIds` of which the user is a member. */
export async function findMemberships(db: Db, userId: string, roomIds: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('roomMembers')
    .select('roomId')
    .where('userId', '=', userId)
    .where('roomId', 'in', roomIds)
    .execute();
  return new Set(rows.map(({ roomId }) => roomId));
}

const readMembers = createRangeReader(['joinedAt', 'userId'], (db, { roomId }: { roomId: string }) =>
  db
    .selectFrom('roomMembers')
    .innerJoin('users', 'users.id', 'roomMembers.userId')
    .where(countsRows(db, 'roomMembers'))
    .select([...publicUserColumns, 'joinedAt'])
    .where('roomId', '=', roomId)
    .where(isRoomKept('roomMembers.roomId'))
    .where('users.deletedAt', 'is', null),
);

export function findMembers(db: Db, roomId: string, args: ConnectionArguments): RoomMemberConnection {
  const read = async (range: KeyRange) => {
    const members = await readMembers(db, { roomId }, range);
    return members.map(({ joinedAt, ...node }) => ({ cursor: encodeKey([joinedAt, node.id]), node, joinedAt }));
  };
  return createConnection({ read }, args);
}
