import { resolve } from 'node:path';
import { BadSetting } from '../bad-setting.ts';
import { type BackupContents, BackupError, type BackupOptions, type Progress } from './backup.ts';
import type { Database, DatabaseOptions, DatabaseState, ImplementationOptions } from './database.ts';
import { openPostgres, postgresUrlForm } from './postgres/database.ts';
import { inspectPostgres } from './postgres/inspect.ts';
import { backupSqlite } from './sqlite/backup/backup.ts';
import { restoreSqlite } from './sqlite/backup/restore.ts';
import { openSqlite } from './sqlite/database.ts';
import { inspectSqlite } from './sqlite/inspect.ts';
import { withTimings } from './timed-database.ts';
import { createTimings } from './timings.ts';
import { withSpans } from './traced-database.ts';

interface Implementation {
  /** Its name in OpenTelemetry. */
  system: string;
  /** The part of the error message that says which URLs are allowed. */
  urlForm: string;
  /** In all functions `address` is the URL without its scheme. */
  open: (address: string, options: ImplementationOptions) => Promise<Database>;
  inspect: (address: string) => Promise<DatabaseState>;
  backup: (address: string, file: string, options: BackupOptions & BackupProgress) => Promise<BackupContents>;
  restore: (address: string, file: string, options: BackupOptions) => Promise<BackupContents>;
}

interface BackupProgress {
  onProgress: (progress: Progress) => void;
}

const sqlite: Implementation = {
  system: 'sqlite',
  urlForm: 'sqlite: with a path, or sqlite::memory:',
  open: openSqlite,
  inspect: inspectSqlite,
  backup: async (address, file, options) => backupSqlite({ ...options, database: toFile(address), file }),
  restore: async (address, file, options) => restoreSqlite({ ...options, database: toFile(address), file }),
};

const ofPostgres = 'DATABASE_URL is a database of PostgreSQL';
const postgres: Implementation = {
  system: 'postgresql',
  urlForm: postgresUrlForm,
  open: openPostgres,
  inspect: inspectPostgres,
  async backup() {
    throw new BackupError(`${ofPostgres}: create a backup with pg_dump --format=custom (docs/operations.md)`);
  },
  async restore() {
    throw new BackupError(`${ofPostgres}: restore a backup with pg_restore (docs/operations.md)`);
  },
};

function toFile(address: string): string {
  if (address !== ':memory:') return resolve(address);
  throw new BackupError('DATABASE_URL is sqlite::memory:, a database that no other process can read');
}

/** The implementations by the scheme of `DATABASE_URL`. */
const implementations = new Map<string, Implementation>([
  ['sqlite', sqlite],
  ['postgres', postgres],
  ['postgresql', postgres],
]);

/** Whether a `DATABASE_URL` is that of a server, which several nodes may share. */
export function isPostgresUrl(url: string): boolean {
  return implementations.get(schemeOf(url)) === postgres;
}

/**
 * Opens the database of a `DATABASE_URL` and brings its tables up to date.
 * @throws BadSetting if the scheme is unknown; DatabaseUnusable if the database is corrupt, not writable, or newer than
 * this program.
 */
export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Database> {
  const { timings = createTimings() } = options;
  const { open, system } = findImplementation(url);
  return withTimings(withSpans(await open(addressOf(url), { ...options, timings }), system), timings);
}

/**
 * Finds out whether a server could use the database, without creating or migrating it.
 * @throws BadSetting, DatabaseUnusable
 */
export async function inspectDatabase(url: string): Promise<DatabaseState> {
  return findImplementation(url).inspect(addressOf(url));
}

/** Writes the database to a file, also while servers use it. @throws BadSetting, BackupError */
export async function backUpDatabase(
  url: string,
  file: string,
  options: BackupOptions & BackupProgress,
): Promise<BackupContents> {
  return findImplementation(url).backup(addressOf(url), file, options);
}

/** Replaces the database by a backup. No server may use it. @throws BadSetting, BackupError */
export async function restoreDatabase(url: string, file: string, options: BackupOptions): Promise<BackupContents> {
  return findImplementation(url).restore(addressOf(url), file, options);
}

/** @throws BadSetting */
function findImplementation(url: string): Implementation {
  const implementation = implementations.get(schemeOf(url));
  if (implementation) return implementation;
  const urlForms = new Set([...implementations.values()].map(({ urlForm }) => urlForm));
  throw new BadSetting('DATABASE_URL', url, `must be ${[...urlForms].join(', or ')}`);
}

function addressOf(url: string): string {
  return url.slice(schemeOf(url).length + 1);
}

function schemeOf(url: string): string {
  return url.split(':', 1)[0] ?? '';
}
