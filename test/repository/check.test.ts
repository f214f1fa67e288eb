import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { buildSchema } from 'graphql';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkAdvisories } from '../../scripts/check/advisories.ts';
import { checkCopies } from '../../scripts/check/copies.ts';
import { findUndescribed } from '../../scripts/check/descriptions.ts';
import { checkExportedNames } from '../../scripts/check/exported-names.ts';
import { checkImports, readImports, refuseImport } from '../../scripts/check/imports.ts';
import { checkLimits } from '../../scripts/check/limits.ts';
import { checkLinks } from '../../scripts/check/links.ts';
import { checkMutants } from '../../scripts/check/mutants.ts';
import { checkNames } from '../../scripts/check/names.ts';
import { checkSamples } from '../../scripts/check/samples.ts';
import { checkSettings } from '../../scripts/check/settings.ts';
import { inRepository, runInstalled } from '../../scripts/repository.ts';

describe('a layer imports only itself and lower layers', () => {
  const cases: [file: string, specifier: string, isAllowed: boolean][] = [
    ['main.ts', './commands/serve.ts', true],
    ['main.ts', 'node:util', true],
    ['commands/import.ts', '../data/domain/posts.ts', true],
    ['commands/serve.ts', '../main.ts', false],
    ['import/records.ts', '../commands/import.ts', false],
    ['server.ts', './live/bus/memory.ts', true],
    ['server.ts', './commands/serve.ts', false],
    ['transport/http/server.ts', './http-stream.ts', true],
    ['transport/http/server.ts', '../../engine/engine.ts', true],
    ['transport/http/server.ts', '../../server.ts', false],
    ['transport/graphiql/page.ts', '../../data/sqlite/file.ts', false],
    ['engine/limits/depth.ts', '../../errors.ts', true],
    ['engine/schema.ts', '../resolvers/post.ts', true],
    ['engine/limits/rate.ts', '../../transport/http/server.ts', false],
    ['resolvers/post.ts', 'graphql', true],
    ['resolvers/post.ts', '../live/bus/bus.ts', true],
    ['resolvers/post.ts', '../live/bus/memory.ts', false],
    ['resolvers/post.ts', '../engine/engine.ts', false],
    ['resolvers/post.ts', '../generated/resolver-types.generated.ts', true],
    ['generated/resolver-types.generated.ts', '../resolvers/context.ts', true],
    ['resolvers/post.ts', '../changes/commit-change.ts', true],
    ['changes/commit-change.ts', '../live/bus/bus.ts', true],
    ['changes/deletions.ts', '../data/domain/rooms.ts', true],
    ['changes/deletions.ts', '../resolvers/post.ts', false],
    ['live/feed.ts', '../changes/commit-change.ts', false],
    ['live/feed.ts', '../data/event-log/events.ts', true],
    ['live/feed.ts', './bus/memory.ts', false],
    ['live/feed.ts', '../resolvers/post.ts', false],
    ['live/feed.ts', '../generated/resolver-types.generated.ts', false],
    ['identity/access.ts', '../data/domain/users.ts', true],
    ['identity/access.ts', '../live/feed.ts', false],
    ['data/database/open-database.ts', '../sqlite/database.ts', true],
    ['data/domain/posts.ts', '../sqlite/database.ts', false],
    ['data/database/open-database.ts', '../postgres/database.ts', true],
    ['data/postgres/batch.ts', './rows.ts', true],
    ['data/domain/posts.ts', '../postgres/database.ts', false],
    ['data/sqlite/database.ts', '../postgres/rows.ts', false],
    ['data/sqlite/connection.ts', 'node:sqlite', true],
    ['data/database/open-database.ts', 'node:sqlite', false],
    ['commands/import.ts', 'node:sqlite', false],
    ['data/domain/posts.ts', '../../identity/access.ts', false],
    ['data/domain/posts.ts', 'graphql-yoga', false],
    ['data/domain/posts.ts', '@graphql-tools/utils', false],
    ['log/log.ts', '../config/config.ts', true],
    ['config/config.ts', '../log/log.ts', false],
    ['common/limited-queue.ts', '../config/config.ts', false],
    ['common/cancellation.ts', '../errors.ts', true],
    ['server.ts', './text.ts', false],
    ['errors.ts', './data/tables.ts', false],
    ['data/domain/posts.ts', '../../helpers/text.ts', false],
    ['data/domain/posts.ts', '../../../test/rooms.ts', false],
    ['config/config.ts', '../../package.json', true],
  ];

  test.each(cases)('src/%s imports %s: %s', (file, specifier, isAllowed) => {
    expect(refuseImport(file, specifier) === undefined).toBe(isAllowed);
  });

  test('all files of src/ are checked, and each problem names the file', async () => {
    const root = await writeFiles({
      'src/data/posts.ts': "import { once } from 'node:events';\nimport type { Feed } from '../live/feed.ts';\n",
      'src/live/feed.ts': 'export const load = (name: string) => import(name);\n',
      'src/helpers/text.ts': '',
    });
    expect(await checkImports(root)).toEqual([
      'src/data/posts.ts imports ../live/feed.ts: data/ must not import live/, which is a higher layer',
      'src/helpers/text.ts is in no layer of scripts/check/imports.ts',
      'src/live/feed.ts: the module of an import() must be a string literal',
    ]);
  });
});

