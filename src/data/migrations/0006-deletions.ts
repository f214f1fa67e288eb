import { sql } from 'kysely';
import type { MigrationWork } from './migration.ts';

/**
 * Deleted rooms and accounts whose rows are still being deleted in the background. Programs before this migration show
 * such rows until they are gone, but cannot disturb their deletion.
 */
export const deletions: MigrationWork = async (db, { bigint, text }) => {
  const statements = [
    sql`alter table rooms add column "deletedAt" ${sql.raw(bigint)}`,
    sql`create index "deletedRooms" on rooms ("id") where "deletedAt" is not null`,
    sql`alter table users add column "erasing" ${sql.raw(text)}`,
    sql`create index "usersBeingErased" on users ("id") where "erasing" is not null`,
  ];
  for (const statement of statements) await statement.execute(db);
};
