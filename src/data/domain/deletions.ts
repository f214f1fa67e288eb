import { sql } from 'kysely';
import type { Db } from '../database/database.ts';
import { deleteSome, hasRows, isAmong } from '../sql/some-rows.ts';
import type { Erasure, PostRow, UserRow } from '../tables.ts';
import type { ExtensionTable } from './extension-tables.ts';
import { eraseSubject } from './users.ts';

const deletedUserName = 'deleted user';
const deletedKeyName = 'deleted key';

/*
 * Rooms and accounts may have more rows than one transaction may delete without delaying others. Their deletion marks
 * them, so that no read finds the rows any more, and the rows are deleted in steps. The marks are in the tables: after a
 * crash any process continues.
 */

export interface DeletionStep {
  /** The maximum number of rows that it deletes. */
  limit: number;
  extensionTables: readonly ExtensionTable[];
}

/** Deletes a room that is locked exclusively: at once if it has few rows. Returns false if rows remain. */
export async function deleteRoom(db: Db, id: string, step: DeletionStep): Promise<boolean> {
  // The name is free for another room. The logs of the members get the time.
  const changes = { deletedAt: Date.now(), name: '', visibility: 'PRIVATE', ownerId: null } as const;
  await db.updateTable('rooms').set(changes).where('id', '=', id).execute();
  return deleteRoomRows(db, id, step);
}

/** The tables whose rows belong to a room. */
const tablesOfRooms = ['posts', 'roomMembers', 'formerMembers', 'roomEvents', 'mutes'] as const;

/** Deletes rows of a room, and the room itself after the last of them. Returns false if rows remain. */
export async function deleteRoomRows(db: Db, id: string, { limit, extensionTables }: DeletionStep): Promise<boolean> {
  let left = limit;
  // All have a column `roomId`, which is all that the query names.
  const ofExtensions = extensionTables.map(({ name }) => name as (typeof tablesOfRooms)[number]);
  for (const table of [...ofExtensions, ...tablesOfRooms]) {
    const rows = db.selectFrom(table).where('roomId', '=', id);
    left -= await deleteSome(db, table, rows, left);
    if (left === 0 || (await hasRows(rows))) return false;
  }
  await db.deleteFrom('rooms').where('id', '=', id).execute();
  return true;
}

/** Whether any deleted room or account still has rows. */
export async function hasUnfinishedDeletions(db: Db): Promise<boolean> {
  const rooms = db.selectFrom('rooms').select('id').where('deletedAt', 'is not', null).limit(1);
  const accounts = db.selectFrom('users').select('id').where('erasing', 'is not', null).limit(1);
  return [await rooms.execute(), await accounts.execute()].some((found) => found.length > 0);
}

/** A deleted room that still has rows. It is locked, and rooms that other processes work on are left out. */
export async function findDeletedRoom(db: Db): Promise<string | undefined> {
  const room = await db
    .selectFrom('rooms')
    .select('id')
    .where('deletedAt', 'is not', null)
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  return room?.id;
}

/**
 * Erases name, e-mail and credentials. The id stays, so that posts keep their author. `erasing` are the rows of the
 * account that are deleted after it.
 */
export async function eraseUser(db: Db, user: UserRow, erasing: Erasure): Promise<void> {
  await eraseUsers(db, [user.id], { ...eraseSubject(user), erasing });
}

async function eraseUsers(db: Db, ids: readonly string[], changes: Partial<UserRow> & { erasing: Erasure }) {
  const now = Date.now();
  await db
    .updateTable('users')
    .set((eb) => ({
      name: deletedUserName,
      email: null,
      emailKey: null,
      passwordHash: null,
      role: 'MEMBER',
      ...changes,
      deletedAt: now,
      updatedAt: now,
      version: eb('version', '+', 1),
    }))
    .where('id', 'in', ids)
    .where('deletedAt', 'is', null)
    .execute();
  // The user that an application acts as has the name of its key.
  await db.updateTable('apiKeys').set({ name: deletedKeyName }).where('userId', 'in', ids).execute();
}

/**
 * Erases up to `limit` of the keys that a deleted account has created, and the accounts that their applications act as: an
 * owner may have named them after himself. Returns the ids of these accounts, whose posts remain.
 */
export async function eraseKeysOf(db: Db, ownerId: string, limit: number): Promise<string[]> {
  const owned = db
    .selectFrom('apiKeys')
    .select('userId')
    .where('ownerId', '=', ownerId)
    .where('revokedAt', 'is not', null);
  const userIds = (await owned.limit(limit).execute()).map(({ userId }) => userId);
  if (userIds.length === 0) return [];
  await eraseUsers(db, userIds, { erasing: 'ACCOUNT' });
  await db.updateTable('apiKeys').set({ ownerId: null }).where('userId', 'in', userIds).execute();
  return userIds;
}

/** A deleted account, and the rows of it that are being deleted. */
export type ErasedAccount = Pick<UserRow, 'id' | 'version'> & { erasing: Erasure };

