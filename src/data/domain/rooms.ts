import { sql } from 'kysely';
import { createId } from '../../common/ids.ts';
import type { Db } from '../database/database.ts';
import { executeInParts } from '../sql/list-statements.ts';
import { dialectOf } from '../sql/sql-dialect.ts';
import { createFinder, createStatement } from '../sql/statement.ts';
import { type RoomRow, roomColumns } from '../tables.ts';
import type { UserAndRooms } from './read-positions.ts';

/** The default of the id is a new one. */
export type NewRoom = Pick<RoomRow, 'name'> & RoomChanges & { id?: string | undefined };

/** An undefined property stays unchanged. */
export type RoomChanges = { [Column in 'name' | 'visibility' | 'ownerId']?: RoomRow[Column] | undefined };

export function createRoomRow({
  id = createId('Room'),
  name,
  visibility = 'PUBLIC',
  ownerId = null,
}: NewRoom): RoomRow {
  const now = Date.now();
  const log = { head: 0, headMark: 0, headAt: now, previousMark: 0 };
  return { id, name, visibility, ownerId, ...log, createdAt: now, updatedAt: now, version: 1 };
}

/** @throws UniqueViolation if the name is taken. */
export async function insertRoom(db: Db, row: RoomRow): Promise<RoomRow> {
  return db.insertInto('rooms').values(row).returning(roomColumns).executeTakeFirstOrThrow();
}

export const findRoom = createFinder((db, { id }) =>
  db.selectFrom('rooms').select(roomColumns).where('id', '=', id).where('deletedAt', 'is', null),
);

/** The direct room of a pair of users. */
export const findDirectRoom = createFinder((db, { id: pair }) =>
  db
    .selectFrom('rooms')
    .select(roomColumns)
    .where('id', '=', (eb) => eb.selectFrom('directRooms').select('roomId').where('pair', '=', pair))
    .where('deletedAt', 'is', null),
);

const selectDirectRooms = createStatement((db, { roomIds }: { roomIds: string }) =>
  db.selectFrom('directRooms').selectAll().where(dialectOf(db).isListed('directRooms.roomId', roomIds)),
);

/** The id of the other user of each of the rooms that is a direct room of the user. */
export async function findDirectUsers(db: Db, { userId, roomIds }: UserAndRooms) {
  const rows = await selectDirectRooms(db, { roomIds });
  return rows.flatMap(({ roomId, pair }) => {
    const [other, stranger] = pair.split(' ').filter((id) => id !== userId);
    return other && !stranger ? [{ roomId, value: other }] : [];
  });
}

/** @throws UniqueViolation if the two users have one. A room that is being deleted is replaced. */
export async function insertDirectRoom(db: Db, pair: string, room: RoomRow): Promise<RoomRow> {
  const deleted = db.selectFrom('rooms').select('id').where('deletedAt', 'is not', null);
  const [inserted] = await Promise.all([
    insertRoom(db, room),
    db.deleteFrom('directRooms').where('pair', '=', pair).where('roomId', 'in', deleted).execute(),
  ]);
  await db.insertInto('directRooms').values({ pair, roomId: room.id }).execute();
  return inserted;
}

/** The room of a post, whose row need not have been read before. */
export const findRoomOfPost = createFinder((db, { id }) =>
  db
    .selectFrom('rooms')
    .select(roomColumns)
    .where('id', '=', (eb) => eb.selectFrom('posts').select('roomId').where('posts.id', '=', id))
    .where('deletedAt', 'is', null),
);

/**
 * Finds the rooms that an import may use, by exact name: public ones, and private ones without an owner. Of rooms with the
 * same name the last is to be used. They are not deleted before the end of the transaction.
 */
export async function findImportedRooms(
  db: Db,
  names: readonly string[],
): Promise<Pick<RoomRow, 'id' | 'name' | 'visibility'>[]> {
  return executeInParts(db, names, (part) =>
    db
      .selectFrom('rooms')
      .select(['id', 'name', 'visibility'])
      .where('name', 'in', part)
      .where(sql<boolean>`("visibility" = 'PUBLIC' or "ownerId" is null)`)
      .where('deletedAt', 'is', null)
      .orderBy('visibility')
      .orderBy('id', 'desc')
      .forKeyShare(),
  );
}

/** Changes a room that is locked, and has not changed since it was read. @throws UniqueViolation if the name is taken. */
export async function updateRoom(db: Db, room: RoomRow, changes: RoomChanges): Promise<RoomRow> {
  return db
    .updateTable('rooms')
    .set({ ...changes, updatedAt: Date.now(), version: room.version + 1 })
    .where('id', '=', room.id)
    .where('version', '=', room.version)
    .returning(roomColumns)
    .executeTakeFirstOrThrow();
}

/** Locks rooms in the order of their ids, so that two changes of several rooms never wait for each other. */
export async function lockRooms(db: Db, ids: readonly string[]): Promise<RoomRow[]> {
  const inOrder = [...new Set(ids)].sort();
  return executeInParts(db, inOrder, (part) =>
    db
      .selectFrom('rooms')
      .select(roomColumns)
      .where('id', 'in', part)
      .where('deletedAt', 'is', null)
      .orderBy('id')
      .forNoKeyUpdate(),
  );
}
