import { sql } from 'kysely';
import { dialectOf } from '../sql/sql-dialect.ts';
import type { Database } from './database.ts';

/**
 * Gathers the statistics of tables that have none yet, or have grown fourfold since. PostgreSQL keeps the plans of prepared
 * statements, so an import would read whole tables for lists of names, as was right when they were small. Autovacuum gathers
 * statistics only once a minute, or never. Does nothing on SQLite. Never fails: without them statements are only slower.
 */
export async function updateStatistics({ transaction, checks }: Database): Promise<void> {
  const { findStaleTables } = dialectOf(checks);
  if (!findStaleTables) return;
  try {
    const { rows } = await findStaleTables.execute(checks);
    for (const { name } of rows) await transaction((db) => sql`analyze (skip_locked) ${sql.table(name)}`.execute(db));
  } catch {
    // It is tried again after the next batch.
  }
}
