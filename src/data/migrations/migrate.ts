import { sql, type Transaction } from 'kysely';
import { DatabaseUnusable } from '../database.ts';
import type { Tables } from '../tables.ts';
import { initial } from './0001-initial.ts';
import { eventMarks } from './0002-event-marks.ts';
import { headTimes } from './0003-head-times.ts';
import { activeApiKeys } from './0004-active-api-keys.ts';
import { signInAttempts } from './0005-sign-in-attempts.ts';
import type { Migration, TableDialect } from './migration.ts';

/** All migrations in order; the table `migrations` stores how many of them have run. */
const migrations: readonly Migration[] = [initial, eventMarks, headTimes, activeApiKeys, signInAttempts];

/**
 * Runs all missing migrations. No other program may change the tables during the transaction. @throws DatabaseUnusable
 * if the database has more migrations than this program knows.
 */
export async function migrate(db: Transaction<Tables>, dialect: TableDialect): Promise<void> {
  const version = await readVersion(db);
  if (version > migrations.length) {
    throw new DatabaseUnusable(
      `it was written by a newer Postroom (its tables are at version ${version}, this program knows ${migrations.length})`,
    );
  }
  if (version === migrations.length) return;
  for (const migration of migrations.slice(version)) await migration(db, dialect);
  await writeVersion(db, migrations.length);
}

async function readVersion(db: Transaction<Tables>): Promise<number> {
  await sql`create table if not exists migrations (seen integer not null)`.execute(db);
  const { rows } = await sql<{ seen: number }>`select seen from migrations`.execute(db);
  return rows[0]?.seen ?? 0;
}

async function writeVersion(db: Transaction<Tables>, version: number): Promise<void> {
  await sql`delete from migrations`.execute(db);
  await sql`insert into migrations (seen) values (${version})`.execute(db);
}
