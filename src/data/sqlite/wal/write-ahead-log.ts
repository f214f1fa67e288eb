import { closeSync, fdatasync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Histogram } from '../../../common/histogram.ts';
import { DatabaseUnavailable } from '../../database/database.ts';
import type { SqliteConnection } from '../connection.ts';
import type { SqliteFile } from '../file.ts';
import type { SqliteHealth } from '../health.ts';
import { Thread } from '../threads/thread.ts';
import type { CheckpointCommand, CheckpointWorkerData } from './worker.ts';

/*
 * Sizes of the log, in pages of 4 KiB. A flush of the log waits while the disk takes the pages of a checkpoint, so few are copied
 * at a time. While others write, the log begins again rarely, because they wait for three flushes: with 64 MiB instead of 16,
 * the p99 of `createPost` beside 32 writers is 13 ms instead of 19 if a flush takes 5 ms.
 */
const copyPages = 256;
const restartPages = 16_000;
/** The pages that writers may add to a log that should begin again, while a checkpoint copies it. */
const sparePages = 12_000;
/** The maximum time for which new snapshots wait so that the log can begin again. */
const maxPauseMs = 500;
const retryMs = 2;
/** With two, a commit on a slow disk seldom waits for an earlier flush before its own begins. A third one gained nothing. */
const maxRunning = 2;
/** The disk may have failed if a flush takes longer. */
const lateMs = 100;

const program = new URL('./worker.ts', import.meta.url);

interface LogParts {
  file: SqliteFile;
  health: SqliteHealth;
  /** The one that writes. */
  connection: SqliteConnection;
  /** The durations of flushes. */
  flushes: Histogram;
}

/** Runs work while this process does not write. */
export type BetweenGroups = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * The write-ahead log of SQLite. It is flushed after commits, and copied into the database file (a checkpoint) in
 * another thread when it is long.
 */
export class WriteAheadLog {
  readonly #parts: LogParts;
  readonly flush: WalFlush;
  #thread: Thread<CheckpointCommand, boolean> | undefined;
  #pages = 0;
  /** The size, in pages, at which the log is next copied. */
  #copyAt = copyPages;
  /** The size, in pages, at which the log should begin again. */
  #restartAt = restartPages;
  #checkpoint: Promise<void> | undefined;
  #isCopying = false;
  /** Settles when new snapshots may begin. */
  pause: Promise<void> | undefined;

  constructor(parts: LogParts) {
    this.#parts = parts;
    this.flush = new WalFlush(parts);
  }

  /** False while the log is too long and is being copied. */
  get hasSpace(): boolean {
    return this.#pages < this.#restartAt + sparePages || !this.#isCopying;
  }

  /** Call it after each commit, and again after a failed checkpoint. */
  checkpointIfDue(betweenGroups: BetweenGroups): void {
    this.#updatePages();
    if (this.#pages < this.#copyAt && !this.#parts.health.needsCheckpoint) return;
    this.#checkpoint ??= this.#runCheckpoint(betweenGroups).finally(() => {
      this.#checkpoint = undefined;
    });
  }

  /** Copies the log into the database file and truncates it; false while a reader or another process needs it. */
  truncate(): Promise<boolean> {
    this.#parts.health.assertWritable();
    return this.#run('truncate');
  }

  async close(): Promise<void> {
    await this.#checkpoint;
    await this.#thread?.close();
    await this.flush.close();
  }

  /** Never fails. */
  async #runCheckpoint(betweenGroups: BetweenGroups): Promise<void> {
    this.#copyAt = this.#pages + copyPages;
    try {
      this.#isCopying = true;
      await this.#run('passive').finally(() => {
        this.#isCopying = false;
      });
      this.#updatePages();
      if (this.#pages < this.#restartAt) return;
      // Only a few pages are left, for which the writers wait.
      const restart = () => betweenGroups(() => this.#run('restart'));
      if (await restart()) return;
      await this.#retryWithoutNewSnapshots(restart);
      // A log that a reader still needs has not begun again.
      this.#restartAt = this.#pages + restartPages;
    } catch {
      // `health` has received it.
    } finally {
      this.#updatePages();
    }
  }

  /** Never fails, because it runs after a commit. */
  #updatePages(): void {
    try {
      const pages = countPages(this.#parts.connection);
      if (pages < this.#pages) {
        this.#copyAt = pages + copyPages;
        this.#restartAt = pages + restartPages;
      }
      this.#pages = pages;
    } catch {
      // Inside a transaction the number cannot be read; the next commit reads it.
    }
  }

  /** The log cannot begin again while a snapshot needs it, and on a busy server there is always one. */
  async #retryWithoutNewSnapshots(restart: () => Promise<boolean>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.pause = promise;
    const endsAt = performance.now() + maxPauseMs;
    try {
      while (performance.now() < endsAt && !(await restart())) await sleep(retryMs);
    } finally {
      this.pause = undefined;
      resolve();
    }
  }

  /** Whether the whole log is in the database file. */
  async #run(command: CheckpointCommand): Promise<boolean> {
    const { file, health } = this.#parts;
    const workerData: CheckpointWorkerData = { url: file.url, descriptor: file.descriptor };
    this.#thread ??= new Thread<CheckpointCommand, boolean>(program, { workerData }, () => {
      this.#thread = undefined;
    });
    try {
      const thread = this.#thread;
      await thread.run('open');
      // Otherwise SQLite could copy a part of the log whose failed write was reported before its own files were open.
      await this.flush.run();
      const isCopied = await thread.run(command);
      health.noteCheckpoint();
      return isCopied;
    } catch (error) {
      health.noteFailedCheckpoint(error);
      throw error;
    }
  }
}

