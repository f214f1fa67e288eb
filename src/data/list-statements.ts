import { type Compilable, type CompiledQuery, type RawBuilder, sql } from 'kysely';
import { countedBody } from './bounded-work.ts';
import type { Db } from './database.ts';
import { isPostgres } from './dialects.ts';
import { type PostRow, type PublicUser, postColumns, publicUserColumns, type RoomRow, roomColumns } from './tables.ts';
import { arePostsKept } from './visible-rooms.ts';

const lengths = [100, 10, 1];

/** A statement over a list of values: builds it for a part of the list, and gives the parameters of each value. */
interface ListStatement<Value, Row> {
  build: (part: readonly Value[]) => Compilable<Row>;
  parametersOf: (value: Value) => readonly unknown[];
}

/**
 * Runs a statement over a long list, in parts with few different lengths. It is compiled and prepared once for each
 * length, and does not exceed the maximum number of parameters. Returns the rows of all parts.
 */
export async function executeInParts<Value, Row>(
  db: Db,
  values: readonly Value[],
  { build, parametersOf }: ListStatement<Value, Row>,
): Promise<Row[]> {
  const compiled = new Map<number, CompiledQuery<Row>>();
  const results: Row[][] = [];
  for (const part of inParts(values)) {
    const statement = compiled.get(part.length) ?? build(part).compile();
    compiled.set(part.length, statement);
    const { rows } = await db.executeQuery<Row>({ ...statement, parameters: part.flatMap(parametersOf) });
    results.push(rows);
  }
  return results.flat();
}

function inParts<T>(values: readonly T[]): T[][] {
  const parts: T[][] = [];
  let from = 0;
  for (const length of lengths) {
    for (; from + length <= values.length; from += length) parts.push(values.slice(from, from + length));
  }
  return parts;
}

/** Whether an id is in a list, which is given in JSON: a compiled statement has a fixed number of parameters. */
export function isListed(
  db: Db,
  id: 'users.id' | 'rooms.id' | 'roomMembers.roomId',
  list: string,
): RawBuilder<boolean> {
  const column = sql.ref(id);
  if (isPostgres(db)) return sql`${column} = any(array(select json_array_elements_text(cast(${list} as json))))`;
  return sql`${column} in (select value from json_each(${list}))`;
}

interface Rows {
  users: PublicUser;
  posts: PostRow;
  rooms: RoomRow;
}

/** Whether a row is not being deleted in the background. */
const isKept: { [Table in keyof Rows]: RawBuilder<boolean> } = {
  users: sql`1 = 1`,
  posts: arePostsKept('posts.authorId'),
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
  const columns = columnsOfRows[table].map((column) => (column === 'body' ? countedBody(db).as(column) : ref(column)));
  return db.selectFrom(table).where('id', 'in', ids).where(isKept[table]).select(columns).compile();
}
