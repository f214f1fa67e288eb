import type { Compilable, CompiledQuery } from 'kysely';
import type { Db, Lockable, RowLock } from './database.ts';

/** Stands for a value while a statement is compiled. */
class Slot {
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

/** Runs a statement with values, and returns its rows. */
type Statement<Values, Row> = (db: Db, values: Values) => Promise<Row[]>;

/**
 * A statement that is built and compiled once for each database: for a short statement that takes longer than to run it.
 * `build` must return the same statement for all values.
 */
export function createStatement<Values extends object, Row>(
  build: (db: Db, values: Values) => Compilable<Row>,
): Statement<Values, Row> {
  const compiled = new WeakMap<object, CompiledQuery<Row>>();
  return async (db, values) => {
    const { adapter } = db.getExecutor();
    const statement = compiled.get(adapter) ?? build(db, createSlots(values)).compile();
    compiled.set(adapter, statement);
    const parameters = statement.parameters.map((value) =>
      value instanceof Slot ? values[value.name as keyof Values] : value,
    );
    const { rows } = await db.executeQuery<Row>({ ...statement, parameters });
    return rows;
  };
}

/** A statement for each lock that its rows can be read with. */
export function createLockingStatement<Values extends object, Row>(
  build: (db: Db, values: Values) => Compilable<Row> & Lockable<Compilable<Row>>,
): (db: Db, values: Values, lock: RowLock | undefined) => Promise<Row[]> {
  const statements = {
    none: createStatement(build),
    share: createStatement((db, values: Values) => build(db, values).forKeyShare()),
    exclusive: createStatement((db, values: Values) => build(db, values).forUpdate()),
  };
  return (db, values, lock) => statements[lock ?? 'none'](db, values);
}

function createSlots<Values extends object>(values: Values): Values {
  return Object.fromEntries(Object.keys(values).map((name) => [name, new Slot(name)])) as Values;
}

/** @throws Error if a statement that always returns a row has returned none. */
export function firstOrThrow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('The statement returned no row.');
  return row;
}
