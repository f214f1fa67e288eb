import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { createFolder } from '../../../common/create-folder.ts';
import { syncPath } from '../../../common/sync-path.ts';
import { type BackupContents, BackupError } from '../../database/backup.ts';
import { DatabaseUnusable } from '../../database/database.ts';
import { SqliteBusy, translateSqliteError } from '../errors.ts';
import { openExisting } from '../file.ts';
import { assertOther, type SqliteBackup } from './backup.ts';
import { verify } from './contents.ts';
import { companions, Draft, resolveTarget } from './draft.ts';

type SqliteRestore = Pick<SqliteBackup, 'database' | 'file' | 'isForced'>;

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

/**
 * Keeps all other programs from a database file until the result is closed. Each connection of a server to a database with a
 * write-ahead log holds a shared lock on its file for as long as it is open, also between its statements, so an exclusive
 * lock proves that there is none. It belongs to the file, not to its path.
 *
 * Undefined if SQLite cannot lock the file because its first page is damaged and it has no write-ahead log. A server that
 * has such a file open writes nothing any more: it has noticed both (`SqliteFile.findFault`).
 * @throws BackupError if another program uses the database.
 */
function openExclusively(path: string): DatabaseSync | undefined {
  const database = openExisting(path, 0);
  try {
    database.exec('pragma locking_mode = exclusive; select 1 from sqlite_schema limit 1; begin exclusive; commit');
    return database;
  } catch (error) {
    database.close();
    const translated = translateSqliteError(error);
    if (translated instanceof DatabaseUnusable) return undefined;
    if (translated instanceof SqliteBusy)
      throw new BackupError(`${path} is in use by a server or another program; stop it first`);
    throw error;
  }
}

/**
 * Copies the write-ahead log into the file and ends it, so that the file is complete without it. Does nothing if the file is
 * damaged.
 */
function foldLog(database: DatabaseSync): void {
  try {
    database.exec('pragma journal_mode = delete');
  } catch (error) {
    if (!(translateSqliteError(error) instanceof DatabaseUnusable)) throw error;
  }
}
