import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { inRepository } from '../../../scripts/repository.ts';
import { chromiumNote, hasChromium, launchBrowser, newVisitor } from '../../support/clients/browser.ts';
import { Console } from '../../support/clients/console.ts';
import { launchProcessForTest, type Settings, scratchFolder } from '../../support/server/postroom.ts';

/* The npm package, as a user installs it. Its dependencies come from the registry, or from the cache of npm. */

const folder = mkdtempSync(join(tmpdir(), 'postroom-package-'));
const program = join(folder, 'empty/node_modules/.bin/postroom');
const settings = {
  PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
  NODE_OPTIONS: '',
};

let packed: { filename: string; size: number; files: { path: string }[] };

async function run(command: string, args: string[], cwd: string, own: Settings = {}): Promise<string> {
  return (await promisify(execFile)(command, args, { cwd, env: { ...process.env, ...settings, ...own } })).stdout;
}

function historyOf(posts: number): string {
  const timeOf = (index: number) => new Date(Date.UTC(2004, 11, 25) + index * 1_000).toISOString();
  const lines = [
    { type: 'room', name: 'ubuntu' },
    { type: 'user', name: 'crimsun', createdAt: timeOf(0) },
    ...Array.from({ length: posts }, (_, index) => {
      return { type: 'post', room: 'ubuntu', author: 'crimsun', title: 'Hi', body: 'Hi', publishedAt: timeOf(index) };
    }),
  ];
  return lines.map((line) => JSON.stringify(line)).join('\n');
}

beforeAll(async () => {
  [packed] = JSON.parse(await run('npm', ['pack', '--json', '--pack-destination', folder], inRepository()));
  mkdirSync(join(folder, 'empty'));
  const options = ['--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...options, join(folder, packed.filename)], join(folder, 'empty'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('contains what users need, in less than 700 kB', () => {
  const paths = packed.files.map(({ path }) => path);
  const documents = ['README.md', 'CHANGELOG.md', 'LICENSE', 'SECURITY.md'];
  const others = ['package.json', 'schema.graphql', 'possible-types.json', 'compose.yaml', 'Dockerfile'];
  const folders = ['bin', 'deploy', 'dist', 'docs', 'ops'];
  const tops = new Set(paths.map((path) => path.split('/')[0]));
  expect([...tops].sort()).toEqual([...documents, ...others, ...folders].sort());
  expect(paths.filter((path) => /(?<!\.d)\.ts$|\.map$|\.test\./.test(path))).toEqual([]);
  // What the compiler reads for an extension.
  expect(paths).toContain('dist/extension.d.ts');
  expect(packed.size).toBeLessThan(700_000);
});

it('refers to no TypeScript file, also not for a worker', () => {
  const modules = packed.files.filter(({ path }) => path.startsWith('dist/') && path.endsWith('.js'));
  const installed = join(folder, 'empty/node_modules/@postroom/server');
  const code = modules.map(({ path }) => readFileSync(join(installed, path), 'utf8'));
  expect(code.flatMap((text) => text.match(/'\.[^']*\.ts'/g) ?? [])).toEqual([]);
  expect(code.join('\n')).toContain("new URL('./worker.js', import.meta.url)");
});

it('installs neither TypeScript nor Node', () => {
  for (const name of ['typescript', 'node']) expect(existsSync(join(folder, 'empty/node_modules', name))).toBe(false);
});

it('serves from an empty folder: queries, also in threads, durable changes, imports and GraphiQL', async () => {
  const database = `sqlite:${join(scratchFolder(), 'postroom.db')}`;
  const postroom = await launchProcessForTest({ ...settings, DATABASE_URL: database }, ['serve'], program);
  const room = await postroom.createRoom(await postroom.signUp('Ada'), 'lobby');
  expect(await postroom.ask('query ($room: ID!) { room(id: $room) { name } }', { room })).toEqual({
    room: { name: 'lobby' },
  });
  const file = join(folder, 'history.ndjson');
  writeFileSync(file, historyOf(5_000));
  await run(program, ['import', file], folder, { DATABASE_URL: database });
  // So many rows are counted by a thread.
  expect((await postroom.ask('{ posts { pagination { total } } }')).posts.pagination.total).toBe(5_000);
  const page = await fetch(postroom.graphqlUrl, { headers: { accept: 'text/html' } });
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('graphiql')]);
  const ended = once(postroom.process, 'exit');
  postroom.process.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(postroom.log).toEqual([]);
});

it.skipIf(!hasChromium)(`serves the console${chromiumNote}`, async () => {
  const own = { ...settings, DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
  const postroom = await launchProcessForTest(own, ['serve'], program);
  const ada = await postroom.signUp('Ada');
  await run(program, ['grant-admin', ada.email, '--yes'], folder, own);
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const opened = await Console.open(await newVisitor(browser), postroom);
  await opened.signIn(ada);
  await opened.isIn('Live');
  await opened.rows('connections', 'Ada').waitFor();
  opened.expectNoFault(postroom);
});

it('prints its schema', async () => {
  expect(await run(program, ['schema'], folder)).toBe(readFileSync(inRepository('schema.graphql'), 'utf8'));
  const possibleTypes = readFileSync(inRepository('possible-types.json'), 'utf8');
  expect(await run(program, ['schema', '--possible-types'], folder)).toBe(possibleTypes);
  expect(JSON.parse(await run(program, ['schema', '--json'], folder))).toHaveProperty('__schema');
});

it('lets other packages import the schema and the possible types', async () => {
  const code = `import types from '@postroom/server/possible-types.json' with { type: 'json' };
    import.meta.resolve('@postroom/server/schema.graphql');
    console.log(JSON.stringify(types));`;
  const types = await run(process.execPath, ['--input-type=module', '-e', code], join(folder, 'empty'));
  expect(JSON.parse(types)).toEqual(JSON.parse(readFileSync(inRepository('possible-types.json'), 'utf8')));
});

it('npm sbom lists the packages that the server contains, and tells them from those for development', async () => {
  const options = ['--sbom-format', 'cyclonedx', '--package-lock-only'];
  const bill: { components: { name: string; properties?: { name: string; value: string }[] }[] } = JSON.parse(
    await run('npm', ['sbom', ...options], inRepository()),
  );
  const names = bill.components
    .filter(({ properties = [] }) => !properties.some(({ name }) => name === 'cdx:npm:package:development'))
    .map(({ name }) => name);
  const { dependencies } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'));
  expect(names).toEqual(expect.arrayContaining(['node', ...Object.keys(dependencies)]));
  expect(names).not.toContain('vitest');
});
