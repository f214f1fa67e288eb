import { sql } from 'kysely';
import type { MigrationWork } from './migration.ts';

/** Finds the events by which a user has joined rooms, at which the rooms of an inbox begin. */
export const joins: MigrationWork = async (db) => {
  await sql`create index "joinsByUser" on "roomEvents" ("subjectId", "roomId") where "type" = 'MemberJoined'`.execute(
    db,
  );
};
