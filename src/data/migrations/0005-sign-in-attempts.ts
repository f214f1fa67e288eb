import { sql } from 'kysely';
import type { MigrationWork } from './migration.ts';

/** The windows in which attempts to sign in are counted, so that all nodes share them. */
export const signInAttempts: MigrationWork = async (db, dialect) => {
  const text = sql.raw(dialect.text);
  await sql`create table "signInAttempts" (
    "key" ${text} primary key, "attempts" integer not null, "endsAt" ${sql.raw(dialect.bigint)} not null
  ) ${sql.raw(dialect.tableOptions)}`.execute(db);
  await sql`create index "attemptsByEnd" on "signInAttempts" ("endsAt")`.execute(db);
};
