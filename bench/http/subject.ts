/** What a peer serves: the schema and resolvers of the rows in memory, or of those on SQLite. */
export async function loadSubject() {
  return process.env['DATABASE_FILE'] === undefined ? import('./memory.ts') : import('./sqlite.ts');
}

export function announce(port: number): void {
  console.log(`The server is at http://127.0.0.1:${port}/graphql`);
}
