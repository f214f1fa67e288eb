import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../database/database.ts';
import { isPostgres } from './dialects.ts';

/*
 * On SQLite a statement runs on the event loop until it has done too much work, and then in a thread. It counts its work
 * with the function `may_read`, whose argument is a number of rows: it stops the statement that may not read so much.
 */

/** A power of two. A call for each row would take a third of the time of a count. */
const rowsPerCall = 64;
/** It takes about as long to read a row as to read this many bytes of a body. */
const bytesPerRow = 100;

type Place = 'posts' | 'recent' | 'rooms' | 'users' | 'roomMembers';

/**
 * Counts the rows that a statement reads from a table, whatever it does with them. It must be the first condition, because
 * a row that another condition has refused is not counted.
 */
export function countsRows(db: Db, table: Place): RawBuilder<SqlBool> {
  if (isPostgres(db)) return sql`true`;
  const row = sql.ref(`${table}.rowid`);
  return sql`(${row} & ${sql.lit(rowsPerCall - 1)} or may_read(${sql.lit(rowsPerCall)}))`;
}

/** The body of a post. Long bodies count as several rows. */
export function countedBody(db: Db): RawBuilder<string | null> {
  const body = sql.ref<string | null>('posts.body');
  if (isPostgres(db)) return body;
  const rows = sql`octet_length(${body}) / ${sql.lit(bytesPerRow)}`;
  return sql`case when ${rows} = 0 or may_read(${rows}) then ${body} end`;
}
