import type { Selectable } from 'kysely';
import type { Db } from '../database/database.ts';
import { deleteSome } from '../sql/some-rows.ts';
import type { Tables } from '../tables.ts';

/** The window of a key after a charge. */
export type AttemptWindow = Pick<Selectable<Tables['signInAttempts']>, 'attempts' | 'endsAt'>;

/**
 * Counts an attempt in the present window of a key; a window begins with the first attempt after the end of the previous
 * window. If another node's clock is ahead, or this clock was set back, the window ends earlier: never later than it
 * would if it began now.
 */
export async function chargeAttempt(db: Db, key: string, windowMs: number): Promise<AttemptWindow> {
  const now = Date.now();
  return db
    .insertInto('signInAttempts')
    .values({ key, attempts: 1, endsAt: now + windowMs })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((eb) => {
        const hasEnded = eb('signInAttempts.endsAt', '<=', now);
        const endsTooLate = eb('signInAttempts.endsAt', '>', eb.ref('excluded.endsAt'));
        const increased = eb('signInAttempts.attempts', '+', 1);
        return {
          attempts: eb.case().when(hasEnded).then(eb.ref('excluded.attempts')).else(increased).end(),
          endsAt: eb
            .case()
            .when(eb.or([hasEnded, endsTooLate]))
            .then(eb.ref('excluded.endsAt'))
            .else(eb.ref('signInAttempts.endsAt'))
            .end(),
        };
      }),
    )
    .returning(['attempts', 'endsAt'])
    .executeTakeFirstOrThrow();
}

/** Takes one attempt back, if its window has not ended. */
export async function refundAttempt(db: Db, key: string): Promise<void> {
  await db
    .updateTable('signInAttempts')
    .set((eb) => ({ attempts: eb('attempts', '-', 1) }))
    .where('key', '=', key)
    .where('endsAt', '>', Date.now())
    .where('attempts', '>', 0)
    .execute();
}

/** Deletes up to `limit` windows that have ended, and returns their number. */
export async function deleteEndedAttempts(db: Db, now: number, limit: number): Promise<number> {
  return deleteSome(db, 'signInAttempts', db.selectFrom('signInAttempts').where('endsAt', '<=', now), limit);
}
