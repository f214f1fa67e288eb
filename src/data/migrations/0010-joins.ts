import { sql } from 'kysely';
import type { MigrationWork } from './migration.ts';

/** Finds the events by which a user has joined and left rooms, at which the rooms of an inbox begin and end. */
export const joins: MigrationWork = async (db) => {
  await sql`
    create index "membershipEvents" on "roomEvents" ("subjectId", "roomId", "seq")
    where "type" = 'MemberJoined' or "type" = 'MemberLeft'
  `.execute(db);
};
