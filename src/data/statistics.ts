import { sql } from 'kysely';
import type { Db } from './database.ts';
import { isPostgres } from './dialects.ts';

/**
 * Gathers the statistics of a table that has none yet, or has grown fourfold since. PostgreSQL keeps the plans of prepared
 * statements, so it would read the whole table for a list of names, as it did when the table was small. Autovacuum gathers
 * statistics only once a minute, or never.
 */
export async function analyzeIfGrown(db: Db, table: 'rooms' | 'users' | 'posts'): Promise<void> {
  if (!isPostgres(db)) return;
  const grown = await sql`
    select 1 from pg_class where oid = ${table}::regclass
      and (reltuples < 0 or pg_relation_size(oid) > 4 * relpages::bigint * current_setting('block_size')::bigint)`.execute(
    db,
  );
  if (grown.rows.length > 0) await sql`analyze ${sql.table(table)}`.execute(db);
}
