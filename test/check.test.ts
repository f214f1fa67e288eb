import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildSchema } from 'graphql';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findUndescribed } from '../scripts/check-descriptions.ts';
import { checkEnvironment, readsEnvironment } from '../scripts/check-environment.ts';
import { checkImport, checkImports } from '../scripts/check-imports.ts';
import { readImports } from '../scripts/read-imports.ts';

type Case = [file: string, from: string, isAllowed: boolean];

describe('imports run one way', () => {
  const values: Case[] = [
    ['main.ts', './commands/serve.ts', true],
    ['main.ts', 'node:util', true],
    ['main.ts', './server.ts', false],
    ['main.ts', './config.ts', false],
    ['main.ts', 'pino', false],
    ['commands/serve.ts', '../server.ts', true],
    ['commands/import.ts', '../data/posts.ts', true],
    ['commands/import.ts', '../data/sqlite/database.ts', true],
    ['commands/serve.ts', '../main.ts', false],
    ['server.ts', './transport/http/routes.ts', true],
    ['server.ts', './data/sqlite/database.ts', true],
    ['server.ts', './live/bus/redis.ts', true],
    ['server.ts', './commands/serve.ts', false],
    ['transport/http/routes.ts', '../sse.ts', true],
    ['transport/http/routes.ts', '../../engine/engine.ts', true],
    ['transport/websocket.ts', '../live/feed.ts', true],
    ['transport/http/routes.ts', '../../server.ts', false],
    ['engine/engine.ts', './limits/depth.ts', true],
    ['engine/limits/depth.ts', '../../errors.ts', true],
    ['engine/schema.ts', '../resolvers/post.ts', true],
    ['engine/engine.ts', '../transport/http/routes.ts', false],
    ['engine/limits/rate.ts', '../../transport/http/routes.ts', false],
    ['resolvers/post.ts', '../data/posts.ts', true],
    ['resolvers/post.ts', '../identity/access.ts', true],
    ['resolvers/post.ts', '../live/bus/bus.ts', true],
    ['resolvers/post.ts', 'graphql', true],
    ['resolvers/post.ts', '../engine/context.ts', false],
    ['resolvers/post.ts', '../engine/engine.ts', false],
    ['resolvers/post.ts', '../data/sqlite/database.ts', false],
    ['live/feed.ts', '../data/events.ts', true],
    ['live/feed.ts', '../data/posts.ts', false],
    ['live/feed.ts', './bus/bus.ts', true],
    ['live/feed.ts', './bus/memory.ts', false],
    ['live/feed.ts', '../identity/access.ts', false],
    ['live/feed.ts', '../resolvers/post.ts', false],
    ['data/posts.ts', './tables.ts', true],
    ['data/migrations/migrate.ts', '../database.ts', true],
    ['data/database.ts', './sqlite/database.ts', true],
    ['data/database.ts', '../live/bus/memory.ts', false],
    ['data/posts.ts', './sqlite/database.ts', false],
    ['data/posts.ts', '../live/feed.ts', false],
    ['data/posts.ts', '../identity/access.ts', false],
    ['data/loaders.ts', 'dataloader', true],
    ['data/posts.ts', 'graphql', false],
    ['data/posts.ts', 'graphql-yoga', false],
    ['data/posts.ts', '@graphql-tools/utils', false],
    ['identity/access.ts', '../data/users.ts', true],
    ['identity/access.ts', '../live/feed.ts', false],
    ['identity/session.ts', '../engine/context.ts', false],
    ['log.ts', './config.ts', true],
    ['errors.ts', './data/tables.ts', false],
    ['ids.ts', './server.ts', false],
    ['helpers/text.ts', '../errors.ts', false],
    ['data/posts.ts', '../helpers/text.ts', false],
    ['data/posts.ts', '../../test/rooms.ts', false],
    ['config.ts', '../package.json', true],
  ];

  test.each(values)('src/%s imports %s: %s', (file, from, isAllowed) => {
    expect(checkImport(file, { from, isType: false }) === undefined).toBe(isAllowed);
  });

  const types: Case[] = [
    ['resolvers/post.ts', '../engine/context.ts', true],
    ['resolvers/post.ts', '../engine/engine.ts', false],
    ['live/feed.ts', '../data/posts.ts', true],
    ['live/feed.ts', '../data/sqlite/database.ts', false],
    ['live/feed.ts', '../identity/viewer.ts', false],
    ['data/events.ts', '../live/bus/bus.ts', false],
    ['data/posts.ts', 'graphql', false],
    ['engine/engine.ts', '../server.ts', false],
  ];

  test.each(types)('src/%s imports the types of %s: %s', (file, from, isAllowed) => {
    expect(checkImport(file, { from, isType: true }) === undefined).toBe(isAllowed);
  });

  test('every file of src/ is read, and one outside the layers is named', async () => {
    const root = await writeFiles({
      'src/data/posts.ts': "import { once } from 'node:events';\nimport { feed } from '../live/feed.ts';\n",
      'src/live/feed.ts': 'export const load = (name: string) => import(name);\n',
      'src/helpers/text.ts': '',
    });
    expect(await checkImports(root)).toEqual([
      'src/data/posts.ts imports ../live/feed.ts: data/ does not know live/',
      'src/helpers/text.ts stands in no layer of scripts/check-imports.ts',
      'src/live/feed.ts: a computed import() hides where it goes',
    ]);
  });
});

