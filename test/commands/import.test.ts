// Runs on SQLite and on PostgreSQL.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { writeUsers } from '../support/database/rows.ts';
import { isPostgresTest, openDirectly } from '../support/database/test-database.ts';
import { Archive, ada, bob, history, OutputReader, post, room, startImport, toText } from '../support/rooms/history.ts';
import { grantAdmin, launchForTest, main, type Postroom, programEnvironment } from '../support/server/postroom.ts';
import { withDatabase } from '../support/server/shared-server.ts';

const postsOfRoom = `query ($name: String!, $last: Int = 100) {
  roomByName(name: $name) {
    cursor
    posts(last: $last) { nodes { title body publishedAt createdAt updatedAt version author { name createdAt email } } }
  }
}`;

// biome-ignore lint/suspicious/noExplicitAny: its shape is the query's.
async function readPosts(postroom: Postroom, name = 'lobby'): Promise<any[]> {
  const { roomByName } = await postroom.ask(postsOfRoom, { name });
  return roomByName.posts.nodes;
}

it('an imported post is published at its own time, by its author, in its room, as it was written; only control characters of titles are replaced and counted', async () => {
  const archive = new Archive();
  const name = ' ‮[optik]\u200d 👩‍👩‍👧 ';
  const body = 'tab\there \u0001\u001b[31m \u202e שלום \u200b {{x}} <script> \u{10ffff} \ufeff';
  const imported = await archive.take([
    room,
    ada,
    { ...ada, name },
    post(1, { title: 'Hello', body: 'Hello\nthere' }),
    post(0),
    post(2, { author: name, title: '<b>𝕏</b>', body }),
    post(3, { title: 'a\tb\u0000c\u009bd', body: '' }),
    post(4, { title: '\u0002x', body: null }),
  ]);
  expect(imported).toMatchObject({ status: 0, stderr: '', rooms: [1, 0], users: [2, 0], posts: [5, 0], refused: 0 });
  expect(imported.stdout).toContain('2 titles had control characters replaced by spaces\n');
  expect(archive.count('roomEvents')).toBe(0);
  const times = (time: string) => ({ publishedAt: time, createdAt: time, updatedAt: time });
  const common = { version: 1, author: { name: 'ada', createdAt: ada.createdAt, email: null } };
  expect(await readPosts(await launchForTest(archive.settings))).toEqual([
    { ...common, title: 'post 0', body: 'post 0', ...times('2005-01-01T00:00:00.000Z') },
    { ...common, title: 'Hello', body: 'Hello\nthere', ...times('2005-01-01T00:01:00.000Z') },
    {
      ...common,
      title: '<b>𝕏</b>',
      body,
      author: { ...common.author, name },
      ...times('2005-01-01T00:02:00.000Z'),
    },
    { ...common, title: 'a b c d', body: '', ...times('2005-01-01T00:03:00.000Z') },
    { ...common, title: ' x', body: null, ...times('2005-01-01T00:04:00.000Z') },
  ]);
});

it('an imported room may be private: a later line does not make it public, and it and its posts are visible only to admins and to the members whom they add', async () => {
  const attic = { type: 'room', name: 'attic', visibility: 'PRIVATE' };
  const findAttic = '{ roomByName(name: "attic") { visibility } posts { data { title } } }';
  const archive = new Archive();
  const lines = [attic, { ...attic, visibility: 'PUBLIC' }, ada, post(0, { room: 'attic' })];
  const stderr = 'line 2: the room "attic" exists, and its visibility is PRIVATE\n';
  expect(await archive.take(lines)).toMatchObject({ status: 2, rooms: [1, 0], posts: [1, 0], refused: 1, stderr });
  expect(await archive.take(lines)).toMatchObject({ status: 2, rooms: [0, 1], posts: [0, 1], refused: 1, stderr });
  const postroom = await launchForTest(archive.settings);
  const admin = await postroom.signUp('Admin');
  expect(await postroom.ask(findAttic)).toEqual({ roomByName: null, posts: { data: [] } });
  await grantAdmin(archive.settings, admin);
  const { token } = (
    await postroom.ask(
      `mutation { signIn(input: { email: "${admin.email}", password: "${admin.password}" }) { token: accessToken } }`,
    )
  ).signIn;
  expect(await postroom.ask(findAttic, {}, token)).toEqual({
    roomByName: { visibility: 'PRIVATE' },
    posts: { data: [{ title: 'post 0' }] },
  });
});