/** The same for accounts. */
export async function findErasedAccount(db: Db): Promise<ErasedAccount | undefined> {
  const account = await db
    .selectFrom('users')
    .select(['id', 'version', 'erasing'])
    .where('erasing', 'is not', null)
    .limit(1)
    .forNoKeyUpdate()
    .skipLocked()
    .executeTakeFirst();
  return account as ErasedAccount | undefined;
}

export async function endErasure(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('userLogs').where('userId', '=', userId).execute();
  await db.updateTable('users').set({ erasing: null }).where('id', '=', userId).execute();
}

/** The posts, memberships and rooms of an account that one step of its erasure concerns. */
export interface Remains {
  posts: Pick<PostRow, 'id' | 'roomId'>[];
  /** The ids of rooms. */
  joined: string[];
  owned: string[];
}

/** Finds up to `limit` rows of an account that are still to be deleted or changed: posts before the others. */
export async function findRemains(db: Db, account: ErasedAccount, limit: number): Promise<Remains> {
  const posts = await findPosts(db, account, limit);
  if (posts.length === limit) return { posts, joined: [], owned: [] };
  const members = db.selectFrom('roomMembers').select('roomId').where('userId', '=', account.id).orderBy('roomId');
  const joined = await members.limit(limit - posts.length).execute();
  const rooms = db.selectFrom('rooms').select('id').where('ownerId', '=', account.id).orderBy('id');
  const owned = await rooms.limit(limit - posts.length - joined.length).execute();
  return { posts, joined: joined.map(({ roomId }) => roomId), owned: owned.map(({ id }) => id) };
}

/**
 * Whether rows of an account remain. The number of rows that a step has changed does not tell: on PostgreSQL it leaves out
 * those that another transaction has deleted after the step had found them, as trimming does.
 */
export async function hasRemains(db: Db, account: ErasedAccount, step: DeletionStep): Promise<boolean> {
  const { posts, joined, owned } = await findRemains(db, account, 1);
  if (posts.length + joined.length + owned.length > 0) return true;
  const others = rowsOf(db, account, step).map(({ rows }) => rows);
  for (const rows of [eventsBy(db, account.id), ...others]) if (await hasRows(rows)) return true;
  return false;
}

function findPosts(db: Db, { id, erasing }: ErasedAccount, limit: number): Promise<Remains['posts']> {
  const posts = db.selectFrom('posts').select(['id', 'roomId']).where('authorId', '=', id);
  const erased = erasing === 'POSTS' ? posts : posts.where('publishedAt', 'is', null);
  return erased.orderBy('publishedAt').orderBy('id').limit(limit).execute();
}

/** Deletes posts, and returns those that were published. */
export async function deletePosts(
  db: Db,
  ids: readonly string[],
): Promise<Pick<PostRow, 'id' | 'roomId' | 'version'>[]> {
  if (ids.length === 0) return [];
  const query = db.deleteFrom('posts').where('id', 'in', ids).returning(['id', 'roomId', 'version', 'publishedAt']);
  return (await query.execute()).filter(({ publishedAt }) => publishedAt !== null);
}

/** The tables of Postroom whose rows are deleted with an account without an event, as those of extensions are. */
const tablesOfAccounts: readonly ExtensionTable[] = ['mutes', 'formerMembers', 'idempotencyKeys', 'userEvents'].map(
  (name) => ({ name, user: 'userId' }),
);

/** The rows of an account in these tables, and in those of extensions. */
function rowsOf(db: Db, { id, erasing }: ErasedAccount, { extensionTables }: DeletionStep) {
  return [...extensionTables, ...tablesOfAccounts].flatMap(({ name, author, user }) => {
    const columns = [user, erasing === 'POSTS' ? author : undefined].filter((column) => column !== undefined);
    // The queries of steps know the tables of Postroom only, and name no column but these.
    const table = name as 'posts';
    return columns.map((column) => ({
      table,
      rows: db.selectFrom(table).where(sql<boolean>`${sql.ref(column)} = ${id}`),
    }));
  });
}

function eventsBy(db: Db, actorId: string) {
  return db.selectFrom('roomEvents').where('actorId', '=', actorId);
}

/** Deletes rows of these tables, and removes a deleted user as the actor of events. Returns the number of rows. */
export async function deleteOtherRows(db: Db, account: ErasedAccount, step: DeletionStep): Promise<number> {
  let left = step.limit;
  for (const { table, rows } of rowsOf(db, account, step)) {
    if (left > 0) left -= await deleteSome(db, table, rows, left);
  }
  if (left > 0) left -= await clearActor(db, account.id, left);
  return step.limit - left;
}

async function clearActor(db: Db, userId: string, limit: number): Promise<number> {
  const query = db
    .updateTable('roomEvents')
    .set({ actorId: null })
    .where(isAmong(db, 'roomEvents', eventsBy(db, userId), limit));
  return Number((await query.executeTakeFirstOrThrow()).numUpdatedRows);
}
