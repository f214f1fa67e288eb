import { PostgresAdapter } from 'kysely';
import type { Db } from '../database.ts';

export function isPostgres(db: Db): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/**
 * Whether a subquery of `from` may refer to the tables before it (`lateral`): PostgreSQL, not SQLite. PostgreSQL needs it
 * to seek once per row; SQLite seeks in other forms, too.
 */
export function hasLateralJoins(db: Db): boolean {
  return isPostgres(db);
}
