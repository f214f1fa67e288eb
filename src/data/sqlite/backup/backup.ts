import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { type BackupContents, BackupError, type BackupOptions, type Progress } from '../../backup.ts';
import { isDiskFull } from '../file.ts';
import { verify } from './contents.ts';
import { companions, Draft } from './draft.ts';

/** 1 MiB: a step takes some milliseconds. */
const pagesPerStep = 256;
const busyTimeoutMs = 5_000;

export interface SqliteBackup extends BackupOptions {
  /** The path of the database; a server may use it. */
  database: string;
  /** The path of the backup. */
  file: string;
  onProgress: (progress: Progress) => void;
}

/**
 * Copies the database into one file: the state of one moment, with all commits before it. The copy is verified before it
 * gets its name. @throws BackupError, or an error of the system if the file cannot be created.
 */
export async function backupSqlite({ database, file, isForced, onProgress }: SqliteBackup): Promise<BackupContents> {
  if (!existsSync(database)) throw new BackupError(`there is no database ${database}`);
  assertOther(database, file);
  if (!existsSync(dirname(file))) throw new BackupError(`there is no folder ${dirname(file)}`);
  if (existsSync(file) && !isForced) throw new BackupError(`${file} exists already; --force replaces it`);
  using draft = new Draft(file);
  try {
    await copy(database, draft.path, onProgress);
  } catch (error) {
    throw explain(error, file);
  }
  const contents = verify({ path: draft.path, name: `the copy of ${database}`, journalMode: 'delete' });
  draft.setOwner();
  draft.moveIntoPlace({ mayReplace: isForced });
  return contents;
}

/** @throws BackupError if `file` is the database itself, or one of the files beside it. */
export function assertOther(database: string, file: string): void {
  const given = statSync(file, { throwIfNoEntry: false });
  if (!given) return;
  for (const path of [database, ...companions.map((suffix) => database + suffix)]) {
    const own = statSync(path, { throwIfNoEntry: false });
    if (own?.ino === given.ino && own.dev === given.dev) throw new BackupError(`${file} is the database itself`);
  }
}

async function copy(database: string, file: string, onProgress: SqliteBackup['onProgress']): Promise<void> {
  const source = new DatabaseSync(`${pathToFileURL(database)}?mode=rw`, { timeout: busyTimeoutMs });
  try {
    // Without one transaction around all steps, SQLite begins again after each commit of a server.
    source.exec('pragma query_only = on; begin; select 1 from sqlite_schema limit 1');
    await backup(source, file, {
      rate: pagesPerStep,
      progress: ({ totalPages, remainingPages }) =>
        onProgress({ copiedPages: totalPages - remainingPages, totalPages }),
    });
  } finally {
    source.close();
  }
}

function explain(error: unknown, file: string): unknown {
  if (!(error instanceof Error && 'errcode' in error)) return error;
  const reason = isDiskFull(file) ? 'the disk is full' : error.message;
  return new BackupError(`${file} could not be written: ${reason}`, { cause: error });
}
