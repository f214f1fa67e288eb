import { closeSync, fdatasync, openSync } from 'node:fs';
import type { Histogram } from '../../../common/histogram.ts';

/** With two, a commit on a slow disk seldom waits for an earlier flush before its own begins. A third one gained nothing. */
const maxRunning = 2;
/** The disk may have failed if a flush takes longer. */
const lateMs = 100;

interface FlushOptions {
  durations: Histogram;
  /** Ends the process. */
  onFault: (fault: Error) => never;
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
export class WalFlush {
  readonly #options: FlushOptions;
  /** The system reports a failed write once to each descriptor, so no two flushes share one. */
  readonly #freeDescriptors: number[];
  /** In the order of their starts. */
  readonly #running = new Set<RunningFlush>();
  /** Resolves when all flushes that have started have ended. */
  #idle: Promise<void> = Promise.resolve();
  /** The flush that has not started, which further calls of `run` share. */
  #next: Promise<void> | undefined;

  constructor(path: string, options: FlushOptions) {
    this.#options = options;
    this.#freeDescriptors = Array.from({ length: maxRunning }, () => openSync(path, 'r+'));
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
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, maxMs);
    await Promise.race([this.#idle, promise]);
    clearTimeout(timer);
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
      if (fault) this.#options.onFault(fault);
      this.#freeDescriptors.push(descriptor);
      this.#running.delete(flush);
      this.#options.durations.observeSince(flush.startedAt);
      resolve();
    });
    return this.#idle;
  }
}
