import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { EventStream } from '../support/clients/event-stream.ts';
import { exchange } from '../support/clients/http.ts';
import {
  launch,
  launchForTest,
  type Person,
  type Postroom,
  run,
  runRefused,
  scratchFolder,
  startInProcess,
} from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

/* The files of a database are removed or replaced while the server runs. */

const server = shareServer();
const createPost = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';

async function makeRoom(postroom: Postroom): Promise<{ ada: Person; room: string }> {
  const ada = await postroom.signUp('Ada');
  return { ada, room: await postroom.createRoom(ada, `room of ${ada.id}`) };
}

async function readiness(postroom: Postroom): Promise<number> {
  return (await exchange(postroom, { path: '/ready' })).status;
}

/** Creates a database with another server, and stops that server. */
async function makeForeignDatabase(): Promise<string> {
  const file = join(scratchFolder(), 'foreign.db');
  const foreign = await startInProcess({ DATABASE_URL: `sqlite:${file}` });
  await foreign.createRoom(await foreign.signUp('Eve'), 'foreign');
  await foreign.stop();
  return file;
}

describe.each(['', '-wal', '-shm'])('while postroom.db%s is missing', (suffix) => {
  it('writes are refused, reads and streams continue, no file is created, and it recovers when the file is back', async () => {
    const { postroom, databaseFile } = server;
    const { ada, room } = await makeRoom(postroom);
    const before = postroom.log.length;
    const stream = await EventStream.open(postroom.graphqlUrl, `subscription { postAdded(room: "${room}") { title } }`);
    const write = (title: string) => postroom.send(createPost, { input: { room, title } }, ada.token);
    const path = databaseFile + suffix;
    const aside = join(scratchFolder(), 'aside');
    renameSync(path, aside);
    onTestFinished(() => {
      if (existsSync(aside)) renameSync(aside, path);
    });
    const refused = await write('lost');
    expect(refused).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await readiness(postroom)).toBe(503);
    const read = () =>
      postroom.send('query ($room: ID!) { room(id: $room) { cursor posts { nodes { title } } } }', { room });
    // The reads are concurrent, so that each uses a separate connection to the database.
    for (const { status } of await Promise.all(Array.from({ length: 6 }, read))) expect(status).toBe(200);
    expect(existsSync(path)).toBe(false);
    renameSync(aside, path);
    expect(await readiness(postroom)).toBe(200);
    expect((await write('kept')).status).toBe(200);
    const { data } = await stream.take(({ event }) => event === 'next');
    expect(data.data.postAdded.title).toBe('kept');
    stream.response.destroy();
    expect((await read()).data.room.posts.nodes).toEqual([{ title: 'kept' }]);
    expect(postroom.log.slice(before)).toMatchObject([
      { level: 50, reason: `${path} was removed` },
      { level: 40, msg: 'the database can be written again' },
    ]);
  });
});

it('while another database is in its place, nothing is written to either, and no acknowledged write is lost', async () => {
  const { postroom, databaseFile } = server;
  const { ada, room } = await makeRoom(postroom);
  const foreign = await makeForeignDatabase();
  const aside = join(scratchFolder(), 'aside');
  renameSync(databaseFile, aside);
  copyFileSync(foreign, databaseFile);
  onTestFinished(() => renameSync(aside, databaseFile));
  expect(await readiness(postroom)).toBe(503);
  expect((await postroom.send(createPost, { input: { room, title: 'lost' } }, ada.token)).status).toBe(503);
  expect((await postroom.send('query ($room: ID!) { room(id: $room) { cursor } }', { room })).data.room).not.toBeNull();
  expect(readFileSync(databaseFile).equals(readFileSync(foreign))).toBe(true);
});

it('a database file that was overwritten is noticed, and nothing more is written', async () => {
  const file = join(scratchFolder(), 'postroom.db');
  const postroom = await launchForTest({ DATABASE_URL: `sqlite:${file}` });
  const { ada, room } = await makeRoom(postroom);
  writeFileSync(file, readFileSync(await makeForeignDatabase()));
  expect(await readiness(postroom)).toBe(503);
  expect((await postroom.send(createPost, { input: { room, title: 'lost' } }, ada.token)).status).toBe(503);
  expect(postroom.log).toMatchObject([{ level: 50, reason: expect.stringContaining(`${file} was overwritten`) }]);
});

it('a removed database is noticed without a request, also behind a symbolic link', async () => {
  const folder = scratchFolder();
  const file = join(folder, 'link.db');
  symlinkSync(join(folder, 'postroom.db'), file);
  const postroom = await launchForTest({ DATABASE_URL: `sqlite:${file}` });
  await makeRoom(postroom);
  rmSync(join(folder, 'postroom.db'));
  await expect.poll(() => postroom.log).toMatchObject([{ level: 50, reason: `${file} was removed` }]);
  expect(existsSync(join(folder, 'postroom.db'))).toBe(false);
});

describe('no database is created beside the write-ahead log of one that is missing, by', () => {
  /** A database whose server was killed. */
  const original = mkdtempSync(join(tmpdir(), 'postroom-test-'));
  let ada: Person;
  beforeAll(async () => {
    const postroom = await launch({ DATABASE_URL: `sqlite:${join(original, 'postroom.db')}` });
    ada = await postroom.signUp('Ada');
    await postroom.kill();
  });
  afterAll(() => rmSync(original, { recursive: true }));

  it.each([
    ['serve'],
    ['import', '-'],
    ['grant-admin', 'ada@example.org'],
    ['key', 'create', '--name', 'app', '--scopes', 'read'],
  ])('%s', async (...args) => {
    const folder = scratchFolder();
    const file = join(folder, 'postroom.db');
    const settings = { DATABASE_URL: `sqlite:${file}`, PORT: '0' };
    cpSync(original, folder, { recursive: true });
    renameSync(file, `${file}.moved`);
    const { status, stderr } = await run(args.filter(Boolean), settings);
    expect(status).toBe(1);
    expect(stderr).toContain(
      `it is missing, but ${file}-wal is there: put the database back, or remove ${file}-wal and ${file}-shm`,
    );
    renameSync(`${file}.moved`, file);
    const again = await launchForTest(settings);
    expect(await again.ask('{ viewer { id } }', {}, ada.token)).toEqual({ viewer: { id: ada.id } });
  });
});

describe('no database is created where there is none, because the account must exist, by', () => {
  it.each([['set-password'], ['sign-in-link'], ['grant-admin'], ['revoke-admin']])('%s', async (command) => {
    const folder = scratchFolder();
    const file = join(folder, 'mistyped', 'postroom.db');
    const refusal = await runRefused([command, 'ada@example.org'], { DATABASE_URL: `sqlite:${file}` });
    expect(refusal).toBe(`postroom: the database cannot be used: there is no file ${file}`);
    expect(readdirSync(folder)).toEqual([]);
  });
});
