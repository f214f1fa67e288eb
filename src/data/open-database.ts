import { type Database, type DatabaseOptions, DatabaseUnusable } from './database.ts';
import { migrate } from './migrations/migrate.ts';
import { openSqlite } from './sqlite/database.ts';
import { reasonOf } from './sqlite/errors.ts';

/**
 * Opens the database of a `DATABASE_URL` and brings its tables up to date.
 * @throws DatabaseUnusable if it is corrupt, not writable, or newer than this program.
 */
export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Database> {
  const { watch, ...database } = await openSqlite(url.slice('sqlite:'.length), options);
  try {
    await migrate(database);
    await watch();
  } catch (error) {
    await database.close();
    throw explain(url, error);
  }
  return database;
}

/** An error of the database or the system becomes a line for the operator. Any other error is a bug of Postroom. */
function explain(url: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  return new DatabaseUnusable(`cannot use the database ${url}: ${reasonOf(error)}`, { cause: error });
}