test('a name that two files export is named with both files, but not those of generated files', async () => {
  const root = await writeFiles({
    'src/data/posts.ts': 'export interface Page {}\nexport type { Room } from "./rooms.ts";\nconst local = 1;\n',
    'src/data/rooms.ts': 'export class Room {}\nexport const local = 2;\n',
    'src/transport/pages.ts': 'export function Page() {}\n',
    'src/data/schema.generated.ts': 'export type Page = 1;\n',
  });
  expect(await checkExportedNames(root)).toEqual([
    'Page is exported by src/data/posts.ts and src/transport/pages.ts: rename one, so that the name says which it is',
  ]);
});

describe('an advisory about a package', () => {
  const lock = {
    lockfileVersion: 3,
    packages: {
      '': { dependencies: { ws: '8.17.0' }, devDependencies: { tar: '6.0.0' } },
      'node_modules/ws': { version: '8.17.0' },
      'node_modules/tar': { version: '6.0.0', dev: true },
    },
  };
  const advisory = {
    id: 1,
    url: 'https://example.org/1',
    title: 'A defect',
    severity: 'high',
    vulnerable_versions: '<9',
  };

  /** What the check finds with a registry that answers each request about advisories in this way. */
  async function audit({ status = 200, files = {} }) {
    const registry = createServer((request, response) => {
      response.writeHead(request.url?.endsWith('/bulk') ? status : 404, { 'content-type': 'application/json' });
      request.resume().on('end', () => response.end(JSON.stringify({ ws: [advisory], tar: [advisory] })));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void registry.close());
    await once(registry, 'listening');
    const root = await writeFiles({
      'package.json': JSON.stringify(lock.packages['']),
      'package-lock.json': JSON.stringify(lock),
      ...files,
    });
    return checkAdvisories(root, `--registry=http://127.0.0.1:${(registry.address() as AddressInfo).port}`);
  }

  test('that is installed in production is a problem, and about one that only developers install is none', async () => {
    expect(await audit({})).toEqual(['ws (high): A defect (https://example.org/1)']);
  });

  test('cannot be found if the registry has no advisories, and the step is skipped', async () => {
    await expect(audit({ status: 405 })).rejects.toThrow(/^the registry does not answer: 405 /);
  });

  test('cannot be found without a lock file, which is a problem', async () => {
    expect(await audit({ files: { 'package-lock.json': '' } })).toEqual([expect.stringContaining('npm audit: ')]);
  });
});

describe('every form of import is found', () => {
  const found = [
    "import { a, type B } from './a.ts';",
    "import './a.ts';",
    "import type { A } from './a.ts';",
    "export * from './a.ts';",
    "export type { A } from './a.ts';",
    "const a = await import('./a.ts');",
    "let a: import('./a.ts').A;",
  ];

  test.each(found)('%j', (code) => {
    expect(readImports(code)).toEqual(['./a.ts']);
  });

  test.each(["// import a from './a.ts';", "const code = `import a from './a.ts';`;"])('but not in %j', (code) => {
    expect(readImports(code)).toEqual([]);
  });
});

test('Biome refuses import cycles, also of types, and every reader of the environment except src/config/config.ts', async () => {
  const reader = "import type { A } from './a.ts';\n\nexport const port = (_: A) => process.env['PORT'];\n";
  const root = await writeFiles({
    'biome.json': await readFile(inRepository('biome.json'), 'utf8'),
    'src/a.ts': "import type { port } from './b.ts';\n\nexport type A = typeof port;\n",
    'src/b.ts': reader,
    'src/config/config.ts': reader.replace('./a.ts', '../a.ts'),
    'src/c.ts': "import { env } from 'node:process';\n\nexport const port = env['PORT'];\n",
  });
  const { stdout } = await runInstalled('biome', ['lint', `--config-path=${root}`, '--reporter=json', root]);
  const { diagnostics }: { diagnostics: { category: string; location: { path: string } }[] } = JSON.parse(stdout);
  const found = diagnostics.map(({ category, location }) => `${relative(root, location.path)}: ${category}`);
  expect(found.sort()).toEqual([
    'src/a.ts: lint/suspicious/noImportCycles',
    'src/b.ts: lint/style/noProcessEnv',
    'src/b.ts: lint/suspicious/noImportCycles',
    'src/c.ts: lint/style/noRestrictedImports',
  ]);
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

test('a relative link must lead to a file, and its anchor to a heading', async () => {
  const root = await writeFiles({
    'README.md': `# Start here
      [1](#start-here) [2](docs/api.md) [3](docs/api.md#the-limit-in-bytes-1) [4](https://example.org/#none)
      [5](#none) [6](docs/none.md) ![7](docs/none.png) [8](docs/api.md#none)`.replaceAll('\n      ', '\n\n'),
    'docs/api.md':
      '# The `LIMIT` in *bytes*\n\n## The LIMIT in bytes\n\n[up](../README.md#start-here) [9](README.md)\n',
  });
  expect(await checkLinks(root)).toEqual([
    'README.md: the link to #none is broken: README.md has no heading #none',
    'README.md: the link to docs/none.md is broken: docs/none.md does not exist',
    'README.md: the link to docs/none.png is broken: docs/none.png does not exist',
    'README.md: the link to docs/api.md#none is broken: docs/api.md has no heading #none',
    'docs/api.md: the link to README.md is broken: docs/README.md does not exist',
  ]);
});

describe('a sample', () => {
  const right: [language: string, code: string][] = [
    ['graphql', '{ rooms { data { id } } }'],
    ['json', '{ "a":\n1 }'],
    ['json', '{ "line": 1 }\n{ "line": 2 }'],
    ['js', "import { createClient } from 'graphql-ws';\ncreateClient({ url: '' }).dispose();"],
    ['sh', `curl -d '{"query":"{ room(id: \\"'$ROOM'\\") { id } }"}'`],
  ];

  test.each(right)('in %s is accepted if it is right: %j', async (language, code) => {
    expect(await problemsOf(language, code)).toEqual([]);
  });

  const wrong: [language: string, code: string, problem: string][] = [
    ['graphql', '{ rooms { data { colour } } }', 'Cannot query field "colour" on type "Room".'],
    ['graphql', '{ rooms ', 'Syntax Error: Expected Name, found <EOF>.'],
    ['json', '{ line: 1 }', 'not JSON: { line: 1 }'],
    ['js', 'const = 1;', 'Unexpected token'],
    ['js', 'const query = `query { colour }`;', 'Cannot query field "colour" on type "Query".'],
    ['js', "import { createClients } from 'graphql-ws';", 'has no exported member'],
    ['js', "import { createClient } from 'graphql-wss';", 'Cannot find module'],
    ['sh', `curl -d '{"query":"{ colour }"}'`, 'Cannot query field "colour" on type "Query".'],
    ['sh', `curl -d '{"query":{ colour }}'`, 'not JSON: {"query":{ colour }}'],
    ['sh', 'curl --data-urlencode "query={ colour }"', 'Cannot query field "colour" on type "Query".'],
    ['', '1 + 1', 'there is no check for the language ""'],
  ];

  test.each(wrong)('in %s is refused if it is wrong: %j', async (language, code, problem) => {
    expect(await problemsOf(language, code)).toEqual([expect.stringContaining(problem)]);
  });

  const nameOf = (language: string, code: string) =>
    `docs/${[...right, ...wrong].findIndex((sample) => sample[0] === language && sample[1] === code)}.md`;
  /** All samples are checked at once, each in a document of its own: their types are checked by one start of tsc. */
  let problems: Promise<string[]> | undefined;
  async function problemsOf(language: string, code: string): Promise<string[]> {
    problems ??= checkAll();
    return (await problems).filter((problem) => problem.startsWith(nameOf(language, code)));
  }

  async function checkAll(): Promise<string[]> {
    const text = (language: string, code: string) => `\`\`\`${language}\n${code}\n\`\`\`\n`;
    const documents = [...right, ...wrong].map(([language, code]) => [nameOf(language, code), text(language, code)]);
    return checkSamples(await writeFiles(Object.fromEntries(documents)));
  }
});

test('the README lists every setting with its default, and no other', async () => {
  const problems = await checkSettings(
    await writeFiles({
      'README.md': `| setting | default | |
| --- | --- | --- |
| \`HOST\`, \`PORT\` | \`127.0.0.1\`, \`5000\` | |
| \`PUBLIC_URL\` | none | |
| \`COLOUR\` | none | |
| \`LIMIT_DEPTH\` | none | |
`,
    }),
  );
  expect(problems).toEqual(
    expect.arrayContaining([
      'README.md: the setting LIMIT_COST is missing',
      'README.md: there is no setting COLOUR',
      'README.md: 5000 is not the default of PORT',
      'README.md: one of PUBLIC_URL, COLOUR, LIMIT_DEPTH has a default that is not written as code',
    ]),
  );
  expect(problems.filter((problem) => /HOST|PUBLIC_URL is/.test(problem))).toEqual([]);
});

test('a row of docs/limits.md must show the values of the constants and settings that it names, in their order', async () => {
  const rows = [
    ['10', '`LIMIT_DEPTH`'],
    ['12', '`LIMIT_DEPTH`'],
    ['16 KiB and 5 characters', '`maxBytes` and `maxNames` in `a.ts`'],
    ['5 characters and 16 KiB', '`maxBytes` and `maxNames` in `a.ts`'],
    ['1,500 ms', '`pauseMs` in `a.ts`'],
    ['2 min', '`windowSeconds` in `a.ts`'],
    ['0.6', '`share` in `b.ts`'],
    ['200', '`title` in `b.ts`'],
    ['7', '`maxNames` in `b.ts`'],
    ['7', '`maxRooms` in `b.ts`'],
    ['none', '`share` in `b.ts`'],
  ];
  const root = await writeFiles({
    'README.md': '| setting | default | |\n|---|---|---|\n| `LIMIT_DEPTH` | `10` | |\n',
    'docs/limits.md': `| limit | value | set by |\n|---|---|---|\n${rows.map(([value, by], row) => `| ${row} | ${value} | ${by} |`).join('\n')}\n`,
    'src/engine/a.ts':
      'export const maxBytes = 2 ** 14;\nconst options = { maxNames: 5, pauseMs: 1_500 };\nconst windowSeconds = 2 * minuteSeconds;\n',
    'src/live/b.ts':
      'const minuteSeconds = 60;\nconst share = 0.6;\nconst title = line(200);\nconst maxRooms = readRooms();\n',
  });
  expect(await checkLimits(root)).toEqual([
    'docs/limits.md: 1: LIMIT_DEPTH is 12, but in the source it is 10',
    'docs/limits.md: 3: maxBytes is 5, but in the source it is 16384',
    'docs/limits.md: 3: maxNames is 16384, but in the source it is 5',
    'docs/limits.md: 8: maxNames is 7, but in the source it is no number in the files of the row',
    'docs/limits.md: 9: maxRooms is 7, but in the source it is no number in the files of the row',
    'docs/limits.md: 10: share is undefined, but in the source it is 0.6',
  ]);
});

test('a name in the documentation must be that of a file, script, command, setting, error code or identifier', async () => {
  const root = await writeFiles({
    'package.json': '{ "scripts": { "check": "tsc" } }',
    'src/live/feed.ts': 'export class Feed {}\n',
    'docs/architecture.md': `\`Feed\` \`live/feed.ts\` \`feed.ts\` \`src/live/feed.ts\` \`npm run check\` \`npx postroom serve\`
\`PORT=0\` \`NOT_FOUND\` \`SerialQueue\` \`live/bus\` \`live/lane.ts\` \`npm run colour\` \`npx postroom colour\` \`LIMIT_COLOUR=1\``,
  });
  const missing = ['SerialQueue', 'live/bus', 'live/lane.ts', 'colour', 'colour', 'LIMIT_COLOUR'];
  expect(await checkNames(root)).toEqual(missing.map((name) => `docs/architecture.md: ${name} does not exist`));
});

test('a sample of a client must be part of its file', async () => {
  const root = await writeFiles({
    'docs/clients.md': '```ts\n// clients/a/live.ts\nlet a;\n```\n\n```ts\n// clients/b/live.ts\nlet a;\n```\n',
    'clients/a/live.ts': 'let url;\nlet a;\n',
    'clients/b/live.ts': 'let b;\n',
  });
  expect(await checkCopies(root)).toEqual(['docs/clients.md:6: the sample is not part of clients/b/live.ts']);
});

test('the text that a mutant of the simulator replaces must be in its file exactly once', async () => {
  const root = await writeFiles({ 'src/live/feed.ts': 'let a = 1;\nlet b = 2;\nlet c = 2;\n' });
  const mutants = [
    { name: 'one', file: 'live/feed.ts', from: '= 1', to: '' },
    { name: 'none', file: 'live/feed.ts', from: '= 3', to: '' },
    { name: 'two', file: 'live/feed.ts', from: '= 2', to: '' },
    { name: 'moved', file: 'live/feeds.ts', from: '= 1', to: '' },
  ];
  expect(await checkMutants(root, mutants)).toEqual([
    'simulation/mutants.ts: src/live/feed.ts must have the text of the mutant "none" once, and has it 0 times.',
    'simulation/mutants.ts: src/live/feed.ts must have the text of the mutant "two" once, and has it 2 times.',
    'simulation/mutants.ts: src/live/feeds.ts must have the text of the mutant "moved" once, and has it 0 times.',
  ]);
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