describe('the input file', () => {
  it('may be packed in several members, and have a byte order mark, the line ends of Windows, empty lines and no newline at its end', async () => {
    const archive = new Archive();
    const text = `\ufeff${toText(history(2)).replaceAll('\n', '\r\n\n \t\r\n')}`.trimEnd();
    const packed = Buffer.concat([gzipSync(text.slice(0, 99)), gzipSync(text.slice(99))]);
    const imported = await archive.takeFile(archive.write('history.gz', packed));
    expect(imported).toMatchObject({ status: 0, stderr: '', rooms: [1, 0], users: [1, 0], posts: [2, 0], refused: 0 });
  });

  it('may be standard input, in pieces of any size, or packed, which its first bytes show', async () => {
    const archive = new Archive();
    const { child, ended, out } = await startImport(archive.settings);
    const bytes = Buffer.from(toText([room, ada, post(0, { body: 'ü€𝕏' })]));
    for (const byte of bytes) if (!child.stdin.write(Uint8Array.of(byte))) await once(child.stdin, 'drain');
    child.stdin.end();
    await ended;
    expect(out.said).toContain('posts: 1 added');
    const single = await archive.takeInput(gzipSync(toText([post(1, { title: 'a\tb' })])), '-');
    expect(single).toMatchObject({ status: 0, posts: [1, 0] });
    expect(single.stdout).toMatch(/^1 record in .* s\n/);
    expect(single.stdout).toContain('\n1 title had control characters replaced by spaces\n');
    const posts = await readPosts(await launchForTest(archive.settings));
    expect(posts).toMatchObject([{ body: 'ü€𝕏' }, { title: 'a b' }]);
  });

  it('may be empty', async () => {
    const archive = new Archive();
    const none = { status: 0, stderr: '', rooms: [0, 0], users: [0, 0], posts: [0, 0], refused: 0 };
    expect(await archive.take([])).toMatchObject(none);
  });
});

describe('a second run', () => {
  it('adds the lines that are new, and recognises a line of an earlier run or of the same file', async () => {
    const archive = new Archive();
    const lines = [...history(20), bob, post(3, { author: 'bob', title: 'a\tb' })];
    const first = await archive.take([...lines, ...history(3)]);
    expect(first).toMatchObject({ status: 0, rooms: [1, 1], users: [2, 1], posts: [21, 3], refused: 0 });
    const joined = { ...bob, createdAt: '2020-01-01T00:00:00Z' };
    const second = await archive.take([...lines, joined, { ...bob, name: 'eve' }, post(20), post(21)], '--strict');
    expect(second).toMatchObject({ status: 0, rooms: [0, 1], users: [1, 3], posts: [2, 21], refused: 0 });
    expect([archive.count('rooms'), archive.count('users'), archive.count('posts')]).toEqual([1, 3, 23]);
    for (const text of ['control characters', 'stopped']) expect(second.stdout).not.toContain(text);
  });

  it('recognises a post by room, author, time and body, and by nothing else', async () => {
    const archive = new Archive();
    const known = (minute: number) => post(minute, { title: 'once', body: 'text' });
    const others = (minute: number) =>
      [
        { room: 'attic' },
        { author: 'bob' },
        { publishedAt: `2005-01-01T00:0${minute}:00.001Z` },
        { body: 'Text' },
        { body: '' },
        { body: null },
      ].map((fields) => ({ ...known(minute), ...fields }));
    const same = [
      { ...known(0), title: 'another' },
      { ...known(0), publishedAt: '2005-01-01T02:00:00+02:00' },
    ];
    const earlier = [known(0), known(1), ...others(1)];
    expect(await archive.take([room, { ...room, name: 'attic' }, ada, bob, ...earlier])).toMatchObject({
      status: 0,
      posts: [8, 0],
    });
    expect(await archive.take([...others(0), ...same, ...others(1)])).toMatchObject({ status: 0, posts: [6, 8] });
  });

  it('recognises a user by the exact name, among those without credentials, and a room by its name, also if users created it; it creates no event', async () => {
    const archive = new Archive();
    const postroom = await launchForTest(archive.settings);
    const person = await postroom.signUp('ada');
    const key = 'mutation { createApiKey(input: { name: "ada", scopes: [WRITE] }) { key } }';
    await postroom.ask(key, {}, person.token);
    const [subject] = writeUsers(archive.databaseFile, [1]);
    const asAda = `update users set name = 'ada', "oauthIssuer" = 'https://id.example', "oauthSubject" = 'ada' where id = ?`;
    withDatabase(archive.databaseFile, (database) => database.prepare(asAda).run(subject ?? ''));
    const { users } = await postroom.ask('{ users(filter: { name: "ada" }) { data { id } } }');
    expect(users.data).toHaveLength(3);
    await postroom.createRoom(await postroom.signUp('Eve'), 'lobby');
    const before = await postroom.ask(postsOfRoom, { name: 'lobby' });
    const eventCount = archive.count('roomEvents');
    const lines = [...history(1), { ...ada, name: 'Ada' }];
    expect(await archive.take(lines)).toMatchObject({ status: 0, rooms: [0, 1], users: [2, 0], posts: [1, 0] });
    for (const { id } of users.data) {
      const { user } = await postroom.ask('query ($id: ID!) { user(id: $id) { name posts { title } } }', { id });
      expect(user).toEqual({ name: 'ada', posts: [] });
    }
    const behind = await postroom.ask(postsOfRoom, { name: 'lobby' });
    expect(behind.roomByName.posts.nodes).toHaveLength(1);
    expect(behind.roomByName.cursor).toBe(before.roomByName.cursor);
    expect(archive.count('roomEvents')).toBe(eventCount);
  });

  it('continues where a run was killed', async () => {
    const archive = new Archive();
    const lines = history(2_000);
    const { child, ended, err } = await startImport(archive.settings);
    // The invalid line is reported after the commit of its batch. The input stays open, so that the run does not finish
    // before it is killed.
    child.stdin.write(toText(lines.toSpliced(1_200, 0, 'no JSON')));
    await err.hear('line 1201');
    child.kill('SIGKILL');
    await ended;
    const taken = archive.count('posts');
    expect(taken).toBeGreaterThan(1_000);
    expect(taken).toBeLessThan(2_000);
    expect(await archive.take(lines)).toMatchObject({ status: 0, users: [0, 1], posts: [2_000 - taken, taken] });
    expect(archive.count('posts')).toBe(2_000);
  });
});

