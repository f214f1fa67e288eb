import {
  type ConnectionProvider,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type Driver,
  Kysely,
  type KyselyProps,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  Transaction,
} from 'kysely';
import type { Tables } from '../tables.ts';

const adapter = new PostgresAdapter();

/** Kysely would run the transaction statements of its driver, and only one statement after the other. */
const unused = new Proxy({} as Driver, {
  get: () => () => {
    throw new Error('Use the functions of Database.');
  },
});

/** Kysely's query builder on a connection that takes any number of statements at once. */
export function toDb(connection: DatabaseConnection): Kysely<Tables> {
  return new Kysely<Tables>(toProps(connection));
}

export function toTransaction(connection: DatabaseConnection): Transaction<Tables> {
  return new Transaction<Tables>(toProps(connection));
}

const dialect = {
  createAdapter: () => adapter,
  createDriver: () => unused,
  createQueryCompiler: () => new PostgresQueryCompiler(),
  createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
};

function toProps(connection: DatabaseConnection): KyselyProps {
  const provider: ConnectionProvider = { provideConnection: (consumer) => consumer(connection) };
  const executor = new DefaultQueryExecutor(new PostgresQueryCompiler(), adapter, provider);
  return { config: { dialect }, dialect, driver: unused, executor };
}
