import { closeSync, fdatasync, openSync } from 'node:fs';
import type { Histogram } from '../../../histogram.ts';

/** The disk may have failed if a flush takes longer. */
const lateMs = 100;

interface FlushOptions {
  durations: Histogram;
  onFault: (fault: Error) => void;
}

/**
 * Flushes the write-ahead log to the disk, in a thread of libuv's pool. The descriptor is its own, because SQLite locks
 * other files only: closing a descriptor of a locked file would release the lock.
 */
export class LogFlush {
  readonly #descriptor: number;
  readonly #options: FlushOptions;
  /** By `performance.now()`; undefined while no flush runs. */
  #startedAt: number | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  /** The system reports a failed write only once: a flush that succeeds afterwards proves nothing. */
  #fault: Error | undefined;

  constructor(path: string, options: FlushOptions) {
    this.#descriptor = openSync(path, 'r+');
    this.#options = options;
  }

  /** Resolves after a flush that began after this call. Calls that wait at the same time share one. */
  run(): Promise<void> {
    this.#next ??= this.#runAfterPrevious();
    return this.#next;
  }

  /** Waits for the running flush: at most for `maxMs`, but to its end if it has already taken longer than `lateMs`. */
  async waitFor(maxMs: number): Promise<void> {
    if (this.#startedAt === undefined) return;
    const idle = this.#idle();
    if (performance.now() > this.#startedAt + lateMs) return idle;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, maxMs);
    await Promise.race([idle, promise]);
    clearTimeout(timer);
  }

  /** Call it when the write-ahead log is on the disk although a flush failed. */
  reset(): void {
    this.#fault = undefined;
  }

  async close(): Promise<void> {
    await this.#next?.catch(() => {});
    await this.#idle();
    closeSync(this.#descriptor);
  }

  async #idle(): Promise<void> {
    await this.#running?.catch(() => {});
  }

  async #runAfterPrevious(): Promise<void> {
    await this.#idle();
    this.#running = this.#next;
    this.#next = undefined;
    if (this.#fault) throw this.#fault;
    await this.#flush();
  }

  #flush(): Promise<void> {
    const start = performance.now();
    this.#startedAt = start;
    return new Promise((resolve, reject) => {
      fdatasync(this.#descriptor, (error) => {
        this.#startedAt = undefined;
        this.#options.durations.observeSince(start);
        if (!error) return resolve();
        this.#fault = error;
        this.#options.onFault(error);
        reject(error);
      });
    });
  }
}
