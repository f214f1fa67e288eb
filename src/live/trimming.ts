import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../data/database.ts';
import { trimEvents } from '../data/events.ts';
import type { Retention } from './feed/feed.ts';

const everyMs = 60_000;
const stepLength = 500;
const pauseMs = 20;
const hourMs = 3_600_000;

export interface Trimming {
  stop(): Promise<void>;
}

/** Deletes events past the retention from the log in the background, in small steps that delay no other transaction. */
export function startTrimming(database: Database, retention: Retention, onError: (error: unknown) => void): Trimming {
  let isStopping = false;
  let running = Promise.resolve();
  const trim = async () => {
    const before = Date.now() - retention.hours * hourMs;
    for (;;) {
      const trimmed = await database.transaction((db) =>
        trimEvents(db, { before, count: retention.count, limit: stepLength }),
      );
      if (trimmed < stepLength || isStopping) return;
      await wait(pauseMs);
    }
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
