import type { CompiledQuery } from 'kysely';
import type { Db } from './database.ts';
import { type PostRow, type PublicUser, publicUserColumns, type RoomRow } from './tables.ts';

interface Rows {
  users: PublicUser;
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
  const rows = db.selectFrom(table).where('id', 'in', ids);
  const compiled = (table === 'users' ? rows.select(publicUserColumns) : rows.selectAll()).compile();
  if (ids.length <= maxKeptIds) kept.set(`${table} ${ids.length}`, compiled);
  return compiled;
}
