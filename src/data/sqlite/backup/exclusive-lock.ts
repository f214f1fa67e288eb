import type { DatabaseSync } from 'node:sqlite';
import { BackupError } from '../../database/backup.ts';
import { DatabaseUnusable } from '../../database/database.ts';
import { SqliteBusy, translateSqliteError } from '../errors.ts';
import { openExisting } from '../file.ts';

/**
 * Keeps all other programs from a database file until the result is closed. Each connection of a server to a database with a
 * write-ahead log holds a shared lock on its file for as long as it is open, also between its statements, so an exclusive
 * lock proves that there is none. It belongs to the file, not to its path.
 *
 * Undefined if SQLite cannot lock the file because its first page is damaged and it has no write-ahead log. A server that
 * has such a file open writes nothing any more: it has noticed both (`SqliteFile.findFault`).
 * @throws BackupError if another program uses the database.
 */
export function openExclusively(path: string): DatabaseSync | undefined {
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
export function foldLog(database: DatabaseSync): void {
  try {
    database.exec('pragma journal_mode = delete');
  } catch (error) {
    if (!(translateSqliteError(error) instanceof DatabaseUnusable)) throw error;
  }
}
