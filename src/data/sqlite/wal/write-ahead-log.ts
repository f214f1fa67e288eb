import { setTimeout as sleep } from 'node:timers/promises';
import type { Histogram } from '../../../histogram.ts';
import { DatabaseUnavailable } from '../../database.ts';
import { SqliteBusy } from '../errors.ts';
import type { SqliteHealth } from '../health.ts';
import { LogFlush } from './flush.ts';
import { CheckpointThread } from './thread.ts';
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

const changesAreLost = 'changes that could not be written to the disk are lost';
const changesMayBeLost = 'changes could not be written to the disk';

interface LogParts extends CheckpointWorkerData {
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
  readonly #flush: LogFlush;
  #thread: CheckpointThread | undefined;
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

  /** Waits for the running flushes, at most for `maxMs`; but to their end if one takes so long that the disk may have failed. */
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
  async truncate(): Promise<boolean> {
    this.#parts.health.assertWritable();
    try {
      return (await this.#run('truncate')).isCopied;
    } catch (error) {
      this.#noteFault(error);
      throw error;
    }
  }

  /** Flushes the part that another connection has copied into the database file. */
  async flushCopiedPart(): Promise<void> {
    await this.#run('flush');
  }

  /** After a failed flush or checkpoint: the log is written again, flushed, and copied as far as no reader needs it. */
  async rescue(): Promise<void> {
    await this.#flush.drain();
    const frames = this.#parts.countPages();
    const { isDamaged } = await this.#run({ type: 'rescue', frames });
    if (isDamaged) {
      // Otherwise another process has begun the log again.
      if (this.#parts.countPages() === frames) await this.#crash(changesAreLost);
      return;
    }
    this.#flush.reset();
    this.#parts.health.noteRescue();
  }

  /** After a failed flush SQLite must not copy the log as it is while the last connection is closed. */
  async close(): Promise<void> {
    await this.#checkpoint;
    if (this.#flush.hasFailed) await this.rescue().catch(() => {});
    if (this.#flush.hasFailed) await this.#crash(changesMayBeLost);
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
      const restart = () => betweenGroups(async () => (await this.#run('restart')).isCopied);
      if (await restart()) return;
      await this.#retryWithoutNewSnapshots(restart);
      // A log that a reader still needs has not begun again.
      this.#restartAt = this.#pages + restartPages;
    } catch (error) {
      this.#noteFault(error);
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

  /**
   * Ends the process without closing the database. Only a recovery of the log reads it up to the last complete commit, and
   * copies all of it. SQLite itself neither verifies a log that it has open, nor copies a part of it twice.
   */
  async #crash(reason: string): Promise<void> {
    this.#parts.health.reportCrash(`${reason}: the process ends, and the next start recovers the database`);
    // If another process has the database open, the next start would not recover it.
    await this.#send('clear index').catch(() => {});
    process.kill(process.pid, 'SIGKILL');
    // The system ignores that signal from the first process of a container.
    process.abort();
  }

  async #copy(): Promise<void> {
    this.#isCopying = true;
    try {
      await this.#run('copy');
    } finally {
      this.#isCopying = false;
    }
  }

  async #run(command: CheckpointCommand): Promise<CheckpointReply> {
    const reply = await this.#send(command);
    if (reply.flushFault !== undefined) await this.#crash(reply.flushFault);
    return reply;
  }

  #noteFault(error: unknown): void {
    if (!(error instanceof SqliteBusy)) this.#parts.health.noteLogFault(reasonOf(error));
  }

  #send(command: CheckpointCommand): Promise<CheckpointReply> {
    this.#thread ??= new CheckpointThread(this.#parts, () => {
      this.#thread = undefined;
    });
    return this.#thread.send(command);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof DatabaseUnavailable ? error.reason : String(error);
}
