import { setTimeout as wait } from 'node:timers/promises';
import type { Database, Work } from '../data/database.ts';
import { trimEvents } from '../data/events.ts';
import { deleteEndedAttempts } from '../data/sign-in-attempts.ts';
import type { Retention } from './feed/feed.ts';

const everyMs = 60_000;
const stepLength = 500;
const pauseMs = 20;
const hourMs = 3_600_000;

export interface Trimming {
  stop(): Promise<void>;
}

/**
 * Deletes events past the retention, and windows of sign-in attempts that have ended. It runs in the background, in small
 * steps that delay no other transaction.
 */
export function startTrimming(database: Database, retention: Retention, onError: (error: unknown) => void): Trimming {
  let isStopping = false;
  let running = Promise.resolve();
  /** `deleteStep` deletes up to `stepLength` rows, and returns their number. */
  const repeat = async (deleteStep: Work<number>) => {
    for (;;) {
      const deleted = await database.transaction(deleteStep);
      if (deleted < stepLength || isStopping) return;
      await wait(pauseMs);
    }
  };
  const trim = async () => {
    const now = Date.now();
    const before = now - retention.hours * hourMs;
    await repeat((db) => trimEvents(db, { before, count: retention.count, limit: stepLength }));
    await repeat((db) => deleteEndedAttempts(db, now, stepLength));
  };
  const timer = setInterval(() => {
    running = running.then(trim).catch(onError);
  }, everyMs).unref();
  return {
    async stop() {
      isStopping = true;
      clearInterval(timer);
      await running;
    },
  };
}
