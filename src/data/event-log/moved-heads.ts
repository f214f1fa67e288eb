import { sql } from 'kysely';
import type { Db } from '../database/database.ts';
import { dialectOf } from '../sql/sql-dialect.ts';
import type { LogPosition } from './events.ts';

/**
 * The heads of the rooms that are not at these positions any more, in one query that returns no other room; undefined for a
 * room that is deleted.
 */
export async function findMovedHeads(
  db: Db,
  heads: Iterable<readonly [roomId: string, LogPosition]>,
): Promise<Map<string, LogPosition | undefined>> {
  const known = Array.from(heads, ([roomId, { seq, mark }]) => [roomId, seq, mark]);
  const { rows } = await sql<{ roomId: string; head: number | null; headMark: number | null }>`
    select known.value ->> 0 as "roomId", "head", "headMark"
    from ${dialectOf(db).elementsOf(JSON.stringify(known))} as known
    left join "rooms" on "rooms"."id" = known.value ->> 0 and "deletedAt" is null
    where "rooms"."id" is null
      or "head" <> cast(known.value ->> 1 as bigint)
      or "headMark" <> cast(known.value ->> 2 as bigint)
  `.execute(db);
  return new Map(
    rows.map(({ roomId, head, headMark }) => [
      roomId,
      head === null || headMark === null ? undefined : { seq: head, mark: headMark },
    ]),
  );
}
