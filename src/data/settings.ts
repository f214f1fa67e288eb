import type { Db } from './database.ts';

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
