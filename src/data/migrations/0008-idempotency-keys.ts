import { sql } from 'kysely';
import type { MigrationWork } from './migration.ts';

/** The results of mutations that clients may repeat. Programs before this migration do not write or read them. */
export const idempotencyKeys: MigrationWork = async (db, dialect) => {
  const text = sql.raw(dialect.text);
  await sql`create table "idempotencyKeys" (
    "userId" ${text} not null references users ("id") on delete cascade, "key" ${text} not null,
    "hash" ${text} not null, "resultId" ${text} not null, "at" ${sql.raw(dialect.bigint)} not null,
    primary key ("userId", "key")
  ) ${sql.raw(dialect.tableOptions)}`.execute(db);
  await sql`create index "idempotencyKeysByUser" on "idempotencyKeys" ("userId", "at")`.execute(db);
  await sql`create index "idempotencyKeysByAge" on "idempotencyKeys" ("at")`.execute(db);
};
