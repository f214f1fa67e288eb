import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup } from 'node:sqlite';
import { type BackupContents, BackupError, type Progress } from '../../database/backup.ts';
import { lastBackup } from '../../database/settings.ts';
import { isDiskFull, openExisting } from '../file.ts';
import { verify } from './contents.ts';
import { companions, Draft } from './draft.ts';

/** 1 MiB: a step takes some milliseconds. */
const pagesPerStep = 256;

export interface SqliteBackup {
  /** The path of the database; a server may use it. */
  database: string;
  /** The path of the backup. */
  file: string;
  /** Whether an existing file may be replaced. */
  isForced: boolean;
  onProgress: (progress: Progress) => void;
  /** Called with the reason if the database cannot be written. The backup is complete nevertheless. */
  onUnrecorded: (reason: string) => void;
}

/**
 * Copies the database into one file: the state of one moment, with all commits before it. The copy is verified before it
 * gets its name, and then the database records when it began. @throws BackupError, or an error of the system if the file cannot be created.
 */
export async function backupSqlite({ database, file, isForced, ...listener }: SqliteBackup): Promise<BackupContents> {
  const beganAt = Date.now();
  if (!existsSync(database)) throw new BackupError(`there is no database ${database}`);
  assertOther(database, file);
  if (!existsSync(dirname(file))) throw new BackupError(`there is no folder ${dirname(file)}`);
  if (existsSync(file) && !isForced) throw new BackupError(`${file} exists already; --force replaces it`);
  using draft = new Draft(file);
  try {
    await copy(database, draft.path, listener.onProgress);
  } catch (error) {
    throw explain(error, file);
  }
  const contents = verify({ path: draft.path, name: `the copy of ${database}`, journalMode: 'delete' });
  draft.setOwner();
  draft.moveIntoPlace({ mayReplace: isForced });
  try {
    record(database, beganAt);
  } catch (error) {
    listener.onUnrecorded((error as Error).message);
  }
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
  using source = openExisting(database);
  // Without one transaction around all steps, SQLite begins again after each commit of a server.
  source.exec('pragma query_only = on; begin; select 1 from sqlite_schema limit 1');
  await backup(source, file, { rate: pagesPerStep, progress: onProgress });
}

/** Writes the time for the metrics of the server, which alone flushes and checkpoints its write-ahead log. @throws an error of SQLite. */
function record(database: string, beganAt: number): void {
  using source = openExisting(database);
  source.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0');
  const sql = 'insert into settings values (?, ?) on conflict do update set "value" = excluded."value"';
  source.prepare(sql).run(lastBackup, String(beganAt));
}

function explain(error: unknown, file: string): unknown {
  if (!(error instanceof Error && 'errcode' in error)) return error;
  const reason = isDiskFull(file) ? 'the disk is full' : error.message;
  return new BackupError(`${file} could not be written: ${reason}`, { cause: error });
}
