import { onTestFinished } from 'vitest';
import type { Database, DatabaseOptions } from '../../../src/data/database/database.ts';
import { openDatabase } from '../../../src/data/database/open-database.ts';

/** Opens a database that is closed after the test. */
export async function openForTest(url: string, options?: DatabaseOptions): Promise<Database> {
  const database = await openDatabase(url, options);
  onTestFinished(() => database.close());
  return database;
}
