import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Db } from '../database/database.ts';
import type { Tables } from '../tables.ts';
import { dialectOf } from './sql-dialect.ts';

type Table = keyof Tables;

/** Deletes up to `limit` rows that a query of the table finds, and returns their number. */
export async function deleteSome<T extends Table>(db: Db, table: T, found: Rows<T>, limit: number): Promise<number> {
  const query = db.deleteFrom(table as Table).where(isAmong(db, table, found, limit));
  return Number((await query.executeTakeFirstOrThrow()).numDeletedRows);
}

/** Whether a query finds any row. */
export async function hasRows(found: SelectQueryBuilder<Tables, Table, object>): Promise<boolean> {
  return (await found.select(sql`1`.as('one')).limit(1).execute()).length > 0;
}

type Rows<T extends Table> = SelectQueryBuilder<Tables, T, object>;

/**
 * Whether a row is among the first `limit` rows that a query of its table finds. Rows are compared by their place in the
 * table. By keys, PostgreSQL could read the whole table, because its plan must serve any number of keys.
 */
export function isAmong<T extends Table>(db: Db, table: T, found: Rows<T>, limit: number): RawBuilder<boolean> {
  const dialect = dialectOf(db);
  const place = sql.ref(`${table}.${dialect.place}`);
  return dialect.isPlaceAmong(place, found.select(place.as('place')).limit(limit));
}
