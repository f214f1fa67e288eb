import type { Channel } from '../common/channel.ts';
import type { Database, Db } from '../data/database/database.ts';
import {
  type DeletionStep,
  deleteOtherRows,
  deletePosts,
  deleteRoomRows,
  type ErasedAccount,
  endErasure,
  eraseKeysOf,
  findDeletedRoom,
  findErasedAccount,
  findRemains,
  hasRemains,
  hasUnfinishedDeletions,
} from '../data/domain/deletions.ts';
import type { ExtensionTable } from '../data/domain/extension-tables.ts';
import { deleteMember } from '../data/domain/memberships.ts';
import { lockRooms, updateRoom } from '../data/domain/rooms.ts';
import type { NewPlainEvent } from '../data/event-log/events.ts';
import type { Bus } from '../live/bus/bus.ts';
import { BackgroundWork, rowsPerStep, runInSteps } from './background-work.ts';
import { type ChangeRecord, commitChange } from './commit-change.ts';

/** Deletes the rows of deleted accounts and rooms, also those that another process has left. */
export function createDeletions(
  database: Database,
  bus: Bus,
  onError: (error: unknown) => void,
  extensionTables: readonly ExtensionTable[] = [],
  parent?: Channel,
): BackgroundWork {
  const step = { limit: rowsPerStep[database.kind], extensionTables };
  // Accounts come first, because a person waits for the erasure of their data.
  const run = async () => !((await eraseAccount(database, bus, step)) || (await deleteRoom(database, step)));
  const work = async (signal: AbortSignal) => {
    if (await hasUnfinishedDeletions(database.checks)) await runInSteps(run, signal);
  };
  return new BackgroundWork('deletions', work, onError, parent);
}

/** Returns false if there was nothing to erase. */
async function eraseAccount(database: Database, bus: Bus, step: DeletionStep): Promise<boolean> {
  const { result: erased } = await commitChange(database, bus, async (db, record) => {
    const account = await findErasedAccount(db);
    return account && { isDone: await eraseRows(db, record, account, step) };
  });
  if (erased?.isDone) await database.purge();
  return erased !== undefined;
}

/** Returns false if there was nothing to delete. */
function deleteRoom(database: Database, step: DeletionStep): Promise<boolean> {
  return database.transaction(async (db) => {
    const roomId = await findDeletedRoom(db);
    if (roomId === undefined) return false;
    await deleteRoomRows(db, roomId, step);
    return true;
  });
}

/**
 * Deletes rows of an erased account: its drafts, its published posts if they are to be deleted, and its
 * memberships, mutes, earlier memberships and idempotency keys. Also erases its API keys, and removes it as the owner of
 * rooms and as the actor of events. Writes an event about each change of a room. Returns false if rows remain.
 */
export async function eraseRows(
  db: Db,
  record: ChangeRecord,
  account: ErasedAccount,
  step: DeletionStep,
): Promise<boolean> {
  const { limit, extensionTables } = step;
  const applications = await eraseKeysOf(db, account.id, limit);
  for (const userId of applications) record.announce({ type: 'userDeleted', userId });
  const left = limit - applications.length - (await changeRooms(db, record, account, limit - applications.length));
  if (left <= 0 || (await deleteOtherRows(db, account, { ...step, limit: left })) >= left) return false;
  // The erased accounts of applications have rows, too.
  if (applications.length > 0 || (await hasRemains(db, account, step))) return false;
  // What the extensions' rows had may be in cached events.
  if (extensionTables.length > 0) record.announce({ type: 'contentErased' });
  await endErasure(db, account.id);
  return true;
}

/** Returns the number of rows that it found. The events have no actor. */
async function changeRooms(db: Db, { append }: ChangeRecord, account: ErasedAccount, limit: number): Promise<number> {
  const { posts, joined, owned } = await findRemains(db, account, limit);
  const rooms = await lockRooms(db, [...posts.map(({ roomId }) => roomId), ...joined, ...owned]);
  const byId = new Map(rooms.map((room) => [room.id, room]));
  const deleted = await deletePosts(
    db,
    posts.map(({ id }) => id),
  );
  // The rows of the posts were deleted before.
  const storeNothing = async () => {};
  // A deleted room has no more events.
  await Promise.all([
    ...deleted
      .filter(({ roomId }) => byId.has(roomId))
      .map((post) => append({ ...eventOf('PostDeleted', post.roomId, post), store: storeNothing })),
    ...joined.map((roomId) => {
      const store = (db: Db) => deleteMember(db, { roomId, userId: account.id });
      return byId.has(roomId) ? append({ ...eventOf('MemberLeft', roomId, account), store }) : store(db);
    }),
    ...owned
      .flatMap((id) => byId.get(id) ?? [])
      .map((room) => {
        const store = (db: Db) => updateRoom(db, room, { ownerId: null });
        const changed = { id: room.id, version: room.version + 1 };
        return append({ ...eventOf('RoomUpdated', room.id, changed), store });
      }),
  ]);
  return posts.length + joined.length + owned.length;
}

function eventOf(
  type: NewPlainEvent<unknown>['type'],
  roomId: string,
  { id, version }: { id: string; version: number },
) {
  return { type, roomId, subjectId: id, version, actorId: null };
}
