import { DatabaseSync } from 'node:sqlite';
import { createId } from '../../src/common/ids.ts';
import type { Recording } from './record.ts';

/** Returns a function that stores a post with recorded statements and one durable commit, as SQLite is commonly used. */
export function openStore({ file, statements, post }: Recording): () => string {
  const database = new DatabaseSync(file);
  database.exec('pragma journal_mode = wal; pragma synchronous = full');
  const prepared = statements.map(({ sql, values }) => ({ statement: database.prepare(sql), values }));
  return () => {
    // Ascending, as in Postroom: random ids would change more pages.
    const id = createId('Post');
    database.exec('begin immediate');
    for (const { statement, values } of prepared) {
      statement.all(...values.map((value) => (value === post ? id : value)));
    }
    database.exec('commit');
    return id;
  };
}
