/** The schema and resolvers that a stock server serves: on a database of Postroom, or with data in memory; or that of the writes. */
export async function loadSchema() {
  if (process.env['RECORDING'] !== undefined) return import('../writes/schema.ts');
  if (process.env['DATABASE_URL'] !== undefined) return import('./postgres.ts');
  return process.env['DATABASE_FILE'] === undefined ? import('./memory.ts') : import('./sqlite.ts');
}
