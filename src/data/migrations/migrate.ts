import { sql, type Transaction } from 'kysely';
import { DatabaseUnusable } from '../database/database.ts';
import { dialectOf } from '../sql/sql-dialect.ts';
import type { Tables } from '../tables.ts';
import type { MigrationOwner, TableDialect } from './migration.ts';
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
 * Runs all missing migrations, those of Postroom first. No other program may migrate during the transaction. Tables that a
 * newer program has migrated stay as they are, as do those of extensions that this program does not have.
 * @throws DatabaseUnusable if this program is too old for them.
 */
export async function migrate(
  db: Transaction<Tables>,
  dialect: TableDialect,
  extensions: readonly MigrationOwner[] = [],
): Promise<void> {
  const { seen, ...version } = await readVersion(db);
  assertKnown({ seen, ...version });
  const applied = await readApplied(db, seen);
  for (const { name: owner, migrations: own = [] } of [core, ...extensions]) {
    for (const { name, statements } of own) {
      if (applied.has(`${owner}/${name}`)) continue;
      for (const statement of statements(dialect)) await statement.execute(db);
      await storeName(db, owner, name);
    }
  }
  for (const extension of extensions) await assertColumns(db, extension);
  const needed = Math.max(version.needed ?? 0, migrations.findLastIndex(({ keepsPrograms }) => !keepsPrograms) + 1);
  // A fork may have run more, and not those that older programs do not work with.
  if (seen >= latestVersion && (version.needed ?? seen) >= needed) return;
  await writeVersion(db, { seen: Math.max(seen, latestVersion), needed });
}

/** @throws an error that names a column which is missing: later no room and no account could be deleted. */
async function assertColumns(db: Transaction<Tables>, { tables = {} }: MigrationOwner): Promise<void> {
  for (const [table, { author = 'roomId', user = 'roomId' }] of Object.entries(tables)) {
    const columns = [dialectOf(db).place, 'roomId', author, user].map((column) => sql.ref(column));
    await sql`select ${sql.join(columns)} from ${sql.table(table)} limit 0`.execute(db);
  }
}

const core: MigrationOwner = { name: 'postroom', migrations };

/**
 * The migrations that have run, as `owner/name`. Programs before this table stored only their number.
 */
async function readApplied(db: Transaction<Tables>, seen: number): Promise<Set<string>> {
  await sql`
    create table if not exists "appliedMigrations" (
      "owner" varchar(100) not null, "name" varchar(200) not null, primary key ("owner", "name")
    )`.execute(db);
  const { rows } = await sql<{ owner: string; name: string }>`select "owner", "name" from "appliedMigrations"`.execute(
    db,
  );
  const applied = new Set(rows.map(({ owner, name }) => `${owner}/${name}`));
  if (rows.some(({ owner }) => owner === core.name)) return applied;
  for (const { name } of migrations.slice(0, seen)) {
    await storeName(db, core.name, name);
    applied.add(`${core.name}/${name}`);
  }
  return applied;
}

async function storeName(db: Transaction<Tables>, owner: string, name: string): Promise<void> {
  await sql`insert into "appliedMigrations" ("owner", "name") values (${owner}, ${name})`.execute(db);
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
