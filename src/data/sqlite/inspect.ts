import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseState } from '../database/database.ts';
import { readVersion } from './backup/contents.ts';
import { explain } from './database.ts';
import { assertCreatable, assertNoOrphanedLog, openExisting } from './file.ts';

/** Finds out whether a server could open the database, without creating or migrating it. @throws DatabaseUnusable */
export async function inspectSqlite(path: string): Promise<DatabaseState> {
  if (path === ':memory:') return { name: path, folder: undefined, version: undefined };
  const file = resolve(path);
  try {
    assertNoOrphanedLog(file);
    const folder = dirname(file);
    assertCreatable(folder);
    if (!existsSync(file)) return { name: file, folder, version: undefined };
    accessSync(file, constants.R_OK | constants.W_OK);
    // A connection that only reads would leave the files of the write-ahead log behind.
    using database = openExisting(file);
    const table = database.prepare("select 1 from sqlite_schema where name = 'migrations'").get();
    return { name: file, folder, version: table && readVersion(database) };
  } catch (error) {
    throw explain(file, error);
  }
}
