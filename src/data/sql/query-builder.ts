import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type QueryCompiler,
  type QueryExecutor,
  type QueryResult,
  Transaction,
} from 'kysely';
import type { Tables } from '../tables.ts';

/** Executes any number of statements at once. */
export type StatementRunner = Pick<DatabaseConnection, 'executeQuery'>;

/** What Kysely needs for its own transactions and connections. */
const unused = new Proxy({} as Dialect & Driver & DatabaseConnection, {
  get: () => () => {
    throw new Error('Use the functions of Database.');
  },
});

/** Kysely's query builder. It neither begins nor ends a transaction. */
export function createQueryBuilder(executor: QueryExecutor): Transaction<Tables> {
  return new Transaction<Tables>({ config: { dialect: unused }, dialect: unused, driver: unused, executor });
}

/** Sends each statement when it is called; Kysely's executor would send it a few microtasks later, which cost as much as a short statement. */
export class DirectExecutor extends DefaultQueryExecutor {
  readonly #runner: StatementRunner;

  constructor(compiler: QueryCompiler, adapter: DialectAdapter, runner: StatementRunner) {
    super(compiler, adapter, { provideConnection: (consumer) => consumer(unused) });
    this.#runner = runner;
  }

  override executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.#runner.executeQuery<Row>(query);
  }
}
