import { randomUUID } from 'node:crypto';
import type { Database, Db } from './database.ts';

/**
 * Locks a name until the end of the transaction: transactions that lock the same name run one after the other. Use it
 * where no row exists yet that could be locked.
 */
export async function lockByName(db: Db, name: string): Promise<void> {
  await db
    .insertInto('settings')
    .values({ name, value: '' })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: '' }))
    .execute();
}

/** When the newest verified backup began, in milliseconds since 1970: the name of the setting. */
export const lastBackup = 'lastBackupAt';

/** Identifies the database in a server that several installations share. It is created once, at random. */
export async function findOrCreateDatabaseId(database: Database): Promise<string> {
  const found = await findSetting(database.db, 'databaseId');
  if (found !== undefined) return found;
  return database.transaction(async (db) => {
    const created = { name: 'databaseId', value: randomUUID() };
    await db
      .insertInto('settings')
      .values(created)
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    return (await findSetting(db, created.name)) ?? created.value;
  });
}

export async function findSetting(db: Db, name: string): Promise<string | undefined> {
  return (await db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst())?.value;
}