describe('an invalid line is refused with its number and reason, and the others are imported', () => {
  const time = 'is not a time in ISO 8601 with an offset, such as 2026-11-20T08:30:00.000Z';
  const padded = (bytes: number) => JSON.stringify(post(1)).padEnd(bytes, ' ');
  const bad: [reason: string, line: object | string | Buffer][] = [
    ['it is not JSON', '{"type":"room","name":"attic"'],
    ['it is not JSON', '[['.repeat(100_000)],
    ['it is not UTF-8', Buffer.from('{"type":"room","name":"caf\xe9"}', 'latin1')],
    ['it is longer than 1000000 bytes', padded(1_000_001)],
    ['it is not a JSON object', '[]'],
    ['it is not a JSON object', 'null'],
    ['it is not a JSON object', '"room"'],
    ['type is not one of "room", "user" and "post"', {}],
    ['type is not one of "room", "user" and "post"', { type: 'Room', name: 'attic' }],
    ['type is not one of "room", "user" and "post"', { type: ['room'], name: 'attic' }],
    ['type is not one of "room", "user" and "post"', '{"__proto__":{"type":"room"},"name":"attic"}'],
    ['name is missing', { type: 'room' }],
    ['name is missing', { type: 'room', name: null }],
    ['name is not a string', { type: 'room', name: 7 }],
    ['name is empty', { type: 'room', name: ' \u3000' }],
    ['name is too long', { type: 'room', name: '𝕏'.repeat(81) }],
    ['name has characters that are not allowed', { type: 'room', name: 'at\ttic' }],
    ['name has characters that are not allowed', '{"type":"user","name":"\\ud800","createdAt":"2005-01-01T00:00:00Z"}'],
    ['name has characters that are not allowed', { ...bob, name: 'b\u0000b' }],
    ['visibility is not one of "PUBLIC" and "PRIVATE"', { ...room, name: 'attic', visibility: 'private' }],
    ['"visible" is not a field of a room', { ...room, name: 'attic', visible: false }],
    ['"visibility" is not a field of a user', { ...bob, visibility: 'PRIVATE' }],
    ['name is missing; "Name" is not a field of a room', { type: 'room', Name: 'attic' }],
    [
      '"id" is not a field of a post; "__proto__" is not a field of a post',
      JSON.stringify(post(1)).replace('{', '{"id":1,"__proto__":2,'),
    ],
    ['the room "lobby" exists, and its visibility is PUBLIC', { ...room, visibility: 'PRIVATE' }],
    ['createdAt is missing', { type: 'user', name: 'bob' }],
    [`createdAt ${time}`, { ...bob, createdAt: 'yesterday' }],
    [`createdAt ${time}`, { ...bob, createdAt: '2005-02-30T00:00:00Z' }],
    [`createdAt ${time}`, { ...bob, createdAt: '2005-01-01T00:00:00' }],
    ['createdAt is not a string', { ...bob, createdAt: 1_104_537_600_000 }],
    ['title is missing', post(1, { title: undefined })],
    ['title is empty', post(1, { title: '\t\n' })],
    ['title is too long', post(1, { title: '𝕏'.repeat(201) })],
    ['title has characters that are not allowed', JSON.stringify(post(1, { title: 'x' })).replace('"x"', '"\\udc00"')],
    ['body is not a string', post(1, { body: ['text'] })],
    ['body is too long', post(1, { body: '𝕏'.repeat(20_001) })],
    ['body has characters that are not allowed', post(1, { body: 'a\u0000b' })],
    ['body has characters that are not allowed', JSON.stringify(post(1, { body: 'x' })).replace('"x"', '"\\ud83d"')],
    ['publishedAt is missing', post(1, { publishedAt: undefined })],
    [`publishedAt ${time}`, post(1, { publishedAt: '2005-13-01T00:00:00Z' })],
    ['room is not a string', post(1, { room: { name: 'lobby' } })],
    ['room has characters that are not allowed', post(1, { room: 'lob\u0000by' })],
    ['there is no earlier record of the room "attic"', post(1, { room: 'attic' })],
    ['there is no earlier record of the room "Lobby"', post(1, { room: 'Lobby' })],
    ['there is no earlier record of the author "eve"', post(1, { author: 'eve' })],
    ['there is no earlier record of the author "constructor"', post(1, { author: 'constructor' })],
    [
      'there is no earlier record of the room "attic"; there is no earlier record of the author "eve"',
      post(1, { room: 'attic', author: 'eve' }),
    ],
    [`name is empty; createdAt ${time}`, { type: 'user', name: '', createdAt: 'yesterday' }],
    [
      'room is missing; author is not a string; title is too long; body is not a string; publishedAt is missing',
      { type: 'post', author: 7, title: 'x'.repeat(201), body: 7 },
    ],
  ];

  it('each for its own reasons', async () => {
    const archive = new Archive();
    const lines = [room, ada, ...bad.flatMap(([, line], index) => [line, post(100 + index)])];
    const bytes = lines.flatMap((line) =>
      Buffer.isBuffer(line) ? [line, Buffer.of(0x0a)] : Buffer.from(toText([line])),
    );
    const imported = await archive.takeFile(archive.write('history.ndjson', Buffer.concat(bytes)));
    const expected = bad.map(([reason], index) => `line ${2 * index + 3}: ${reason}`);
    expect(imported.stderr.trimEnd().split('\n')).toEqual(expected);
    const counts = { rooms: [1, 0], users: [1, 0], posts: [bad.length, 0], refused: bad.length };
    expect(imported).toMatchObject({ status: 2, ...counts });
    expect([archive.count('rooms'), archive.count('users'), archive.count('posts')]).toEqual([1, 1, bad.length]);
  });

  it('a value or line at a limit is imported, and a name can be used after its record, also in a later run', async () => {
    const archive = new Archive();
    const name = '𝕏'.repeat(80);
    const full = post(0, { room: name, author: name, title: '𝕏'.repeat(200), body: '𝕏'.repeat(20_000) });
    const lines = [{ ...room, name }, { ...ada, name }, full, room, post(0), ada, padded(1_000_000)];
    const imported = await archive.take(lines);
    expect(imported).toMatchObject({ status: 2, rooms: [2, 0], users: [2, 0], posts: [2, 0], refused: 1 });
    expect(imported.stderr).toBe('line 5: there is no earlier record of the author "ada"\n');
    expect(await archive.take([post(0), post(1)])).toMatchObject({ status: 0, posts: [1, 1] });
  });

  it('with --strict the first invalid line ends the import, and the lines before it are kept', async () => {
    const archive = new Archive();
    const lines = [...history(1_000), post(0, { author: 'eve' }), '', post(1_000), 'no JSON', room];
    const reasons = ['line 1003: there is no earlier record of the author "eve"\n', 'line 1006: it is not JSON\n'];
    const imported = await archive.take(lines, '--strict');
    expect(imported).toMatchObject({ status: 2, rooms: [1, 0], posts: [1_000, 0], refused: 1, stderr: reasons[0] });
    const stopped = 'stopped at line 1003, because of --strict: no later line was imported\n';
    expect(imported.stdout).toMatch(new RegExp(`lines refused: 1\n${stopped}$`));
    const whole = await archive.take(lines);
    expect(whole).toMatchObject({ status: 2, rooms: [0, 2], posts: [1, 1_000], refused: 2, stderr: reasons.join('') });
    expect(whole.stdout).not.toContain('stopped');
  });

  it.each([
    ['plain', (text: string) => text],
    ['packed', gzipSync],
  ])('with --strict the import ends even if its input continues, %s', async (_, pack) => {
    const archive = new Archive();
    const { child, ended } = await startImport(archive.settings, '--strict');
    child.stdin.write(pack(toText([...history(600), 'no JSON', ...history(600)])));
    const [status] = await ended;
    expect(status).toBe(2);
    expect(archive.count('posts')).toBe(600);
  });
});

