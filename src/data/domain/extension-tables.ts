import { sql } from 'kysely';
import type { Db } from '../database/database.ts';

/** A table of an extension. Each row belongs to a room, whose id is its column `roomId`, and is deleted with it. */
export interface ExtensionTable {
  name: string;
  /** The column with the id of the user who wrote the row: it is deleted if the user deletes their account and posts. */
  author?: string | undefined;
  /** The column with the id of the user whom the row concerns: it is deleted with the account. */
  user?: string | undefined;
}

/** The rows with these ids, by id. */
export async function findExtensionRows<Row extends { id: string }>(
  db: Db,
  table: string,
  ids: readonly string[],
): Promise<Map<string, Row>> {
  const { rows } = await sql<Row>`select * from ${sql.table(table)} where "id" in (${sql.join(ids)})`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}
