import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'rolldown';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { inRepository, runInstalled } from '../../scripts/repository.ts';
import { shareServer } from '../support/server/shared-server.ts';

/* @postroom/client as a user installs it: from its tarball, in a project without a bundler. */

const server = shareServer();
const folder = mkdtempSync(join(tmpdir(), 'postroom-client-package-'));
const project = join(folder, 'project');
const maxBytes = 3_000;
const env = {
  ...process.env,
  PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
  NODE_OPTIONS: '',
};

let packed: { filename: string; files: { path: string }[] };

async function run(command: string, args: string[], cwd: string): Promise<string> {
  return (await promisify(execFile)(command, args, { cwd, env })).stdout;
}

/** The packages that a user installs, in the versions of this repository. */
function listPackages(): string[] {
  const { dependencies } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'));
  const { devDependencies } = JSON.parse(readFileSync(inRepository('packages/client/package.json'), 'utf8'));
  const versions: Record<string, string> = { ...dependencies, ...devDependencies };
  return ['graphql', 'graphql-ws', 'react', '@types/react'].map((name) => `${name}@${versions[name]}`);
}

beforeAll(async () => {
  [packed] = JSON.parse(
    await run('npm', ['pack', '--json', '--pack-destination', folder], inRepository('packages/client')),
  );
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }');
  const options = ['--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...options, join(folder, packed.filename), ...listPackages()], project);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('contains JavaScript, its types and a README, and no other package', () => {
  const paths = packed.files.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(['README.md', 'dist/index.js', 'dist/index.d.ts', 'dist/react.js']));
  expect(
    paths.filter((path) => !/^(README\.md|package\.json|documents\.json|dist\/[\w-]+(\.d\.ts|\.js))$/.test(path)),
  ).toEqual([]);
  const installed = readFileSync(join(project, 'node_modules/@postroom/client/package.json'), 'utf8');
  expect(JSON.parse(installed)).not.toHaveProperty('dependencies');
});

const app = `import { createPostroomClient, failureOf, inboxStore, type Post, type PostroomClient, roomStore } from '@postroom/client';
import { useConnection, useRoom } from '@postroom/client/react';
import { type Client, createClient } from 'graphql-ws';

const postroom = createPostroomClient({ url: 'http://127.0.0.1:4000/graphql', createClient, token: undefined });
export const live: Client = postroom.live;
const room = roomStore<Post & { isPinned: boolean }>(postroom, 'r1', { postFields: 'isPinned: published' });
room.subscribe(() => console.log(room.get().posts.map(({ isPinned, title }) => [isPinned, title])));
inboxStore(postroom).subscribe(() => {});
live.on('connected', () => {});
for await (const { data } of live.iterate<{ viewer: { id: string } | null }>({ query: '{ viewer { id } }' })) {
  console.log(data?.viewer?.id);
}
await postroom.request<{ viewer: null }>('{ viewer { id } }').catch((error: unknown) => failureOf(error).action);

export function Room({ client, id }: { client: PostroomClient; id: string }) {
  const [{ room, posts }, { loadOlder }] = useRoom(client, id);
  const { state } = useConnection(client);
  return <button type="button" onClick={() => void loadOlder()}>{room?.name} {posts.length} {state}</button>;
}
export const page = <Room client={postroom} id="r1" />;

// @ts-expect-error: a client needs a URL.
createPostroomClient({ createClient });
// @ts-expect-error: a state that does not exist.
export const isGone = postroom.connection.get().state === 'gone';
`;

it.each([
  'nodenext',
  'preserve',
])('has types for a strict project that also checks its libraries: module %s', async (module) => {
  const types = join(project, `types-${module}`);
  mkdirSync(types);
  const strict = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
  };
  const compilerOptions = {
    ...strict,
    module,
    ...{ target: 'es2024', lib: ['es2024', 'dom', 'dom.iterable'], jsx: 'react-jsx', types: [], noEmit: true },
  };
  writeFileSync(join(types, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.tsx'] }));
  writeFileSync(join(types, 'app.tsx'), app);
  const { status, stdout } = await runInstalled('tsc', ['-p', types, '--pretty', 'false']);
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
});

const program = `import { createPostroomClient, roomStore } from '@postroom/client';
import { createClient } from 'graphql-ws';

const [url, token, id] = process.argv.slice(2);
const postroom = createPostroomClient({ url, createClient, token });
const room = roomStore(postroom, id);
const stop = room.subscribe(() => {
  const { room: opened, posts, failure } = room.get();
  if (failure) throw new Error(failure.message);
  if (!opened) return;
  if (posts.length === 0) return void postroom.request(
    'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }',
    { input: { room: id, title: 'Hello' } },
  );
  console.log(posts[0].title);
  stop();
  postroom.live.terminate();
  postroom.live.dispose();
});
`;

it('receives an event in Node, without a bundler', async () => {
  const { postroom } = server;
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'packed client');
  const file = join(project, 'program.js');
  writeFileSync(file, program);
  onTestFinished(() => rmSync(file));
  expect(await run(process.execPath, [file, postroom.graphqlUrl, ada.token, room], project)).toBe('Hello\n');
});

it(`adds at most ${maxBytes} bytes to a page that uses the connection alone`, async () => {
  const entry = join(project, 'entry.js');
  writeFileSync(entry, `export { createPostroomClient } from '@postroom/client';`);
  const { output } = await build({
    input: entry,
    platform: 'browser',
    output: { minify: true },
    write: false,
    logLevel: 'silent',
  });
  expect(output).toHaveLength(1);
  expect(gzipSync(output[0].code).length).toBeLessThanOrEqual(maxBytes);
});
