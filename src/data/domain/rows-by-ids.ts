import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Db } from '../database/database.ts';
import { dialectOf } from '../sql/sql-dialect.ts';
import { type PostRow, type PublicUser, postColumns, publicUserColumns, type RoomRow, roomColumns } from '../tables.ts';
import { arePostsNotErased } from './visible-rooms.ts';

interface Rows {
  users: PublicUser;
  posts: PostRow;
  rooms: RoomRow;
}

/** Whether a row is not being deleted in the background. */
const isNotDeleted: { [Table in keyof Rows]: RawBuilder<boolean> } = {
  users: sql`1 = 1`,
  posts: arePostsNotErased('posts.authorId'),
  rooms: sql`"deletedAt" is null`,
};

/** The maximum number of ids for which a compiled statement is cached; a page has no more rows. */
const maxCachedIds = 100;
/** Compiled statements per database, because databases differ in their SQL. */
const compiledByIds = new WeakMap<object, Map<string, CompiledQuery>>();

/** The rows with these ids, in any order. The statement is compiled once for each number of ids. */
export async function findByIds<Table extends keyof Rows>(
  db: Db,
  table: Table,
  ids: readonly string[],
): Promise<Rows[Table][]> {
  const { adapter } = db.getExecutor();
  const cache = compiledByIds.get(adapter) ?? new Map<string, CompiledQuery>();
  compiledByIds.set(adapter, cache);
  const key = `${table} ${ids.length}`;
  const compiled = cache.get(key) ?? compileByIds(db, table, ids);
  if (ids.length <= maxCachedIds) cache.set(key, compiled);
  const { rows } = await db.executeQuery<Rows[Table]>({ ...compiled, parameters: ids } as CompiledQuery<Rows[Table]>);
  return rows;
}

const columnsOfRows: { [Table in keyof Rows]: readonly (keyof Rows[Table] & string)[] } = {
  users: publicUserColumns,
  posts: postColumns,
  rooms: roomColumns,
};

function compileByIds(db: Db, table: keyof Rows, ids: readonly string[]): CompiledQuery {
  const { ref } = db.dynamic;
  const columns = columnsOfRows[table].map((column) =>
    column === 'body' ? dialectOf(db).countedBody().as(column) : ref(column),
  );
  return db.selectFrom(table).where('id', 'in', ids).where(isNotDeleted[table]).select(columns).compile();
}
