import { addAbortListener } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { Channel } from '../common/channel.ts';
import { CoalescedWork } from '../common/coalesced-work.ts';

const everyMs = 60_000;
const retryMs = 1_000;

/** Work that runs every minute and when it is started, and again after a second if it has failed. */
export class BackgroundWork {
  readonly #stopping = new AbortController();
  readonly #timer = setInterval(() => this.start(), everyMs).unref();
  readonly #work: CoalescedWork;

  /** Of the workers of `parent` only one does the work of this name at a time. */
  constructor(
    name: string,
    work: (signal: AbortSignal) => Promise<void>,
    onError: (error: unknown) => void,
    parent?: Channel,
  ) {
    const { signal } = this.#stopping;
    this.#work = new CoalescedWork(async () => {
      if (parent) await lock(parent, name, signal);
      try {
        if (!signal.aborted) await work(signal);
      } catch (error) {
        // Such as a lock that was not free in time.
        onError(error);
        this.start();
        await wait(retryMs, undefined, { ref: false, signal }).catch(() => {});
      } finally {
        void parent?.ask('unlock', name);
      }
    });
  }

  start(): void {
    void this.#work.request();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort();
    await this.#work.running;
  }
}

/** A worker that ends releases its locks. */
async function lock(parent: Channel, name: string, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  using _ = addAbortListener(signal, () => resolve());
  await Promise.race([parent.ask('lock', name), promise]);
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
