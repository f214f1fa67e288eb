import type { CompiledQuery } from 'kysely';
import type { Db, RowLock } from '../database/database.ts';

/** Stands for a value while a statement is compiled. */
class Slot {
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

/** A read is long if its work depends on the number of rows in the database, as that of a search or a total does. */
export interface ReadQuery<Row = unknown> extends CompiledQuery<Row> {
  isLong?: boolean;
}

/** A query of Kysely's builder, or text with `sql`, which is easier to read for an insert of a selection, or a choice of values. */
interface Compilable<Row> {
  compile(db: Db): CompiledQuery<Row>;
}

/** Runs a statement with values, and returns its rows. */
type Statement<Values, Row> = (db: Db, values: Values, options?: Pick<ReadQuery, 'isLong'>) => Promise<Row[]>;

/**
 * A statement that is built and compiled once for each database: for a short statement that takes longer than to run it.
 * `build` must return the same statement for all values.
 */
export function createStatement<Values extends object, Row>(
  build: (db: Db, values: Values) => Compilable<Row>,
): Statement<Values, Row> {
  const compiled = new WeakMap<object, CompiledQuery<Row>>();
  return async (db, values, options) => {
    const executor = db.getExecutor();
    let statement = compiled.get(executor.adapter);
    if (!statement) {
      const slots = Object.fromEntries(Object.keys(values).map((name) => [name, new Slot(name)]));
      const built = build(db, slots as Values).compile(db);
      // Its first word tells what it does: see `PostgresSession`.
      statement = { ...built, sql: built.sql.trim() };
      compiled.set(executor.adapter, statement);
    }
    const parameters = statement.parameters.map((value) =>
      value instanceof Slot ? values[value.name as keyof Values] : value,
    );
    const { rows } = await executor.executeQuery<Row>({ ...statement, parameters, ...options } as ReadQuery<Row>);
    return rows;
  };
}

/**
 * A statement with parts that depend on its values: it is compiled once for each combination of values that are null,
 * true or false, which `build` receives as they are.
 */
export function createVariableStatement<Values extends object, Row>(
  build: (db: Db, values: Values) => Compilable<Row>,
): Statement<Values, Row> {
  const statements = new Map<string, Statement<Values, Row>>();
  return (db, values, options) => {
    const key = keyOf(values);
    let statement = statements.get(key);
    if (!statement) {
      const choices = Object.fromEntries(Object.entries(values).filter(([, value]) => isChoice(value)));
      statement = createStatement((db, slots: Values) => build(db, { ...slots, ...choices }));
      statements.set(key, statement);
    }
    return statement(db, values, options);
  };
}

function isChoice(value: unknown): boolean {
  return value == null || typeof value === 'boolean';
}

/** The names of the values that are not null, and the values that are true or false. */
function keyOf(values: object): string {
  let key = '';
  for (const [name, value] of Object.entries(values)) {
    if (value != null) key += isChoice(value) ? `${name}=${value} ` : `${name} `;
  }
  return key;
}

/** A page has no more rows. */
const maxCachedLength = 100;

/** A statement with a list of ids, which is compiled once for each number of ids up to that of a page. */
export function createListStatement<Row>(
  build: (db: Db, ids: readonly string[]) => Compilable<Row>,
): (db: Db, ids: readonly string[]) => Promise<Row[]> {
  const byLength = new Map<number, Statement<readonly string[], Row>>();
  return (db, ids) => {
    const create = () => createStatement((db, slots: readonly string[]) => build(db, Object.values(slots)));
    const statement = byLength.get(ids.length) ?? create();
    if (ids.length <= maxCachedLength) byLength.set(ids.length, statement);
    return statement(db, ids);
  };
}

/** A function that finds the row of an id, or of another unique key, with a statement for each lock of the row. */
export function createFinder<Row>(
  build: (
    db: Db,
    values: { id: string },
  ) => Compilable<Row> & Record<'forKeyShare' | 'forUpdate', () => Compilable<Row>>,
): (db: Db, id: string, lock?: RowLock) => Promise<Row | undefined> {
  const statements = {
    none: createStatement(build),
    share: createStatement((db, values: { id: string }) => build(db, values).forKeyShare()),
    exclusive: createStatement((db, values: { id: string }) => build(db, values).forUpdate()),
  };
  return async (db, id, lock) => (await statements[lock ?? 'none'](db, { id }))[0];
}

/** @throws Error if a statement that always returns a row has returned none. */
export function firstOrThrow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('The statement returned no row.');
  return row;
}
