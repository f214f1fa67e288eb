import type { SqliteWriter } from './writer.ts';

/** Copies the write-ahead log, which still holds what was erased, into the database and truncates it. */
export class Purge {
  readonly #writer: SqliteWriter;
  #isDue = false;
  /** One at a time: each waits for its turn to write. */
  #running: Promise<void> | undefined;

  constructor(writer: SqliteWriter) {
    this.#writer = writer;
  }

  /** Never fails, and never waits for readers: what it cannot do now stays due. What was erased is committed already. */
  async run(): Promise<void> {
    // One that runs already may have read the log before what is to be erased now.
    await this.#running;
    this.#isDue = true;
    await this.runWhereDue();
  }

  async runWhereDue(): Promise<void> {
    if (!this.#isDue) return;
    this.#running ??= this.#truncate();
    await this.#running;
  }

  async #truncate(): Promise<void> {
    this.#isDue = !(await this.#writer.truncateLog().catch(() => false));
    this.#running = undefined;
  }
}
