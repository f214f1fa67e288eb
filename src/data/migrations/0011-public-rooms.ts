import { sql } from 'kysely';
import type { MigrationWork } from './migration.ts';

/** Lists the public rooms without reading the private rooms between them, of which there may be any number. */
export const publicRooms: MigrationWork = async (db) => {
  await sql`create index "publicRoomsByAge" on rooms ("createdAt", "id") where "visibility" = 'PUBLIC'`.execute(db);
};
