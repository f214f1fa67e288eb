import { type Compilable, type CompiledQuery, type InsertObject, type RawBuilder, sql } from 'kysely';
import type { Db } from '../database/database.ts';
import type { PostRow, RoomRow, Tables, UserRow } from '../tables.ts';
import { isPostgres } from './dialects.ts';

const lengths = [100, 10, 1];

/**
 * Runs a statement over a long list of values, in parts with few different lengths. It is compiled and prepared once for each
 * length, and does not exceed the maximum number of parameters. Returns the rows of all parts. `parametersOf`: the
 * parameters of one value, in the order of the statement; by default the value itself.
 */
export async function executeInParts<Value, Row>(
  db: Db,
  values: readonly Value[],
  build: (part: readonly Value[]) => Compilable<Row>,
  parametersOf: (value: Value) => readonly unknown[] = (value) => [value],
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

interface InsertedRows {
  users: UserRow;
  rooms: RoomRow;
  posts: PostRow;
}

/** Inserts rows whose properties are in the same order. @throws UniqueViolation */
export async function insertRows<Table extends keyof InsertedRows>(
  db: Db,
  table: Table,
  rows: readonly InsertedRows[Table][],
): Promise<void> {
  const build = (part: typeof rows) => db.insertInto(table).values(part as readonly InsertObject<Tables, Table>[]);
  await executeInParts(db, rows, build, Object.values<unknown>);
}

function inParts<T>(values: readonly T[]): T[][] {
  const parts: T[][] = [];
  let from = 0;
  for (const length of lengths) {
    for (; from + length <= values.length; from += length) parts.push(values.slice(from, from + length));
  }
  return parts;
}

/** The elements of a list in JSON, as rows with a column `value`. */
export function elementsOf(db: Db, list: unknown): RawBuilder<unknown> {
  const json = JSON.stringify(list);
  return isPostgres(db) ? sql`json_array_elements(cast(${json} as json))` : sql`json_each(${json})`;
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
