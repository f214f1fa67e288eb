import { PostgresAdapter } from 'kysely';
import type { Db } from '../database/database.ts';

export function isPostgres(db: Db): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
