import type { CompiledQuery } from 'kysely';
import type { Db } from './database.ts';
import type { PostRow, RoomRow, UserRow } from './tables.ts';

interface Rows {
  users: UserRow;
  posts: PostRow;
  rooms: RoomRow;
}

/** The maximum number of ids for which a compiled statement is cached; a page has no more rows. */
const maxKeptIds = 100;
const kept = new Map<string, CompiledQuery>();

/** The rows with these ids, in any order. The statement is compiled once for each number of ids. */
export async function findByIds<Table extends keyof Rows>(
  db: Db,
  table: Table,
  ids: readonly string[],
): Promise<Rows[Table][]> {
  const compiled = kept.get(`${table} ${ids.length}`) ?? compile(db, table, ids);
  const { rows } = await db.executeQuery<Rows[Table]>({ ...compiled, parameters: ids } as CompiledQuery<Rows[Table]>);
  return rows;
}

function compile(db: Db, table: keyof Rows, ids: readonly string[]): CompiledQuery {
  const compiled = db.selectFrom(table).selectAll().where('id', 'in', ids).compile();
  if (ids.length <= maxKeptIds) kept.set(`${table} ${ids.length}`, compiled);
  return compiled;
}
