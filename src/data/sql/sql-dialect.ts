import type { DialectAdapter, RawBuilder, SqlBool } from 'kysely';
import type { Db } from '../database/database.ts';

type CountedTable = 'posts' | 'recent' | 'rooms' | 'users' | 'roomMembers' | 'userEvents';

/** How the databases differ, as far as statements and their callers must know. */
export interface SqlDialect {
  /**
   * Counts the rows that a statement reads from a table, whatever it does with them. It must be the first condition, because
   * a row that another condition has refused is not counted.
   */
  countsRows(table: CountedTable): RawBuilder<SqlBool>;
  /** The body of a post. Long bodies count as several rows. */
  countedBody(): RawBuilder<string | null>;
  /** The column with the place of a row in its table. */
  place: 'rowid' | 'ctid';
  /** Whether a place is among those that a query finds. */
  isPlaceAmong(place: RawBuilder<unknown>, places: object): RawBuilder<boolean>;
  /** The elements of a list in JSON, as rows with a column `value`. */
  elementsOf(json: string): RawBuilder<unknown>;
  /** Whether an id is in a list, which is given in JSON: a compiled statement has a fixed number of parameters. */
  isListed(
    id: 'users.id' | 'rooms.id' | 'roomMembers.roomId' | 'roomMembers.userId',
    json: string,
  ): RawBuilder<boolean>;
  /** Is written before a column, so that the database does not use its index. */
  unindexed: RawBuilder<unknown>;
  /** Whether a lateral join is needed to seek once for each row. */
  seeksInLateralJoins: boolean;
  /** Finds the tables whose statistics are out of date; undefined if plans do not depend on them. */
  findStaleTables: RawBuilder<{ name: string }> | undefined;
}

/** Both databases keep their dialect in the adapter that Kysely gets from them. */
export function dialectOf(db: Db): SqlDialect {
  return (db.getExecutor().adapter as DialectAdapter & { sql: SqlDialect }).sql;
}
