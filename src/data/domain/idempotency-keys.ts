import { type Selectable, sql } from 'kysely';
import type { Db } from '../database/database.ts';
import { deleteSome } from '../sql/some-rows.ts';
import { createStatement } from '../sql/statement.ts';
import type { Tables } from '../tables.ts';

type IdempotencyKeyRow = Selectable<Tables['idempotencyKeys']>;

/** A key that a mutation stores with its change. */
export type IdempotencyClaim = Omit<IdempotencyKeyRow, 'userId' | 'at'>;

type KeyName = Pick<IdempotencyKeyRow, 'userId' | 'key'>;

/** The maximum number of keys of a user. Each further key replaces the oldest. */
const maxKeysOfUser = 1_000;

const insertNew = createStatement((db, row: IdempotencyKeyRow) =>
  db
    .insertInto('idempotencyKeys')
    .values(row)
    .onConflict((conflict) => conflict.columns(['userId', 'key']).doNothing())
    .returning('key'),
);

const selectKey = createStatement((db, { userId, key }: KeyName) =>
  db.selectFrom('idempotencyKeys').select(['hash', 'resultId']).where('userId', '=', userId).where('key', '=', key),
);

/**
 * Stores a key, or returns the row that has it already. While another transaction stores the same key, this waits for
 * its end.
 */
export async function insertIdempotencyKey(
  db: Db,
  row: IdempotencyKeyRow,
): Promise<Pick<IdempotencyKeyRow, 'hash' | 'resultId'> | undefined> {
  const inserted = await insertNew(db, row);
  if (inserted.length > 0) return undefined;
  // Undefined if the row was deleted in between.
  return (await selectKey(db, row))[0] ?? insertIdempotencyKey(db, row);
}

/** Deletes the oldest keys of a user who has more than the maximum, but not the new `key`. */
export const deleteOldestKeys = createStatement(
  // Clocks may differ: the new key is never the oldest.
  (_db, { userId, key }: KeyName) =>
    sql`
      delete from "idempotencyKeys" where "userId" = ${userId} and "key" <> ${key} and "at" <= (
        select "at" from "idempotencyKeys" as newer where "userId" = ${userId}
          order by "at" desc limit 1 offset ${sql.lit(maxKeysOfUser)}
      )`,
);

/** Deletes up to `limit` keys that were stored before a time, and returns their number. */
export async function deleteKeysBefore(db: Db, before: number, limit: number): Promise<number> {
  return deleteSome(db, 'idempotencyKeys', db.selectFrom('idempotencyKeys').where('at', '<', before), limit);
}
