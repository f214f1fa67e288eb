import { sql } from 'kysely';
import type { MigrationWork } from './migration.ts';

/**
 * How far each member has read, who was a member earlier, and how often a user's memberships have changed. Programs before
 * this migration do not write any of it: a post of theirs does not mark its room as read.
 *
 * No new table refers to users. The row of a user is never deleted, and a change of a membership that locks it after the
 * room could wait for the deletion of the account, which locks rooms after it.
 */
export const memberships: MigrationWork = async (db, dialect) => {
  const [text, big, options] = [dialect.text, dialect.bigint, dialect.tableOptions].map((part) => sql.raw(part));
  const statements = [
    sql`alter table "roomMembers" add column "readUpTo" ${big}`,
    sql`create table "formerMembers" (
      "userId" ${text} not null,
      "roomId" ${text} not null references rooms ("id") on delete cascade, primary key ("userId", "roomId")
    ) ${options}`,
    sql`create index "formerMembersByRoom" on "formerMembers" ("roomId")`,
    sql`create table "membershipVersions" (
      "userId" ${text} primary key, "version" ${big} not null
    ) ${options}`,
  ];
  for (const statement of statements) await statement.execute(db);
};
