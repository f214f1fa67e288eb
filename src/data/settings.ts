import { randomUUID } from 'node:crypto';
import type { Database, Db } from './database.ts';

/**
 * Locks a name until the end of the transaction: transactions that lock the same name run one after the other. Use it
 * where no row exists yet that could be locked.
 */
export async function lockName(db: Db, name: string): Promise<void> {
  await db
    .insertInto('settings')
    .values({ name, value: '' })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: '' }))
    .execute();
}

/** Identifies the database in a server that several installations share. It is created once, at random. */
export async function findOrCreateDatabaseId(database: Database): Promise<string> {
  const find = (db: Db) =>
    db.selectFrom('settings').select('value').where('name', '=', 'databaseId').executeTakeFirst();
  const found = await find(database.db);
  if (found) return found.value;
  return database.transaction(async (db) => {
    const created = { name: 'databaseId', value: randomUUID() };
    await db
      .insertInto('settings')
      .values(created)
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    return (await find(db))?.value ?? created.value;
  });
}
