import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type QueryCompiler,
  type QueryResult,
  type RawBuilder,
  type SqlBool,
  Transaction,
} from 'kysely';
import type { Db } from '../database/database.ts';
import type { Tables } from '../tables.ts';

type CountedTable = 'posts' | 'recent' | 'rooms' | 'users' | 'roomMembers' | 'userEvents';

/** How the databases differ, as far as statements and their callers must know. */
export interface SqlDialect {
  adapter: DialectAdapter;
  compiler: QueryCompiler;
  /**
   * Counts the rows that a statement reads from a table, whatever it does with them. It must be the first condition, because
   * a row that another condition has refused is not counted.
   */
  countsRows(table: CountedTable): RawBuilder<SqlBool>;
  /** The body of a post. Long bodies count as several rows. */
  countedBody(): RawBuilder<string | null>;
  /** The column with the place of a row in its table. */
  place: 'rowid' | 'ctid';
  /** Whether a place is among those that a query finds. */
  isPlaceAmong(place: RawBuilder<unknown>, places: object): RawBuilder<boolean>;
  /** The elements of a list in JSON, as rows with a column `value`. */
  elementsOf(json: string): RawBuilder<unknown>;
  /** Whether an id is in a list, which is given in JSON: a compiled statement has a fixed number of parameters. */
  isListed(
    id: 'users.id' | 'rooms.id' | 'roomMembers.roomId' | 'roomMembers.userId' | 'directRooms.roomId',
    json: string,
  ): RawBuilder<boolean>;
  /** The integer with this name in an object in JSON; null if it has none. */
  integerIn(json: string, name: 'roomMembers.roomId'): RawBuilder<number | null>;
  /** Is written before a column, so that the database does not use its index. */
  unindexed: RawBuilder<unknown>;
  /** Whether a lateral join is needed to seek once for each row. */
  seeksInLateralJoins: boolean;
  /** Finds the tables whose statistics are out of date; undefined if plans do not depend on them. */
  findStaleTables: RawBuilder<{ name: string }> | undefined;
}

/** Executes any number of statements at once. */
export type StatementRunner = Pick<DatabaseConnection, 'executeQuery'>;

/** What Kysely needs for its own transactions and connections. */
const unused = new Proxy({} as Dialect & Driver & DatabaseConnection, {
  get: () => () => {
    throw new Error('Use the functions of Database.');
  },
});

/** Sends each statement when it is called; Kysely's executor would send it a few microtasks later, which cost as much as a short statement. */
class DirectExecutor extends DefaultQueryExecutor {
  readonly dialect: SqlDialect;
  readonly #runner: StatementRunner;

  constructor(runner: StatementRunner, dialect: SqlDialect) {
    super(dialect.compiler, dialect.adapter, { provideConnection: (consumer) => consumer(unused) });
    this.dialect = dialect;
    this.#runner = runner;
  }

  override executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.#runner.executeQuery<Row>(query);
  }
}

/** Kysely's query builder. It neither begins nor ends a transaction. */
export function createDb(runner: StatementRunner, dialect: SqlDialect): Transaction<Tables> {
  const executor = new DirectExecutor(runner, dialect);
  return new Transaction<Tables>({ config: { dialect: unused }, dialect: unused, driver: unused, executor });
}

/** Of an extension: PostgreSQL would store it at once, and SQLite would count as failed. @throws Error for a write. */
export function assertRead(statement: string): void {
  if (/^\s*(?:insert|update|delete|merge)\b/i.test(statement)) throw new Error(`Reads cannot run ${statement}`);
}

export function dialectOf(db: Db): SqlDialect {
  return (db.getExecutor() as DirectExecutor).dialect;
}
