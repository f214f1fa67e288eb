import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { DatabaseState } from '../database.ts';
import { assertKnown, type TableVersion } from '../migrations/migrate.ts';
import { explain } from './database.ts';
import { assertCreatable, assertNoOrphanedLog } from './file.ts';

const busyTimeoutMs = 5_000;

/** Finds out whether a server could open the database, without creating or migrating it. @throws DatabaseUnusable */
export async function inspectSqlite(path: string): Promise<DatabaseState> {
  if (path === ':memory:') return { name: path, folder: undefined, version: undefined };
  const file = resolve(path);
  try {
    assertNoOrphanedLog(file);
    const folder = dirname(file);
    assertCreatable(folder);
    return { name: file, folder, version: existsSync(file) ? readVersion(file) : undefined };
  } catch (error) {
    throw explain(file, error);
  }
}

function readVersion(file: string): number | undefined {
  accessSync(file, constants.R_OK | constants.W_OK);
  // A connection that only reads would leave the files of the write-ahead log behind.
  const database = new DatabaseSync(`${pathToFileURL(file)}?mode=rw`, { timeout: busyTimeoutMs });
  try {
    const table = database.prepare("select 1 from sqlite_schema where name = 'migrations'").get();
    if (!table) return undefined;
    const version = database.prepare('select * from migrations').get() as unknown as TableVersion | undefined;
    if (version) assertKnown(version);
    return version?.seen;
  } finally {
    database.close();
  }
}
