import { type Kysely, sql } from 'kysely';
import { type Database, DatabaseUnusable, type Dialect } from '../database.ts';
import type { Tables } from '../tables.ts';
import { initial } from './0001-initial.ts';
import { eventMarks } from './0002-event-marks.ts';

/** Changes the tables by one version, inside a transaction. */
type Migration = (db: Kysely<Tables>, dialect: Dialect) => Promise<void>;

/** All migrations in order; the database stores the number of migrations that have run. */
const migrations: readonly Migration[] = [initial, eventMarks];

/**
 * Runs all missing migrations in one transaction. @throws DatabaseUnusable if the database has more than this program
 * knows.
 */
export async function migrate({ transaction, dialect }: Database): Promise<void> {
  await transaction(async (db) => {
    const seen = await readSeen(db);
    if (seen > migrations.length) {
      throw new DatabaseUnusable(
        `the database was written by a newer Postroom (its tables are at ${seen}, this program knows ${migrations.length})`,
      );
    }
    if (seen === migrations.length) return;
    for (const migration of migrations.slice(seen)) await migration(db, dialect);
    await writeSeen(db, migrations.length);
  });
}

async function readSeen(db: Kysely<Tables>): Promise<number> {
  await sql`create table if not exists migrations (seen integer not null)`.execute(db);
  const { rows } = await sql<{ seen: number }>`select seen from migrations`.execute(db);
  return rows[0]?.seen ?? 0;
}

async function writeSeen(db: Kysely<Tables>, seen: number): Promise<void> {
  await sql`delete from migrations`.execute(db);
  await sql`insert into migrations (seen) values (${seen})`.execute(db);
}
