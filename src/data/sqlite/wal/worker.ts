import { fsyncSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/*
 * Runs the checkpoints of the write-ahead log in a thread of its own, because they wait for the disk. It imports nothing of
 * the program, so that it starts fast.
 */

export interface CheckpointWorkerData {
  url: string;
  /** Of the database file, opened before anything was written: the system reports each failed write once to each descriptor. */
  descriptor: number;
}

/** `open`: opens the files, so that a failed write is also reported to SQLite from then on. */
export type CheckpointCommand = 'open' | 'passive' | 'restart' | 'truncate';

export interface CheckpointReply {
  /** Whether the whole log, as it was at the reply, is in the flushed database file; it is not if another connection needs it. */
  isCopied: boolean;
  error?: { message: string; errcode?: number };
}

/* https://www.sqlite.org/rescode.html */
const sqliteBusy = 5;
const sqliteFlushFailed = 1034;

const { url, descriptor } = workerData as CheckpointWorkerData;
let database: DatabaseSync | undefined;

parentPort?.on('message', (command: CheckpointCommand | 'close') => {
  if (command !== 'close') return parentPort?.postMessage(answer(command));
  database?.close();
  parentPort?.close();
});

function answer(command: CheckpointCommand): CheckpointReply {
  try {
    database ??= open();
    return { isCopied: command !== 'open' && checkpoint(database, command) };
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number };
    return { isCopied: false, error: { message, ...(errcode !== undefined && { errcode }) } };
  }
}

function open(): DatabaseSync {
  // Writers wait for this thread, and readers may wait for these writers: it never waits for a lock.
  const opened = new DatabaseSync(url, { timeout: 0 });
  opened.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0');
  return opened;
}

/**
 * Others may write, or run checkpoints, meanwhile. SQLite does not copy a part a second time, and flushes the database file
 * only if it has copied the whole log. So each part, also that of another process, is flushed before the next one is copied.
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
