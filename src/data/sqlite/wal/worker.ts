import { closeSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/*
 * Runs the checkpoints of the write-ahead log in a thread of its own, because they wait for the disk. It imports nothing
 * of the program, so that it starts fast.
 */

export interface CheckpointWorkerData {
  url: string;
  /** The path of the write-ahead log. */
  log: string;
}

export type CheckpointCommand = 'copy' | 'restart' | 'truncate' | 'rescue' | 'close';

export interface CheckpointReply {
  /** Whether the whole log, as it was at the reply, is in the flushed database file; it is not if another connection needs it. */
  isCopied: boolean;
  error?: { message: string; errcode?: number };
}

const sqliteBusy = 5;
const chunkBytes = 65_536;

const { url, log } = workerData as CheckpointWorkerData;
// Writers wait for this thread, and readers may wait for these writers: it never waits for a lock.
const database = new DatabaseSync(url, { timeout: 0 });
database.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0');

const commands: Record<CheckpointCommand, () => boolean> = {
  /** Copies the log into the database while others write. */
  copy() {
    checkpoint('passive');
    // If nobody has written meanwhile, the next write begins the log again and waits for a flush: better here than on the event loop.
    return checkpoint('noop') && beginLog();
  },
  restart: () => checkpoint('restart') && beginLog(),
  truncate: () => checkpoint('truncate') && beginLog(),
  rescue() {
    rewriteLog();
    return checkpoint('truncate') && beginLog();
  },
  close() {
    database.close();
    parentPort?.close();
    return true;
  },
};

parentPort?.on('message', (command: CheckpointCommand) => parentPort?.postMessage(run(command)));

function run(command: CheckpointCommand): CheckpointReply {
  try {
    return { isCopied: commands[command]() };
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number };
    return { isCopied: false, error: { message, ...(errcode !== undefined && { errcode }) } };
  }
}

function checkpoint(mode: 'noop' | 'passive' | 'restart' | 'truncate'): boolean {
  const row = database.prepare(`pragma wal_checkpoint(${mode})`).get();
  return row?.['busy'] === 0 && row['log'] === row['checkpointed'];
}

/** SQLite flushes the header of a log that begins again. Without this write the server would wait for that flush. */
function beginLog(): boolean {
  try {
    inTransaction(() => {
      const id = database.prepare('pragma user_version').get()?.['user_version'];
      database.exec(`pragma user_version = ${id}`);
    });
  } catch (error) {
    // Another connection writes: its commit begins the log again.
    if ((error as { errcode?: number }).errcode !== sqliteBusy) throw error;
  }
  return true;
}

/**
 * Writes the log a second time. After a failed flush, pages that are not on the disk count as written, so that no later
 * flush would write them; and a checkpoint of a log with holes could not be repeated after a loss of power.
 */
function rewriteLog(): void {
  inTransaction(() => {
    const descriptor = openSync(log, 'r+');
    try {
      const chunk = Buffer.alloc(chunkBytes);
      for (let offset = 0; ; ) {
        const length = readSync(descriptor, chunk, 0, chunkBytes, offset);
        if (length === 0) break;
        offset += writeSync(descriptor, chunk, 0, length, offset);
      }
      fdatasyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  });
}

/** Keeps other connections from writing. */
function inTransaction(work: () => void): void {
  database.exec('begin immediate');
  try {
    work();
    database.exec('commit');
  } catch (error) {
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}
