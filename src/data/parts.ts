import type { Compilable, CompiledQuery } from 'kysely';
import type { Db } from './database.ts';

const lengths = [100, 10, 1];

/** A statement over a list of values: how it reads for a part of them, and what each value gives to its parameters. */
interface ListStatement<Value, Row> {
  build: (part: readonly Value[]) => Compilable<Row>;
  parametersOf: (value: Value) => readonly unknown[];
}

/**
 * Runs a statement over a long list, in parts of few lengths: it is compiled and prepared once for each length, and
 * stays within the parameters that a statement may have. Tells what all of them returned.
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
