import type { Database } from '../data/database/database.ts';
import {
  deleteRoomRows,
  findDeletedRoom,
  findErasedAccount,
  hasUnfinishedDeletions,
} from '../data/domain/deletions.ts';
import type { Bus } from '../live/bus/bus.ts';
import { BackgroundWork, rowsPerStep, runInSteps } from './background-work.ts';
import { commitChange } from './commit-change.ts';
import { eraseRows } from './erasure.ts';

/** Deletes the rows of deleted accounts and rooms, also those that another process has left. */
export function createDeletions(database: Database, bus: Bus, onError: (error: unknown) => void): BackgroundWork {
  const limit = rowsPerStep[database.kind];
  // Accounts come first, because a person waits for the erasure of their data.
  const step = async () =>
    (await eraseAccount(database, bus, limit)) === 'none' && (await deleteRoom(database, limit)) === 'none';
  return new BackgroundWork(async (signal) => {
    if (await hasUnfinishedDeletions(database.checks)) await runInSteps(step, signal);
  }, onError);
}

async function eraseAccount(database: Database, bus: Bus, limit: number): Promise<Progress> {
  const { result } = await commitChange(database, bus, async (db, record): Promise<Progress> => {
    const account = await findErasedAccount(db);
    if (!account) return 'none';
    return (await eraseRows(db, record, account, limit)) ? 'done' : 'rows remain';
  });
  if (result === 'done') await database.purge();
  return result;
}

function deleteRoom(database: Database, limit: number): Promise<Progress> {
  return database.transaction(async (db) => {
    const roomId = await findDeletedRoom(db);
    if (roomId === undefined) return 'none';
    return (await deleteRoomRows(db, roomId, limit)) ? 'done' : 'rows remain';
  });
}

/** `none`: there was nothing to delete. */
type Progress = 'none' | 'rows remain' | 'done';
