import { sql } from 'kysely';
import type { MigrationWork } from './migration.ts';

/**
 * Each event gets a random mark and the mark of the event before it; each room gets the marks of its latest two events.
 */
export const eventMarks: MigrationWork = async (db, dialect) => {
  const randomMark = sql.raw(dialect.randomMark);
  const markAt = (seq: string) =>
    sql`select "mark" from "roomEvents" as earlier where earlier."roomId" = room."id" and earlier."seq" = ${sql.raw(seq)}`;
  const statements = [
    sql`alter table "roomEvents" add column "mark" integer not null default 0`,
    sql`alter table "roomEvents" add column "previousMark" integer not null default 0`,
    sql`alter table rooms add column "headMark" integer not null default 0`,
    sql`alter table rooms add column "previousMark" integer not null default 0`,
    sql`update "roomEvents" set "mark" = ${randomMark}`,
    sql`update "roomEvents" as event set "previousMark" = coalesce((
      select "mark" from "roomEvents" as earlier where earlier."roomId" = event."roomId" and earlier."seq" = event."seq" - 1
    ), 0)`,
    // If the latest event was trimmed, its number still needs a mark.
    sql`update rooms as room set "headMark" = coalesce((${markAt('room."head"')}), ${randomMark}) where "head" > 0`,
    sql`update rooms as room set "previousMark" = coalesce((${markAt('room."head" - 1')}), 0)`,
    sql`delete from settings where "name" = 'epoch'`,
  ];
  for (const statement of statements) await statement.execute(db);
};
