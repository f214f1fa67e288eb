import type { Channel } from '../common/channel.ts';
import type { Database, Work } from '../data/database/database.ts';
import { deleteKeysBefore } from '../data/domain/idempotency-keys.ts';
import { deleteEndedAttempts } from '../data/domain/sign-in-attempts.ts';
import { findSurplus, trimByAge, trimRoom } from '../data/event-log/events.ts';
import type { Retention } from '../live/feed/room-log.ts';
import { BackgroundWork, rowsPerStep, runInSteps } from './background-work.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;
const idempotencyKeyHours = 24;
/** How often the number of rows per step doubles during a long run. */
const maxDoublings = 4;

/** Deletes events past the retention, windows of sign-in attempts that have ended, and old idempotency keys. */
export function createTrimming(
  database: Database,
  retention: Retention,
  onError: (error: unknown) => void,
  parent?: Channel,
): BackgroundWork {
  const work = async (signal: AbortSignal) => {
    const now = Date.now();
    const startedAt = performance.now();
    /** It doubles with each minute of a run: events may be added faster than small steps delete them. */
    const findLimit = () => {
      const minutes = Math.floor((performance.now() - startedAt) / minuteMs);
      return rowsPerStep[database.kind] * 2 ** Math.min(minutes, maxDoublings);
    };
    /** `deleteSome` deletes up to `limit` rows, and returns their number. */
    const repeat = (deleteSome: (limit: number) => Work<number>) =>
      runInSteps(async () => {
        const limit = findLimit();
        return (await database.transaction(deleteSome(limit))) < limit;
      }, signal);
    const before = now - retention.hours * hourMs;
    await repeat((limit) => (db) => trimByAge(db, 'roomEvents', before, limit));
    await repeat((limit) => (db) => trimByAge(db, 'userEvents', before, limit));
    for await (const surplus of findSurplus(database.checks, retention.count, signal)) {
      await repeat((limit) => (db) => trimRoom(db, surplus, limit));
    }
    await repeat((limit) => (db) => deleteEndedAttempts(db, now, limit));
    await repeat((limit) => (db) => deleteKeysBefore(db, now - idempotencyKeyHours * hourMs, limit));
  };
  return new BackgroundWork('trimming', work, onError, parent);
}