/** The number of pages in the write-ahead log. @throws DatabaseUnavailable if SQLite cannot tell. */
function countPages(connection: SqliteConnection): number {
  const { rows } = connection.execute('pragma wal_checkpoint(noop)');
  const { log } = rows[0] as { log: number };
  if (log < 0) throw new DatabaseUnavailable('the length of the write-ahead log cannot be read');
  return log;
}

interface RunningFlush {
  /** By `performance.now()`. */
  startedAt: number;
  end: Promise<void>;
}

/**
 * Flushes the write-ahead log to the disk, in threads of libuv's pool. A flush that fails ends the process, because a later
 * one that succeeds proves nothing. The descriptors are its own, because SQLite locks other files only: closing a descriptor
 * of a locked file would release the lock.
 */
class WalFlush {
  readonly #parts: LogParts;
  /** The system reports a failed write once to each descriptor, so no two flushes share one. */
  readonly #freeDescriptors: number[];
  /** In the order of their starts. */
  readonly #running = new Set<RunningFlush>();
  /** Resolves when all flushes that have started have ended. */
  #idle: Promise<void> = Promise.resolve();
  /** The flush that has not started, which further calls of `run` share. */
  #next: Promise<void> | undefined;

  constructor(parts: LogParts) {
    this.#parts = parts;
    this.#freeDescriptors = Array.from({ length: maxRunning }, () => openSync(parts.file.log, 'r+'));
  }

  /** Resolves after a flush that began after this call, and after all earlier flushes. Calls that wait at the same time share one. */
  run(): Promise<void> {
    this.#next ??= this.#waitForDescriptor().then(() => this.#flush());
    return this.#next;
  }

  /** Waits for the running flushes: at most for `maxMs`, but to their end if one has already taken longer than `lateMs`. */
  async waitFor(maxMs: number): Promise<void> {
    const [oldest] = this.#running;
    if (!oldest) return;
    if (performance.now() > oldest.startedAt + lateMs) return this.#idle;
    await Promise.race([this.#idle, sleep(maxMs)]);
  }

  async close(): Promise<void> {
    await this.#next;
    await this.#idle;
    for (const descriptor of this.#freeDescriptors) closeSync(descriptor);
  }

  async #waitForDescriptor(): Promise<void> {
    if (this.#freeDescriptors.length === 0) await Promise.race(Array.from(this.#running, ({ end }) => end));
  }

  #flush(): Promise<void> {
    this.#next = undefined;
    const descriptor = this.#freeDescriptors.pop() as number;
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const flush: RunningFlush = { startedAt: performance.now(), end };
    this.#running.add(flush);
    this.#idle = this.#idle.then(() => end);
    fdatasync(descriptor, (fault) => {
      if (fault) this.#parts.health.crash(fault.message);
      this.#freeDescriptors.push(descriptor);
      this.#running.delete(flush);
      this.#parts.flushes.observeSince(flush.startedAt);
      resolve();
    });
    return this.#idle;
  }
}