describe('an import that cannot run gives the reason in one line, with status 1', () => {
  const packed = gzipSync(toText(history(1_000)), { level: 1 });
  async function expectRefused(archive: Archive, args: string[], says: RegExp): Promise<void> {
    const { status, stderr } = await archive.takeInput('', ...args);
    expect(status).toBe(1);
    expect(stderr).toMatch(says);
    expect(stderr.trimEnd()).not.toContain('\n');
  }

  it('a file that is not there, and a folder; no database is created', async () => {
    const archive = new Archive();
    const missing = `${archive.folder}/none.ndjson`;
    await expectRefused(archive, [missing], /^postroom: cannot read \S*none\.ndjson: there is no such file\n$/);
    await expectRefused(archive, [archive.folder], /cannot read .*: it is a folder/);
    expect(existsSync(archive.databaseFile)).toBe(false);
  });

  it('.gz in name alone, and an empty .gz', async () => {
    const archive = new Archive();
    const [plain, empty] = [archive.write('a.gz', toText(history(1))), archive.write('b.gz', '')];
    await expectRefused(archive, [plain], /a\.gz: its gzip data is damaged/);
    await expectRefused(archive, [empty], /b\.gz: its gzip data ends too early/);
  });

  it.each([
    ['no file', []],
    ['two files', ['a', 'b']],
    ['an option that it does not know', ['--loose', 'a']],
  ])('%s', (_, args) => expectRefused(new Archive(), args, /^usage: postroom import FILE/));

  it('compressed data that is truncated or damaged: the lines before the damage are kept', async () => {
    const archive = new Archive();
    const cut = await archive.takeFile(archive.write('cut.gz', packed.subarray(0, packed.length - 1_000)));
    expect(cut).toMatchObject({ status: 1, rooms: [1, 0] });
    expect(cut.stderr).toMatch(/^postroom: cannot read .*cut\.gz: its gzip data ends too early.*\n$/);
    const [kept = 0] = cut.posts;
    expect(kept).toBeGreaterThan(0);
    expect(archive.count('posts')).toBe(kept);
    const damaged = Buffer.from(packed).fill(0xff, packed.length - 1_000, packed.length - 900);
    const { status, stderr } = await archive.takeInput(damaged, '-');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^postroom: cannot read standard input: its gzip data is damaged.*\n$/);
    const standing = archive.count('posts');
    expect(standing).toBeGreaterThanOrEqual(kept);
    const whole = await archive.take(history(1_000));
    expect(whole).toMatchObject({ status: 0, posts: [1_000 - standing, standing] });
  });

  it('an invalid setting, and a file that is not a database', async () => {
    const archive = new Archive();
    const file = archive.write('history.ndjson', toText(history(1)));
    Object.assign(archive.settings, { DATABASE_URL: 'mysql://x' });
    expect(await archive.takeFile(file)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^postroom: DATABASE_URL must be .* \(got "mysql:\/\/x"\)\.\n$/),
    });
    Object.assign(archive.settings, { DATABASE_URL: `sqlite:${file}` });
    expect(await archive.takeFile(file)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^postroom: .*it is not an SQLite database\n$/),
    });
  });
});

