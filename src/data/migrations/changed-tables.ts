import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import type { ExtensionMigration, TableDialect } from './migration.ts';

/** It only prints statements. */
const printer = new Kysely<object>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});
const text = sql`text`;
const nothing = sql``;
const dialect: TableDialect = {
  text,
  bigint: sql`bigint`,
  tableOptions: nothing,
  roomOptions: nothing,
  ownTables: [],
  randomMark: sql`1`,
  trigger: (_, __, table) => [sql`alter table ${sql.table(table)}`],
  composed: (column) => sql.ref(column),
};

/** `on update cascade`, `do update set` and `after update on` name no table there. */
const changes =
  /\b(?:(?:create|alter|drop)\s+table(?:\s+if\s+(?:not\s+)?exists)?|insert\s+into|delete\s+from|(?<!\b(?:on|do|for|key|or|before|after)\s+)update|create\s+(?:unique\s+)?index[^(]*?\bon)\s+"?(\w+)"?/gi;

/** The tables that the statements of a migration create or change. */
export function listChangedTables({ statements }: ExtensionMigration): string[] {
  return statements(dialect).flatMap((statement) =>
    Array.from(statement.compile(printer).sql.matchAll(changes), ([, table = '']) => table),
  );
}
