import { type Selectable, sql } from 'kysely';
import type { Db } from '../database/database.ts';
import { deleteSome } from '../sql/some-rows.ts';
import { firstOrThrow } from '../sql/statement.ts';
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
  const window = sql.table('signInAttempts');
  const { rows } = await sql<AttemptWindow>`
    insert into ${window} ("key", "attempts", "endsAt") values (${key}, 1, ${now + windowMs})
      on conflict ("key") do update set
        "attempts" = case when ${window}."endsAt" <= ${now} then 1 else ${window}."attempts" + 1 end,
        "endsAt" = case when ${window}."endsAt" <= ${now} then excluded."endsAt"
          when ${window}."endsAt" > excluded."endsAt" then excluded."endsAt" else ${window}."endsAt" end
      returning "attempts", "endsAt"`.execute(db);
  return firstOrThrow(rows);
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
