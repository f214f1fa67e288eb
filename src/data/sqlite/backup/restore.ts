import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { createFolder } from '../../../common/create-folder.ts';
import { syncPath } from '../../../common/sync-path.ts';
import { type BackupContents, BackupError, type BackupOptions } from '../../database/backup.ts';
import { translateSqliteError } from '../errors.ts';
import { assertOther } from './backup.ts';
import { verify } from './contents.ts';
import { companions, Draft, resolveTarget } from './draft.ts';
import { foldLog, openExclusively } from './exclusive-lock.ts';

type SqliteRestore = BackupOptions & { database: string; file: string };

/**
 * Replaces the database, which no program may use, by a verified copy of a backup and of the log beside it. At each moment,
 * also after a crash, the path leads to the whole old database or to the whole backup.
 * @throws BackupError, DatabaseUnavailable, or an error of the system.
 */
export function restoreSqlite(options: SqliteRestore): BackupContents {
  try {
    return restore(options);
  } catch (error) {
    throw translateSqliteError(error);
  }
}

function restore({ database, file, isForced }: SqliteRestore): BackupContents {
  const target = resolveTarget(database);
  assertOther(target, file);
  const isPresent = existsSync(target);
  using locked = isPresent ? openExclusively(target) : undefined;
  const present = ['', ...companions].map((suffix) => target + suffix).find((path) => existsSync(path));
  if (present !== undefined && !isForced) throw new BackupError(`${present} exists; --force replaces the database`);
  createFolder(dirname(target));
  using draft = new Draft(target);
  copyFileSync(file, draft.path);
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${draft.path}-wal`);
  const contents = verify({ path: draft.path, name: file, journalMode: 'wal' });
  draft.setOwner();
  // SQLite would also apply the log of the old database to the new one. So the old one must be complete without it.
  if (locked) foldLog(locked);
  for (const suffix of companions) rmSync(target + suffix, { force: true });
  syncPath(dirname(target));
  draft.moveIntoPlace({ mayReplace: isPresent });
  return contents;
}
