import { setTimeout as sleep } from 'node:timers/promises';
import type { Histogram } from '../../../common/histogram.ts';
import type { SqliteFile } from '../file.ts';
import type { SqliteHealth } from '../health.ts';
import { Thread } from '../threads/thread.ts';
import { WalFlush } from './flush.ts';
import type { CheckpointCommand, CheckpointReply, CheckpointWorkerData } from './worker.ts';

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

const program = new URL('./worker.ts', import.meta.url);

interface LogParts {
  file: SqliteFile;
  health: SqliteHealth;
  /** Reads the number of pages in the log. */
  countPages: () => number;
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
  readonly #flush: WalFlush;
  #thread: Thread<CheckpointCommand, CheckpointReply> | undefined;
  #pages = 0;
  /** The size, in pages, at which the log is next copied. */
  #copyAt = copyPages;
  /** The size, in pages, at which the log should begin again. */
  #restartAt = restartPages;
  #checkpoint: Promise<void> | undefined;
  #isCopying = false;
  /** Settles when new snapshots may begin. */
  #pause: Promise<void> | undefined;

  constructor(parts: LogParts) {
    this.#parts = parts;
    const { file, health, flushes } = parts;
    const onFault = (fault: Error) => health.crash(fault.message);
    this.#flush = new WalFlush(file.log, { durations: flushes, onFault });
  }

  /** False while the log is too long and is being copied. */
  get hasSpace(): boolean {
    return this.#pages < this.#restartAt + sparePages || !this.#isCopying;
  }

  /** Wait for it before a snapshot begins. */
  get pause(): Promise<void> | undefined {
    return this.#pause;
  }

  /** Resolves when all earlier commits are durable. */
  flush(): Promise<void> {
    return this.#flush.run();
  }

  /** Waits for the running flushes, at most for `maxMs`; but to their end if one takes so long that the disk may have failed. */
  waitForFlush(maxMs: number): Promise<void> {
    return this.#flush.waitFor(maxMs);
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
    await this.#flush.close();
  }

  /** Never fails. */
  async #runCheckpoint(betweenGroups: BetweenGroups): Promise<void> {
    this.#copyAt = this.#pages + copyPages;
    try {
      await this.#copy();
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
      const pages = this.#parts.countPages();
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
    this.#pause = promise;
    const endsAt = performance.now() + maxPauseMs;
    try {
      while (performance.now() < endsAt && !(await restart())) await sleep(retryMs);
    } finally {
      this.#pause = undefined;
      resolve();
    }
  }

  async #copy(): Promise<void> {
    this.#isCopying = true;
    try {
      await this.#run('passive');
    } finally {
      this.#isCopying = false;
    }
  }

  /** Whether the whole log is in the database file. */
  async #run(command: CheckpointCommand): Promise<boolean> {
    const { file, health } = this.#parts;
    const workerData: CheckpointWorkerData = { url: file.url, descriptor: file.descriptor };
    this.#thread ??= new Thread<CheckpointCommand, CheckpointReply>(program, { workerData }, () => {
      this.#thread = undefined;
    });
    try {
      const thread = this.#thread;
      await thread.run('open');
      // Otherwise SQLite could copy a part of the log whose failed write was reported before its own files were open.
      await this.#flush.run();
      const { isCopied } = await thread.run(command);
      health.noteCheckpoint();
      return isCopied;
    } catch (error) {
      health.noteFailedCheckpoint(error);
      throw error;
    }
  }
}
