import { sql } from 'kysely';
import type { MigrationWork } from './migration.ts';

/** The users that may not write posts in a room for some time. Programs before this migration do not mute anybody. */
export const mutes: MigrationWork = async (db, dialect) => {
  const text = sql.raw(dialect.text);
  await sql`create table mutes (
    "roomId" ${text} not null references rooms ("id") on delete cascade,
    "userId" ${text} not null references users ("id") on delete cascade,
    "until" ${sql.raw(dialect.bigint)} not null, primary key ("roomId", "userId")
  ) ${sql.raw(dialect.tableOptions)}`.execute(db);
  await sql`create index "mutesByUser" on mutes ("userId")`.execute(db);
};
