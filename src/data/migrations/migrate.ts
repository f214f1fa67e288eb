import { sql, type Transaction } from 'kysely';
import { DatabaseUnusable } from '../database/database.ts';
import type { Tables } from '../tables.ts';
import type { Migration, TableDialect } from './migration.ts';
import { migrations } from './migrations.ts';

/** The number of migrations that this program knows. */
export const latestVersion = migrations.length;

/** The row of the table `migrations`. */
export interface TableVersion {
  /** The number of migrations that have run. */
  seen: number;
  /**
   * The number of migrations that a program must know to work with the tables. A database that was last migrated by an
   * early version of Postroom has no such column.
   */
  needed?: number | null;
}

/**
 * Runs all missing migrations. No other program may migrate during the transaction. Tables that a newer program has
 * migrated stay as they are. @throws DatabaseUnusable if this program is too old for them.
 */
export async function migrate(
  db: Transaction<Tables>,
  dialect: TableDialect,
  all: readonly Migration[] = migrations,
): Promise<void> {
  const version = await readVersion(db);
  assertKnown(version, all.length);
  const { seen } = version;
  if (seen >= all.length) return;
  for (const { statements } of all.slice(seen))
    for (const statement of statements(dialect)) await statement.execute(db);
  await writeVersion(db, { seen: all.length, needed: all.findLastIndex(({ keepsPrograms }) => !keepsPrograms) + 1 });
}

/** @throws DatabaseUnusable if a program that knows `known` migrations is too old for the tables. */
export function assertKnown({ seen, needed }: TableVersion, known = latestVersion): void {
  const leastNeeded = needed ?? seen;
  if (leastNeeded <= known) return;
  throw new DatabaseUnusable(
    `it was written by a newer Postroom (its tables need a program that knows version ${leastNeeded}, this program knows ${known})`,
  );
}

async function readVersion(db: Transaction<Tables>): Promise<TableVersion> {
  await sql`create table if not exists migrations (seen integer not null, needed integer)`.execute(db);
  const { rows } = await sql<TableVersion>`select * from migrations`.execute(db);
  return rows[0] ?? { seen: 0 };
}

/** Creates the table again, because that of an early version has no column `needed`. */
async function writeVersion(db: Transaction<Tables>, { seen, needed }: TableVersion): Promise<void> {
  await sql`drop table migrations`.execute(db);
  await sql`create table migrations (seen integer not null, needed integer)`.execute(db);
  await sql`insert into migrations (seen, needed) values (${seen}, ${needed})`.execute(db);
}
