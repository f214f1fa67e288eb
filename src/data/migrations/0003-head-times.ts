import { sql } from 'kysely';
import type { MigrationWork } from './migration.ts';

/** Each room gets the time of its latest event or, if it has none, of its creation. */
export const headTimes: MigrationWork = async (db, { bigint }) => {
  await sql`alter table rooms add column "headAt" ${sql.raw(bigint)} not null default 0`.execute(db);
  await sql`update rooms set "headAt" = coalesce((
    select "at" from "roomEvents" where "roomId" = rooms."id" order by "seq" desc limit 1
  ), "createdAt")`.execute(db);
};