describe('an import is found', () => {
  const found: [text: string, from: string | undefined, isType: boolean][] = [
    ["import { a, type B } from './a.ts';", './a.ts', false],
    ["import a, * as b from './a.ts';", './a.ts', false],
    ["import {\n  a,\n  // not this\n  b,\n} from './a.ts';", './a.ts', false],
    ["import './a.ts';", './a.ts', false],
    ["import data from './a.json' with { type: 'json' };", './a.json', false],
    ["import type { A } from './a.ts';", './a.ts', true],
    ["import type A from './a.ts';", './a.ts', true],
    ["export * from './a.ts';", './a.ts', false],
    ["export { a } from './a.ts';", './a.ts', false],
    ["export type { A } from './a.ts';", './a.ts', true],
    ["const a = await import('./a.ts');", './a.ts', false],
    ["let a: import('./a.ts').A;", './a.ts', false],
    ['const a = await import(name);', undefined, false],
    ["const quote = /['\"`]/;\nconst a = await import('./a.ts');", './a.ts', false],
  ];

  test.each(found)('%j', (text, from, isType) => {
    expect(readImports(text)).toEqual([{ from, isType }]);
  });

  const none = [
    "// import a from './a.ts';",
    "/*\nimport a from './a.ts';\n*/",
    "const html = `\nimport a from './a.ts';\n`;",
    "export interface Import {\n  from: 'here';\n}",
    "export type From = 'here' | 'there';",
    "const url = 'https://example.org'; // import('./a.ts')",
    'const here = import.meta.url;',
  ];

  test.each(none)('but not in %j', (text) => {
    expect(readImports(text)).toEqual([]);
  });
});

describe('one reader of the environment', () => {
  const reading = [
    'process.env.PORT',
    "process.env['PORT']",
    "process['env']",
    'globalThis.process?.env',
    'const { env } = process;',
    "import { env } from 'node:process';",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a program.
    'const url = `http://${process.env.HOST}`;',
  ];

  test.each(reading)('is broken by %j', (text) => {
    expect(readsEnvironment(text)).toBe(true);
  });

  test.each(['// process.env', 'process.exit(1);', 'const environment = process.argv;'])('is kept by %j', (text) => {
    expect(readsEnvironment(text)).toBe(false);
  });

  test('src/config.ts alone may read it', async () => {
    const text = 'export const port = process.env.PORT;\n';
    const root = await writeFiles({ 'src/config.ts': text, 'src/live/feed.ts': text });
    expect(await checkEnvironment(root)).toEqual([expect.stringMatching(/^src\/live\/feed\.ts /)]);
  });
});

test('every element of the schema that has no description is named', () => {
  const sdl = `
    "Reads." type Query { "One." user(id: ID!, kind: Kind): Node  plain: Int }
    "A node." interface Node { id: ID! }
    "A user." type User implements Node { "Its id." id: ID!  "Said." posts(last: Int, "First." first: Int): [Int!]! }
    enum Kind { "Good." GOOD BAD }
    "Which." input Filter { name: String }
    scalar DateTime
    "Weighs." directive @cost(weight: Int, "How." by: Int) on OBJECT
  `;
  expect(findUndescribed(buildSchema(sdl)).sort()).toEqual(
    [
      '@cost(weight:)',
      'DateTime',
      'Filter.name',
      'Kind',
      'Kind.BAD',
      'Node.id',
      'Query.plain',
      'Query.user(id:)',
      'Query.user(kind:)',
      'User.posts(last:)',
    ].sort(),
  );
});

async function writeFiles(files: Record<string, string>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'postroom-check-'));
  onTestFinished(() => rm(root, { recursive: true }));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text);
  }
  return root;
}
