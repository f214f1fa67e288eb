import { sql } from 'kysely';
import { type DatabaseState, toUnusable } from '../database/database.ts';
import { assertKnown, type TableVersion } from '../migrations/migrate.ts';
import { createDb } from '../sql/sql-dialect.ts';
import { PostgresConnection } from './connection.ts';
import { assertSupported, withoutSecrets } from './database.ts';
import { postgresDialect } from './dialect.ts';
import { StatementNames } from './statement-names.ts';

/** Finds out whether a node could open the database, without migrating it. @throws DatabaseUnusable */
export async function inspectPostgres(url: string): Promise<DatabaseState> {
  try {
    return { name: withoutSecrets(url), folder: undefined, version: await readVersion(url) };
  } catch (error) {
    throw toUnusable(withoutSecrets(url), error);
  }
}

async function readVersion(url: string): Promise<number | undefined> {
  const connection = await PostgresConnection.open({ url, names: new StatementNames(), onError: () => {} });
  try {
    assertSupported(connection.facts);
    const db = createDb(connection, postgresDialect);
    const found = await sql<{
      isPresent: boolean;
    }>`select to_regclass('migrations') is not null as "isPresent"`.execute(db);
    if (!found.rows[0]?.isPresent) return undefined;
    const { rows } = await sql<TableVersion>`select * from migrations`.execute(db);
    if (rows[0]) assertKnown(rows[0]);
    return rows[0]?.seen;
  } finally {
    connection.destroy();
  }
}
