import { setTimeout as wait } from 'node:timers/promises';

/** Changes some rows in one transaction. Resolves with true if no rows remain. */
export type Step = () => Promise<boolean>;

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
 * Repeats a step until no rows remain. Others write and read between the steps, so that work of any size delays them
 * little.
 */
export async function runInSteps(step: Step, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const startedAt = performance.now();
    if (await step()) return;
    await wait(Math.min(pauseRatio * (performance.now() - startedAt), maxPauseMs));
  }
}
