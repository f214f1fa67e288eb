import { sql } from 'kysely';
import type { SqlDialect } from '../sql/sql-dialect.ts';

/*
 * A statement runs on the event loop until it has done too much work, and then in a thread. It counts its work with the
 * function `may_read`, whose argument is a number of rows: it stops the statement that may not read so much.
 */

/** A power of two. A call for each row would take a third of the time of a count. */
const rowsPerCall = 64;
/** It takes about as long to read a row as to read this many bytes of a body. */
const bytesPerRow = 100;

export const sqliteSql: SqlDialect = {
  countsRows(table) {
    const row = sql.ref(`${table}.rowid`);
    return sql`(${row} & ${sql.lit(rowsPerCall - 1)} or may_read(${sql.lit(rowsPerCall)}))`;
  },
  countedBody() {
    const body = sql.ref<string | null>('posts.body');
    const rows = sql`octet_length(${body}) / ${sql.lit(bytesPerRow)}`;
    return sql`case when ${rows} = 0 or may_read(${rows}) then ${body} end`;
  },
  place: 'rowid',
  isPlaceAmong: (place, places) => sql`${place} in (${places})`,
  elementsOf: (json) => sql`json_each(${json})`,
  isListed: (id, json) => sql`${sql.ref(id)} in (select value from json_each(${json}))`,
  unindexed: sql.raw('+'),
  seeksInLateralJoins: false,
  findStaleTables: undefined,
};
