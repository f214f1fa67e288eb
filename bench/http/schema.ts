/** The schema and resolvers that a stock server serves: on the database of Postroom, or with data in memory. */
export async function loadSchema() {
  return process.env['DATABASE_FILE'] === undefined ? import('./memory.ts') : import('./sqlite.ts');
}
