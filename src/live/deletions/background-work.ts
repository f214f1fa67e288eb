import { setTimeout as wait } from 'node:timers/promises';

const everyMs = 60_000;
const retryMs = 1_000;

/** Work that runs every minute and when it is started, and again after a second if it has failed. */
export class BackgroundWork {
  readonly #work: (signal: AbortSignal) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  readonly #stopping = new AbortController();
  readonly #timer = setInterval(() => this.start(), everyMs).unref();
  #running: Promise<void> | undefined;
  #isDue = false;

  constructor(work: (signal: AbortSignal) => Promise<void>, onError: (error: unknown) => void) {
    this.#work = work;
    this.#onError = onError;
  }

  /** Work that runs already is repeated afterwards, because it may have missed what is to be done now. */
  start(): void {
    if (this.#stopping.signal.aborted) return;
    this.#isDue = true;
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (this.#isDue && !signal.aborted) {
      this.#isDue = false;
      try {
        await this.#work(signal);
      } catch (error) {
        // Such as a lock that was not free in time.
        this.#onError(error);
        this.#isDue = true;
        await wait(retryMs, undefined, { ref: false, signal }).catch(() => {});
      }
    }
    // In the same synchronous step as the last check of `#isDue`, so that no start is missed.
    this.#running = undefined;
  }
}

/**
 * About how many rows a step changes. On SQLite a step blocks the event loop, and the disk must take its pages before it flushes
 * those of others. On PostgreSQL the round trips take longest.
 */
export const rowsPerStep = { sqlite: 8, postgres: 32 };

/** The pause after a step, as a multiple of the time that it took. Deletions share the disk with the posts of clients. */
const pauseRatio = 6;
/** Trimming must keep pace with the clients also while steps wait for a busy database. */
const maxPauseMs = 50;

/**
 * Repeats a step, which changes some rows in one transaction, until it resolves with true: no rows remain. Others write and
 * read between the steps, so that work of any size delays them little.
 */
export async function runInSteps(step: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const startedAt = performance.now();
    if (await step()) return;
    await wait(Math.min(pauseRatio * (performance.now() - startedAt), maxPauseMs));
  }
}
