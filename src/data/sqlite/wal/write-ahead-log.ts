import { setTimeout as sleep } from 'node:timers/promises';
import type { Histogram } from '../../../histogram.ts';
import { DatabaseUnavailable } from '../../database.ts';
import { SqliteBusy } from '../errors.ts';
import type { SqliteHealth } from '../health.ts';
import { LogFlush } from './flush.ts';
import { CheckpointThread } from './thread.ts';
import type { CheckpointCommand, CheckpointWorkerData } from './worker.ts';

/*
 * Sizes of the log, in pages of 4 KiB. A flush of the log waits while the disk takes the pages of a checkpoint, so few are copied
 * at a time. While others write, the log begins again rarely, because they wait for it.
 */
const copyPages = 256;
const restartPages = 4_000;
/** By how much it may grow while it should begin again. */
const sparePages = 12_000;
/** The maximum time for which new snapshots wait so that the log can begin again. */
const maxPauseMs = 500;
const retryMs = 2;

interface LogParts extends CheckpointWorkerData {
  health: SqliteHealth;
  /** Reads the number of pages in the log. */
  countPages: () => number;
  /** Flushes the database file. */
  flushDatabase: () => Promise<void>;
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
  readonly #flush: LogFlush;
  #thread: CheckpointThread | undefined;
  #pages = 0;
  /** The sizes at which it is next copied, and begins again. */
  #copyAt = copyPages;
  #restartAt = restartPages;
  #checkpoint: Promise<void> | undefined;
  #isCopying = false;
  /** Settles when new snapshots may begin. */
  #pause: Promise<void> | undefined;

  constructor(parts: LogParts) {
    this.#parts = parts;
    this.#flush = new LogFlush(parts.log, {
      durations: parts.flushes,
      onFault: (fault) => parts.health.noteLogFault(fault.message),
    });
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

  /** Waits for the running flush, at most for `maxMs`; but to its end if it takes so long that the disk may have failed. */
  waitForFlush(maxMs: number): Promise<void> {
    return this.#flush.waitFor(maxMs);
  }

  /** Call it after each commit. */
  checkpointIfDue(betweenGroups: BetweenGroups): void {
    this.#updatePages();
    if (this.#pages < this.#copyAt) return;
    this.#checkpoint ??= this.#runCheckpoint(betweenGroups).finally(() => {
      this.#checkpoint = undefined;
    });
  }

  /** Copies the log into the database file and truncates it; false while a reader or another process needs it. */
  truncate(): Promise<boolean> {
    this.#parts.health.assertWritable();
    return this.#send('truncate');
  }

  /** After a failed flush or checkpoint: the log is written again, flushed, copied and truncated. */
  async rescue(): Promise<void> {
    if (!(await this.#send('rescue'))) return;
    this.#flush.reset();
    this.#parts.health.noteRescue();
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
      const restart = () => betweenGroups(() => this.#send('restart'));
      if (await restart()) return;
      await this.#retryWithoutNewSnapshots(restart);
      // A log that a reader still needs has not begun again.
      this.#restartAt = this.#pages + restartPages;
    } catch (error) {
      if (!(error instanceof SqliteBusy)) this.#parts.health.noteLogFault(reasonOf(error));
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
      const isCopied = await this.#send('copy');
      // SQLite would do it while the log begins again, and the writers would wait.
      if (!isCopied) await this.#parts.flushDatabase();
    } finally {
      this.#isCopying = false;
    }
  }

  #send(command: CheckpointCommand): Promise<boolean> {
    this.#thread ??= new CheckpointThread(this.#parts, () => {
      this.#thread = undefined;
    });
    return this.#thread.send(command);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof DatabaseUnavailable ? error.reason : String(error);
}
