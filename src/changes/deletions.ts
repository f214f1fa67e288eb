import type { Database } from '../data/database/database.ts';
import {
  deleteRoomRows,
  findDeletedRoom,
  findErasedAccount,
  hasUnfinishedDeletions,
} from '../data/domain/deletions.ts';
import type { ExtensionTable } from '../data/domain/extension-tables.ts';
import type { Bus } from '../live/bus/bus.ts';
import { BackgroundWork, rowsPerStep, runInSteps } from './background-work.ts';
import { commitChange } from './commit-change.ts';
import { eraseRows } from './erasure.ts';

/** Deletes the rows of deleted accounts and rooms, also those that another process has left. */
export function createDeletions(
  database: Database,
  bus: Bus,
  onError: (error: unknown) => void,
  extensionTables: readonly ExtensionTable[] = [],
): BackgroundWork {
  const limit = rowsPerStep[database.kind];
  // Accounts come first, because a person waits for the erasure of their data.
  const step = async () =>
    !(
      (await eraseAccount(database, bus, limit, extensionTables)) ||
      (await deleteRoom(database, limit, extensionTables))
    );
  return new BackgroundWork(async (signal) => {
    if (await hasUnfinishedDeletions(database.checks)) await runInSteps(step, signal);
  }, onError);
}

/** Returns false if there was nothing to erase. */
async function eraseAccount(
  database: Database,
  bus: Bus,
  limit: number,
  extensionTables: readonly ExtensionTable[],
): Promise<boolean> {
  const { result: erased } = await commitChange(database, bus, async (db, record) => {
    const account = await findErasedAccount(db);
    return account && { isDone: await eraseRows(db, record, account, limit, extensionTables) };
  });
  if (erased?.isDone) await database.purge();
  return erased !== undefined;
}

/** Returns false if there was nothing to delete. */
function deleteRoom(database: Database, limit: number, extensionTables: readonly ExtensionTable[]): Promise<boolean> {
  return database.transaction(async (db) => {
    const roomId = await findDeletedRoom(db);
    if (roomId === undefined) return false;
    await deleteRoomRows(db, roomId, limit, extensionTables);
    return true;
  });
}
