import type { SqliteWriter } from './sqlite-writer.ts';

/** Copies the write-ahead log, which still holds what was erased, into the database and truncates it. */
export class Purge {
  readonly #writer: SqliteWriter;
  #isDue = false;

  constructor(writer: SqliteWriter) {
    this.#writer = writer;
  }

  /** Never fails, and never waits for readers: what it cannot do now stays due. What was erased is committed already. */
  async run(): Promise<void> {
    this.#isDue = true;
    await this.runWhereDue();
  }

  async runWhereDue(): Promise<void> {
    if (!this.#isDue) return;
    this.#isDue = !(await this.#writer.truncateLog().catch(() => false));
  }
}
