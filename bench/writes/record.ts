import { StatementSync } from 'node:sqlite';
import { createWorld, Writer } from '../nodes/writer.ts';

/** What one `createPost` of Postroom sends to SQLite, apart from the statements of the transaction. */
export interface Recording {
  /** A database with the room and the author of the statements. */
  file: string;
  statements: { sql: string; values: (string | number | null)[] }[];
  /** The id of the post, which is different in each repetition. */
  post: string;
}

type Method = 'all' | 'run';

/** Creates a database in the file, and records one `createPost` in it. */
export async function record(file: string): Promise<Recording> {
  const url = `sqlite:${file}`;
  const writer = await Writer.open(url, await createWorld(url, 1));
  const statements: Recording['statements'] = [];
  const restore = (['all', 'run'] as const).map((method) => intercept(method, statements));
  try {
    const post = await writer.createPost('1');
    return { file, post, statements: statements.filter(({ sql }) => /^(select|insert|update|with)\b/i.test(sql)) };
  } finally {
    for (const undo of restore) undo();
    await writer.close();
  }
}

function intercept(method: Method, statements: Recording['statements']): () => void {
  const prototype = StatementSync.prototype as unknown as Record<Method, (...values: never[]) => unknown>;
  const original = prototype[method];
  prototype[method] = function (this: StatementSync, ...values) {
    statements.push({ sql: this.sourceSQL, values });
    return Reflect.apply(original, this, values);
  };
  return () => {
    prototype[method] = original;
  };
}
