import { closeSync, fdatasync, openSync } from 'node:fs';

/**
 * Flushes the write-ahead log to the disk, in a thread of libuv's pool. The descriptor is its own, because SQLite locks
 * other files only: closing a descriptor of a locked file would release the lock.
 */
export class LogFlush {
  readonly #descriptor: number;
  readonly #onFault: (fault: Error) => void;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  /** The system reports a failed write only once: a flush that succeeds afterwards proves nothing. */
  #fault: Error | undefined;

  constructor(path: string, onFault: (fault: Error) => void) {
    this.#descriptor = openSync(path, 'r+');
    this.#onFault = onFault;
  }

  /** Resolves after a flush that began after this call. Calls that wait at the same time share one. */
  run(): Promise<void> {
    this.#next ??= this.#runAfterPrevious();
    return this.#next;
  }

  /** Settles when no flush runs. */
  async idle(): Promise<void> {
    await this.#running?.catch(() => {});
  }

  /** Call it when the write-ahead log is on the disk although a flush failed. */
  reset(): void {
    this.#fault = undefined;
  }

  async close(): Promise<void> {
    await this.#next?.catch(() => {});
    await this.idle();
    closeSync(this.#descriptor);
  }

  async #runAfterPrevious(): Promise<void> {
    await this.idle();
    this.#running = this.#next;
    this.#next = undefined;
    if (this.#fault) throw this.#fault;
    await this.#flush();
  }

  #flush(): Promise<void> {
    return new Promise((resolve, reject) => {
      fdatasync(this.#descriptor, (error) => {
        if (!error) return resolve();
        this.#fault = error;
        this.#onFault(error);
        reject(error);
      });
    });
  }
}
