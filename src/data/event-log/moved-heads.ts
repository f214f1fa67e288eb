import { sql } from 'kysely';
import type { Db } from '../database/database.ts';
import { dialectOf } from '../sql/sql-dialect.ts';
import type { LogPosition } from './events.ts';

const logs = {
  rooms: sql`rooms on rooms."id" = known.value ->> 0 and "deletedAt" is null`,
  users: sql`"userLogs" on "userLogs"."userId" = known.value ->> 0`,
};

/**
 * The heads of the logs that are not at these positions any more, by room or user, in one query that returns no other log;
 * undefined for a room that is deleted. A user without events is at number 0.
 */
export async function findMovedHeads(
  db: Db,
  of: keyof typeof logs,
  heads: Iterable<readonly [id: string, LogPosition]>,
): Promise<Map<string, LogPosition | undefined>> {
  const known = Array.from(heads, ([id, { seq, mark }]) => [id, seq, mark]);
  const none = sql.lit(of === 'rooms' ? -1 : 0);
  const { rows } = await sql<{ id: string; head: number | null; headMark: number | null }>`
    select known.value ->> 0 as "id", "head", "headMark"
    from ${dialectOf(db).elementsOf(JSON.stringify(known))} as known left join ${logs[of]}
    where coalesce("head", ${none}) <> cast(known.value ->> 1 as bigint)
      or coalesce("headMark", ${none}) <> cast(known.value ->> 2 as bigint)
  `.execute(db);
  return new Map(
    rows.map(({ id, head, headMark }) => [
      id,
      head === null || headMark === null ? undefined : { seq: head, mark: headMark },
    ]),
  );
}