describe('beside a running server', () => {
  it('users can read and write during the import, and see what has been imported so far', async () => {
    const archive = new Archive();
    const postroom = await launchForTest(archive.settings);
    const eve = await postroom.signUp('eve');
    const attic = await postroom.createRoom(eve, 'attic');
    const { child, ended, out, err } = await startImport(archive.settings);
    let seen = 0;
    for (const part of [0, 1, 2, 3]) {
      const posts = Array.from({ length: 300 }, (_, minute) => post(300 * part + minute));
      // The invalid line is reported after the commit of its batch. The lines after the invalid line fill the batch.
      child.stdin.write(toText([room, ada, ...posts, 'no JSON', ...Array(500).fill(room)]));
      await err.hear(`line ${803 * part + 303}:`);
      await postroom.createPost(eve, attic, `during ${part}`);
      const { posts: page } = await postroom.ask('{ posts(limit: 1) { pagination { total } } }');
      expect(page.pagination.total).toBeGreaterThan(seen);
      seen = page.pagination.total;
    }
    child.stdin.end();
    await ended;
    expect(out.said).toContain('posts: 1,200 added');
    const titles = (await readPosts(postroom, 'attic')).map(({ title }) => title);
    expect(titles).toEqual(['during 0', 'during 1', 'during 2', 'during 3']);
    const { posts } = await postroom.ask('{ posts(limit: 1) { pagination { total } } }');
    expect(posts.pagination.total).toBe(1_204);
  });

  it('users who write all the time and the import both make progress', async () => {
    const archive = new Archive();
    const postroom = await launchForTest(archive.settings);
    const eve = await postroom.signUp('eve');
    const attic = await postroom.createRoom(eve, 'attic');
    let written = 0;
    let isRunning = true;
    const writing = (async () => {
      for (; isRunning; written += 1) await postroom.createPost(eve, attic, 'again');
    })();
    expect(await archive.take(history(2_000))).toMatchObject({ status: 0, posts: [2_000, 0] });
    isRunning = false;
    await writing;
    expect(written).toBeGreaterThan(0);
    expect(archive.count('posts')).toBe(2_000 + written);
  });

  it('two imports of one file at the same time import it once', async () => {
    const archive = new Archive();
    const file = archive.write('twice.ndjson', toText(history(2_000)));
    const both = await Promise.all([archive.takeFile(file), archive.takeFile(file)]);
    // The progress is shown only on a terminal.
    expect(both).toMatchObject([
      { status: 0, stderr: '' },
      { status: 0, stderr: '' },
    ]);
    expect([archive.count('rooms'), archive.count('users'), archive.count('posts')]).toEqual([1, 1, 2_000]);
  });
});

