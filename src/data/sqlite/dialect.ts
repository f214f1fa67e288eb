import { type SelectModifierNode, SqliteAdapter, SqliteQueryCompiler, sql } from 'kysely';
import type { TableDialect } from '../migrations/migration.ts';
import type { SqlDialect } from '../sql/sql-dialect.ts';

/*
 * A statement runs on the event loop until it has done too much work, and then in a thread. It counts its work with the
 * function `may_read`, whose argument is a number of rows: it stops the statement that may not read so much.
 */

/** A power of two. A call for each row would take a third of the time of a count. */
const rowsPerCall = 64;
/** It takes about as long to read a row as to read this many bytes of a body. */
const bytesPerRow = 100;

/** SQLite has no row locks: a transaction that writes has the whole database for itself. */
class QueryCompilerWithoutRowLocks extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    const isLock = node.modifier === 'SkipLocked' || node.modifier?.startsWith('For');
    if (!isLock) super.visitSelectModifier(node);
  }
}

export const sqliteDialect: SqlDialect = {
  adapter: new SqliteAdapter(),
  compiler: new QueryCompilerWithoutRowLocks(),
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
  integerIn: (json, name) => sql`cast(${json} ->> ${sql.ref(name)} as integer)`,
  unindexed: sql.raw('+'),
  seeksInLateralJoins: false,
  findStaleTables: undefined,
};

export const sqliteTables: TableDialect = {
  text: sql`text`,
  bigint: sql`integer`,
  tableOptions: sql`strict`,
  roomOptions: sql`strict`,
  ownTables: [],
  randomMark: sql`abs(random() % 2147483647) + 1`,
  trigger: (name, cause, table, statements) => [
    sql`create trigger ${sql.id(name)} after ${sql.raw(cause)} on ${sql.table(table)} begin ${statements} end`,
  ],
  composed: (column) => sql`to_composed(${sql.ref(column)})`,
};
