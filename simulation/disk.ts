import { copyFileSync, statSync, truncateSync } from 'node:fs';

/** The database file that all nodes share, and how much of it a loss of power would leave. */
export class Disk {
  path: string;
  /** The length of its write-ahead log up to which it was flushed. */
  #durableBytes = 0;
  /** No flush ends before this time: one that takes long keeps the later ones waiting. */
  busyUntil = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** Begins a flush. Returns a function that ends it: what was written before it began is durable then. */
  flush(): () => void {
    const { path } = this;
    const { size } = statSync(`${path}-wal`);
    return () => {
      if (path === this.path) this.#durableBytes = Math.max(this.#durableBytes, size);
    };
  }

  /** Goes on with a copy of what is durable. No connection may have copied its write-ahead log into the database. */
  losePower(copy: string): void {
    copyFileSync(this.path, copy);
    copyFileSync(`${this.path}-wal`, `${copy}-wal`);
    truncateSync(`${copy}-wal`, this.#durableBytes);
    this.path = copy;
  }
}
