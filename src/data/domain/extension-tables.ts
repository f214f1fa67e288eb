import { sql } from 'kysely';
import type { Db } from '../database/database.ts';
import { deleteSome, hasRows } from '../sql/some-rows.ts';
import type { Erasure } from '../tables.ts';

/** A table of an extension. Each row belongs to a room, whose id is its column `roomId`, and is deleted with it. */
export interface ExtensionTable {
  name: string;
  /** The column with the id of the user who wrote the row: it is deleted if the user deletes their account and posts. */
  author?: string | undefined;
  /** The column with the id of the user whom the row concerns: it is deleted with the account. */
  user?: string | undefined;
}

/** An account that is being erased. */
interface ErasedUser {
  id: string;
  erasing: Erasure;
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

/** Deletes up to `limit` rows of an erased account, and returns their number. */
export async function deleteExtensionRows(
  db: Db,
  tables: readonly ExtensionTable[],
  account: ErasedUser,
  limit: number,
): Promise<number> {
  let left = limit;
  for (const rows of rowsOf(db, tables, account)) {
    if (left > 0) left -= await deleteSome(db, rows.table, rows.query, left);
  }
  return limit - left;
}

export async function hasExtensionRows(db: Db, tables: readonly ExtensionTable[], account: ErasedUser) {
  for (const { query } of rowsOf(db, tables, account)) if (await hasRows(query)) return true;
  return false;
}

function rowsOf(db: Db, tables: readonly ExtensionTable[], { id, erasing }: ErasedUser) {
  return tables.flatMap(({ name, author, user }) => {
    const columns = [user, erasing === 'POSTS' ? author : undefined].filter((column) => column !== undefined);
    // The queries of steps know the tables of Postroom only, and name no column but these.
    const table = name as 'posts';
    return columns.map((column) => ({
      table,
      query: db.selectFrom(table).where(sql<boolean>`${sql.ref(column)} = ${id}`),
    }));
  });
}