describe.skipIf(!isPostgresTest)('the statistics that PostgreSQL needs for its plans', () => {
  const readRows = (archive: Archive) =>
    withDatabase(archive.databaseFile, (database) =>
      Number(database.prepare(`select reltuples from pg_class where oid = 'posts'::regclass`).get()?.['reltuples']),
    );

  it('are gathered as the tables grow', async () => {
    const archive = new Archive();
    expect(await archive.take(history(8_000))).toMatchObject({ posts: [8_000, 0] });
    expect(readRows(archive)).toBeGreaterThanOrEqual(1_000);
  });

  it('are not waited for while another client locks a table', async () => {
    const archive = new Archive();
    await archive.take(history(1));
    const before = readRows(archive);
    const database = openDirectly(archive.databaseFile);
    try {
      database.exec('begin; lock table posts in share update exclusive mode');
      expect(await archive.take(history(8_000))).toMatchObject({ status: 0, posts: [7_999, 1] });
    } finally {
      database.close();
    }
    expect(readRows(archive)).toBe(before);
  });
});

it('the progress of an import is shown on a terminal', async ({ skip }) => {
  if (!existsSync('/usr/bin/script')) skip('there is no script(1) to make a terminal');
  const archive = new Archive();
  const file = archive.write('history.ndjson', toText([...history(500), 'no JSON']));
  const command = `${process.execPath} ${main} import ${file}`;
  const child = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], {
    env: { ...programEnvironment, ...archive.settings, TERM: 'xterm' },
  });
  const out = new OutputReader(child.stdout);
  const [status] = await once(child, 'close');
  expect(status).toBe(2);
  expect(out.said).toMatch(/\r[\d,]+ records in [\d.]+ s/);
  // The progress is erased before the message about a refused line, so that the message has its own line.
  expect(out.said).toContain('\r\x1b[Kline 503: it is not JSON\r\n');
});
