import type { Compilable, CompiledQuery, InsertObject } from 'kysely';
import type { Db } from '../database/database.ts';
import type { Tables } from '../tables.ts';

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

/** Inserts rows whose properties are in the same order. @throws UniqueViolation */
export async function insertRows<Table extends 'users' | 'rooms' | 'posts'>(
  db: Db,
  table: Table,
  rows: readonly InsertObject<Tables, Table>[],
): Promise<void> {
  await executeInParts(db, rows, (part) => db.insertInto(table).values(part), Object.values<unknown>);
}

function inParts<T>(values: readonly T[]): T[][] {
  const parts: T[][] = [];
  let from = 0;
  for (const length of lengths) {
    for (; from + length <= values.length; from += length) parts.push(values.slice(from, from + length));
  }
  return parts;
}
