import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isPostgresUrl } from '../../config/database-url.ts';
import { inspectPostgres, openPostgres } from '../postgres/database.ts';
import { backupSqlite, type SqliteBackup } from '../sqlite/backup/backup.ts';
import { restoreSqlite } from '../sqlite/backup/restore.ts';
import { inspectSqlite, openSqlite } from '../sqlite/database.ts';
import { assertNoOrphanedLog } from '../sqlite/file.ts';
import { type BackupContents, BackupError } from './backup.ts';
import type { Database, DatabaseOptions, DatabaseState } from './database.ts';
import { measured } from './measured-database.ts';
import { createTimings } from './timings.ts';

/** `system`: the name in OpenTelemetry. The first argument of both functions is a path, or the URL of PostgreSQL. */
const sqlite = { system: 'sqlite', open: openSqlite, inspect: inspectSqlite };
const postgres = { system: 'postgresql', open: openPostgres, inspect: inspectPostgres };

/**
 * Opens the database of a `DATABASE_URL` and brings its tables up to date.
 * @throws DatabaseUnusable if the database is corrupt, not writable, or newer than this program.
 */
export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Database> {
  const { timings = createTimings() } = options;
  const { open, system } = isPostgresUrl(url) ? postgres : sqlite;
  return measured(await open(addressOf(url), { ...options, timings }), system, timings);
}

/** The file of an SQLite database that `openDatabase` would create. @throws DatabaseUnusable if its log is there. */
export function findMissingFile(url: string): string | undefined {
  const file = resolve(addressOf(url));
  if (isPostgresUrl(url) || addressOf(url) === ':memory:' || existsSync(file)) return undefined;
  assertNoOrphanedLog(file);
  return file;
}

/** Finds out whether a server could use the database, without creating or migrating it. @throws DatabaseUnusable */
export async function inspectDatabase(url: string): Promise<DatabaseState> {
  return (isPostgresUrl(url) ? postgres : sqlite).inspect(addressOf(url));
}

/** Returns a function that writes the database to a file, also while servers use it. @throws BackupError */
export function prepareBackup(url: string, options: Omit<SqliteBackup, 'database' | 'file'>) {
  const database = toFile(url, 'create a backup with pg_dump --format=custom');
  return (file: string) => backupSqlite({ ...options, database, file });
}

/** Replaces the database by a backup. No server may use it. @throws BackupError */
export async function restoreDatabase(
  url: string,
  file: string,
  options: Pick<SqliteBackup, 'isForced'>,
): Promise<BackupContents> {
  return restoreSqlite({ ...options, database: toFile(url, 'restore a backup with pg_restore'), file });
}

/** The path of an SQLite database. @throws BackupError for any other database. */
function toFile(url: string, advice: string): string {
  if (isPostgresUrl(url))
    throw new BackupError(`DATABASE_URL is a database of PostgreSQL: ${advice} (docs/operations.md)`);
  if (addressOf(url) !== ':memory:') return resolve(addressOf(url));
  throw new BackupError('DATABASE_URL is sqlite::memory:, a database that no other process can read');
}

/** The path of an SQLite database; any other URL as it is. */
function addressOf(url: string): string {
  return url.replace(/^sqlite:/, '');
}
