import { fsyncSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { runCommands } from '../threads/command-worker.ts';

/* Runs the checkpoints of the write-ahead log in a thread of its own, because they wait for the disk. */

export interface CheckpointWorkerData {
  url: string;
  /** Of the database file, opened before anything was written: the system reports each failed write once to each descriptor. */
  descriptor: number;
}

/** `open`: opens the files, so that a failed write is also reported to SQLite from then on. */
export type CheckpointCommand = 'open' | 'passive' | 'restart' | 'truncate';

/* https://www.sqlite.org/rescode.html */
const sqliteBusy = 5;
const sqliteFlushFailed = 1034;

const { url, descriptor } = workerData as CheckpointWorkerData;

runCommands(open, (database, command: CheckpointCommand) => command !== 'open' && checkpoint(database, command));

function open(): DatabaseSync {
  // Writers wait for this thread, and readers may wait for these writers: it never waits for a lock.
  const opened = new DatabaseSync(url, { timeout: 0 });
  opened.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0');
  return opened;
}

/**
 * Others may write, or run checkpoints, meanwhile. SQLite does not copy a part a second time, and flushes the database file
 * only if it has copied the whole log. So each part, also that of another process, is flushed before the next one is copied.
 *
 * Returns whether the whole log, as it is now, is in the flushed database file; it is not if another connection needs it.
 */
function checkpoint(database: DatabaseSync, mode: string): boolean {
  flushDatabase();
  const isBusy = run(database, mode).busy !== 0;
  flushDatabase();
  const { busy, log, checkpointed } = run(database, 'noop');
  if (isBusy || busy !== 0 || log !== checkpointed) return false;
  // The next write begins the log again and waits for a flush: better here than on the event loop.
  beginLog(database);
  return true;
}

function flushDatabase(): void {
  try {
    fsyncSync(descriptor);
  } catch (error) {
    throw Object.assign(error as Error, { errcode: sqliteFlushFailed });
  }
}

/** The numbers of frames in the log, and of those that are in the database file. */
interface Progress {
  busy: number;
  log: number;
  checkpointed: number;
}

/** https://www.sqlite.org/pragma.html#pragma_wal_checkpoint */
function run(database: DatabaseSync, mode: string): Progress {
  return database.prepare(`pragma wal_checkpoint(${mode})`).get() as unknown as Progress;
}

/**
 * Writes the first page of the log that begins again: SQLite flushes its header then, and without this write the server
 * would wait for that flush.
 */
function beginLog(database: DatabaseSync): void {
  try {
    const id = database.prepare('pragma user_version').get()?.['user_version'];
    database.exec(`pragma user_version = ${id}`);
  } catch (error) {
    // Another connection writes: its commit begins the log again.
    if ((error as { errcode?: number }).errcode !== sqliteBusy) throw error;
  }
}
