import { fsyncSync, openSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { countIntactFrames, rewriteFrames } from './frames.ts';

/*
 * Runs the checkpoints of the write-ahead log in a thread of its own, because they wait for the disk. It imports almost
 * nothing of the program, so that it starts fast.
 */

export interface CheckpointWorkerData {
  url: string;
  /** The path of the write-ahead log. */
  log: string;
  /** The path of its index, which all processes share. */
  index: string;
  /** An open descriptor of the database file. */
  descriptor: number;
}

export type CheckpointCommand = 'copy' | 'restart' | 'truncate' | 'flush' | 'clear index' | 'close' | RescueCommand;

interface RescueCommand {
  type: 'rescue';
  /** The number of frames in the log. */
  frames: number;
}

export interface CheckpointReply {
  /** Whether the whole log, as it was at the reply, is in the flushed database file; it is not if another connection needs it. */
  isCopied: boolean;
  /** Whether the log has fewer frames than it should have. */
  isDamaged?: boolean;
  /** The reason why a part that was copied may not be on the disk. Until the index is cleared SQLite does not copy it again. */
  flushFault?: string;
  error?: { message: string; errcode?: number };
}

const sqliteBusy = 5;
/** The header of the index: https://www.sqlite.org/walformat.html#the_wal_index_header */
const indexHeaderBytes = 136;

const { url, log, index, descriptor } = workerData as CheckpointWorkerData;
let opened: DatabaseSync | undefined;
/** The size, in frames, of the part of the log whose copy is on the disk. */
let flushedFrames = 0;

function run(command: CheckpointCommand): CheckpointReply {
  switch (command) {
    case 'copy':
      // While others write.
      return checkpoint('passive');
    case 'restart':
    case 'truncate':
      return checkpoint(command);
    case 'flush':
      return flushCopiedPart();
    case 'clear index':
      tryToClearIndex();
      return { isCopied: false };
    case 'close':
      opened?.close();
      parentPort?.close();
      return { isCopied: true };
    default:
      return rescue(command);
  }
}

parentPort?.on('message', (command: CheckpointCommand) => parentPort?.postMessage(answer(command)));

function answer(command: CheckpointCommand): CheckpointReply {
  try {
    return run(command);
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number };
    return { isCopied: false, error: { message, ...(errcode !== undefined && { errcode }) } };
  }
}

/** Opened with the first command that needs it: the log of a database that cannot be opened is verified, too. */
function open(): DatabaseSync {
  if (opened) return opened;
  // Writers wait for this thread, and readers may wait for these writers: it never waits for a lock.
  const database = new DatabaseSync(url, { timeout: 0 });
  database.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0');
  opened = database;
  return database;
}

/** Others may write, or run checkpoints, meanwhile. */
function checkpoint(mode: 'passive' | 'restart' | 'truncate'): CheckpointReply {
  const earlier = flushCopiedPart();
  if (earlier.flushFault !== undefined) return earlier;
  const isBusy = runCheckpoint(mode).busy !== 0;
  const reply = flushCopiedPart();
  if (isBusy || !reply.isCopied) return { ...reply, isCopied: false };
  // The next write begins the log again and waits for a flush: better here than on the event loop.
  beginLog();
  return reply;
}

/** The numbers of frames in the log, and of those that are in the database file. */
interface Progress {
  busy: number;
  log: number;
  checkpointed: number;
}

/** https://www.sqlite.org/pragma.html#pragma_wal_checkpoint */
function runCheckpoint(mode: 'noop' | 'passive' | 'restart' | 'truncate'): Progress {
  return open().prepare(`pragma wal_checkpoint(${mode})`).get() as unknown as Progress;
}

/**
 * SQLite flushes the database file only if it has copied the whole log. It does not copy a part a second time, and after a
 * failed flush no later flush would write its pages. So each part, also that of another process, is flushed before a
 * checkpoint copies the next one.
 */
function flushCopiedPart(): CheckpointReply {
  const { busy, log, checkpointed } = runCheckpoint('noop');
  const isCopied = busy === 0 && log === checkpointed;
  if (isCopied) flushedFrames = 0;
  if (isCopied || checkpointed <= 0 || checkpointed === flushedFrames) return { isCopied };
  try {
    fsyncSync(descriptor);
    flushedFrames = checkpointed;
    return { isCopied };
  } catch (error) {
    // Before the next command.
    tryToClearIndex();
    return { isCopied, flushFault: String(error) };
  }
}

/**
 * All connections, also those of other processes, then recover the log: they read it up to the last complete commit, and
 * the next checkpoint copies all of it. Otherwise only a process that opens the database alone does so. Never fails.
 */
function tryToClearIndex(): void {
  try {
    // The commit of another connection would write the header again.
    inTransaction(clearIndex);
  } catch {
    try {
      clearIndex();
    } catch {
      // The process ends all the same.
    }
  }
}

function clearIndex(): void {
  // Closing the descriptor would release the locks of SQLite on the index.
  const file = openSync(index, 'r+');
  writeSync(file, Buffer.alloc(indexHeaderBytes), 0, indexHeaderBytes, 0);
}

/**
 * Writes the first page of the log that begins again: SQLite flushes its header then, and without this write the server
 * would wait for that flush.
 */
function beginLog(): void {
  try {
    inTransaction((database) => {
      const id = database.prepare('pragma user_version').get()?.['user_version'];
      database.exec(`pragma user_version = ${id}`);
    });
  } catch (error) {
    // Another connection writes: its commit begins the log again.
    if ((error as { errcode?: number }).errcode !== sqliteBusy) throw error;
  }
}

/**
 * Writes the log a second time. After a failed flush, pages that are not on the disk count as written: no later flush would
 * write them, and the system may forget them. A checkpoint of a log with holes could not be repeated after a loss of power.
 */
function rescue({ frames }: RescueCommand): CheckpointReply {
  const isDamaged = countIntactFrames(log) < frames || inTransaction(() => rewriteFrames(log)) < frames;
  if (isDamaged) return { isCopied: false, isDamaged };
  const earlier = flushCopiedPart();
  if (earlier.flushFault !== undefined) return earlier;
  reportEarlierFaults();
  return run('copy');
}

/** The system reports a failed write once to each descriptor. All copied parts have been flushed. */
function reportEarlierFaults(): void {
  try {
    fsyncSync(descriptor);
  } catch {
    // It is that of a failed checkpoint, which SQLite repeats.
  }
}

/** Keeps other connections from writing. */
function inTransaction<T>(work: (database: DatabaseSync) => T): T {
  const database = open();
  database.exec('begin immediate');
  try {
    const result = work(database);
    database.exec('commit');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}
