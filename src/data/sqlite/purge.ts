import type { SqliteWriter } from './writer.ts';

/** Copies the write-ahead log, which still contains erased data, into the database and truncates it. */
export class Purge {
  readonly #writer: SqliteWriter;
  #isDue = false;
  /** Only one truncation runs at a time, because each waits for its turn to write. */
  #running: Promise<void> | undefined;

  constructor(writer: SqliteWriter) {
    this.#writer = writer;
  }

  /**
   * Never fails and never waits for readers: an unfinished purge stays due. The erasure itself is already committed.
   */
  async run(): Promise<void> {
    // A truncation that already runs may have read the log before the latest erasure.
    await this.#running;
    this.#isDue = true;
    await this.runIfDue();
  }

  async runIfDue(): Promise<void> {
    if (!this.#isDue) return;
    this.#running ??= this.#truncate();
    await this.#running;
  }

  async #truncate(): Promise<void> {
    this.#isDue = !(await this.#writer.truncateLog().catch(() => false));
    this.#running = undefined;
  }
}
