import type { DatabaseSync } from 'node:sqlite';
import { type BackupContents, BackupError } from '../../database/backup.ts';
import { DatabaseUnusable } from '../../database/database.ts';
import { assertKnown, type TableVersion } from '../../migrations/migrate.ts';
import { openExisting } from '../file.ts';

/** The tables of every version of Postroom. */
const tables = ['users', 'rooms', 'roomMembers', 'posts', 'roomEvents', 'apiKeys', 'settings', 'migrations'];

export interface Copy {
  /** The path of a copy that no other program uses. */
  path: string;
  /** The name of the file in messages. */
  name: string;
  /**
   * The journal mode that the copy gets: `delete` if other programs should read it as a single file, `wal` if a server
   * will use it.
   */
  journalMode: 'delete' | 'wal';
}

/**
 * Verifies that a copy is a complete database of Postroom that this program can use: all pages, the tables, and their
 * version. Afterwards the copy is one file. @throws BackupError
 */
export function verify({ path, name, journalMode }: Copy): BackupContents {
  using database = openExisting(path);
  try {
    // Ends a write-ahead log that was copied with the file.
    database.exec('pragma journal_mode = delete');
    const damage = database.prepare('pragma integrity_check(1)').get()?.['integrity_check'];
    if (damage !== 'ok') throw new BackupError(`${name} is damaged: ${String(damage).replaceAll('\n', ' ')}`);
    const found = database.prepare("select name from sqlite_schema where type = 'table'").all();
    const missing = tables.find((table) => !found.some((row) => row['name'] === table));
    if (missing !== undefined)
      throw new BackupError(`${name} is not a database of Postroom: it has no table ${missing}`);
    const contents = readContents(database);
    database.exec(`pragma journal_mode = ${journalMode}`);
    return contents;
  } catch (error) {
    throw explain(error, name);
  }
}

function readContents(database: DatabaseSync): BackupContents {
  const read = (sql: string) => database.prepare(`select ${sql}`).get() as { value: number | null };
  const count = (rows: string) => read(`count(*) as value from ${rows}`).value ?? 0;
  return {
    version: readVersion(database) ?? 0,
    rooms: count('rooms'),
    users: count('users where "deletedAt" is null'),
    posts: count('posts'),
    newestEventAt: read('max("at") as value from "roomEvents"').value ?? undefined,
  };
}

/** The number of migrations that the tables have had. @throws DatabaseUnusable if a newer program has changed them. */
export function readVersion(database: DatabaseSync): number | undefined {
  const version = database.prepare('select * from migrations').get() as unknown as TableVersion | undefined;
  if (version) assertKnown(version);
  return version?.seen;
}

function explain(error: unknown, name: string): unknown {
  if (error instanceof BackupError || !(error instanceof Error)) return error;
  if (error instanceof DatabaseUnusable) return new BackupError(`${name} cannot be used: ${error.message}`);
  return 'errcode' in error ? new BackupError(`${name} is damaged: ${error.message}`, { cause: error }) : error;
}
