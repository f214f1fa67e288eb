import { setTimeout as wait } from 'node:timers/promises';
import { CoalescedWork } from '../common/coalesced-work.ts';

const everyMs = 60_000;
const retryMs = 1_000;

export type BackgroundWork = ReturnType<typeof createBackgroundWork>;

/** Work that runs every minute and when it is started, and again after a second if it has failed. */
export function createBackgroundWork(work: (signal: AbortSignal) => Promise<void>, onError: (error: unknown) => void) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const start = () => void running.request();
  const running = new CoalescedWork(async () => {
    if (signal.aborted) return;
    try {
      await work(signal);
    } catch (error) {
      // Such as a lock that was not free in time.
      onError(error);
      start();
      await wait(retryMs, undefined, { ref: false, signal }).catch(() => {});
    }
  });
  const timer = setInterval(start, everyMs).unref();
  return {
    start,
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await running.running;
    },
  };
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
