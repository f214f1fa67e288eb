import { setTimeout as wait } from 'node:timers/promises';

/** Changes about `limit` rows in one transaction. Resolves with true if no rows remain. */
export type Step = (limit: number) => Promise<boolean>;

/** The time that a step should take. On SQLite it delays everything else in the process. */
const stepMs = 2;
/** The pause after a step, as a multiple of the time that it took. */
const pauseRatio = 2;
const maxPauseMs = 1_000;
const lengths = { first: 16, min: 16, max: 512 };

/**
 * Repeats a step until no rows remain. Others write and read between the steps, so that work of any size delays them
 * little.
 */
export async function runInSteps(step: Step, signal: AbortSignal): Promise<void> {
  let limit = lengths.first;
  while (!signal.aborted) {
    const startedAt = performance.now();
    if (await step(limit)) return;
    const tookMs = performance.now() - startedAt;
    limit = tookMs > stepMs ? Math.max(lengths.min, limit / 2) : Math.min(lengths.max, limit * 2);
    await wait(Math.min(pauseRatio * tookMs, maxPauseMs));
  }
}
