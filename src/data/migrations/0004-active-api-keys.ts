import { sql } from 'kysely';
import type { MigrationWork } from './migration.ts';

/** The keys of an owner are found without reading revoked keys, of which there may be any number. */
export const activeApiKeys: MigrationWork = async (db) => {
  await sql`drop index "apiKeysByOwner"`.execute(db);
  await sql`create index "apiKeysByOwner" on "apiKeys" ("ownerId", "createdAt", "id") where "revokedAt" is null`.execute(
    db,
  );
};
