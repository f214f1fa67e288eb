// Runs on SQLite and on PostgreSQL.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema } from 'graphql';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { idempotentMutations } from '../../src/resolvers/rules/idempotency.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { readEvents } from '../support/rooms/events.ts';
import { launchForTest, type Person, type Postroom, type Reply, scratchFolder } from '../support/server/postroom.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

/* Mutations with `@idempotent(key: …)` are safe to repeat. */

const server = shareServer({ RATE_LIMIT: '100000' });
let halls = 0;

async function openHall(name = 'Ada'): Promise<{ postroom: Postroom; ada: Person; room: string }> {
  const { postroom } = server;
  const ada = await postroom.signUp(name);
  halls += 1;
  return { postroom, ada, room: await postroom.createRoom(ada, `hall ${halls}`) };
}

const createPost = (room: string, key: string, title = 'once') =>
  `mutation { createPost(input: { room: "${room}", title: "${title}" }) @idempotent(key: "${key}") { post { id title version } } }`;

const titles = async (postroom: Postroom, room: string) => {
  const { room: found } = await postroom.ask(`{ room(id: "${room}") { posts(first: 100) { nodes { title } } } }`);
  return found.posts.nodes.map(({ title }: { title: string }) => title);
};

const errorsOf = ({ status, code, errors, data }: Reply) => ({
  status,
  code,
  issue: errors?.[0]?.extensions.details,
  data,
});

describe('a mutation that is repeated with its key', () => {
  it('runs once if 50 repeats arrive together over HTTP and WebSocket: one post, one event, equal answers', async () => {
    const { postroom, ada, room } = await openHall();
    const cursor = await postroom.cursorOf(room);
    const init = { authorization: `Bearer ${ada.token}` };
    const sockets = await Promise.all([1, 2, 3, 4, 5].map(() => ProtocolSocket.open(postroom.webSocketUrl, { init })));
    const overWebSocket = sockets.flatMap((socket) =>
      [1, 2, 3, 4, 5].map(async (n) => {
        const { results } = socket.subscribe(`${n}`, createPost(room, 'together'));
        return (await results.next()).data;
      }),
    );
    const overHttp = Array.from({ length: 25 }, () => postroom.ask(createPost(room, 'together'), {}, ada.token));
    const answers = await Promise.all([...overWebSocket, ...overHttp]);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0].createPost.post).toMatchObject({ title: 'once', version: 1 });
    await postroom.createPost(ada, room, 'after');
    expect(await titles(postroom, room)).toEqual(['once', 'after']);
    const events = await readEvents(postroom, { room, after: cursor, count: 2 });
    expect(events.map(({ post }) => post?.title)).toEqual(['once', 'after']);
  });

  it('returns the object as it is now', async () => {
    const { postroom, ada, room } = await openHall();
    const { createPost: created } = await postroom.ask(createPost(room, 'k'), {}, ada.token);
    const { id } = created.post;
    await postroom.ask(`mutation { updatePost(input: { id: "${id}", title: "new" }) { post { id } } }`, {}, ada.token);
    const repeated = await postroom.ask(createPost(room, 'k'), {}, ada.token);
    expect(repeated.createPost.post).toEqual({ id, title: 'new', version: 2 });
    await postroom.ask(`mutation { deletePost(input: { id: "${id}" }) { post { id } } }`, {}, ada.token);
    const gone = await postroom.send(createPost(room, 'k'), {}, ada.token);
    expect(errorsOf(gone)).toMatchObject({ status: 404, code: 'NOT_FOUND', data: { createPost: null } });
    expect(await titles(postroom, room)).toEqual([]);
  });

  it('has the same key with literals as with variables, and in another order', async () => {
    const { postroom, ada, room } = await openHall();
    const first = await postroom.ask(createPost(room, 'k'), {}, ada.token);
    const query = `mutation ($room: ID!, $body: String, $key: String!) {
      createPost(input: { title: "once", body: $body, room: $room }) @idempotent(key: $key) { post { id title version } }
    }`;
    expect(await postroom.ask(query, { room, key: 'k' }, ada.token)).toEqual(first);
    const input = `mutation ($input: CreatePostInput!, $key: String!) {
      createPost(input: $input) @idempotent(key: $key) { post { id title version } }
    }`;
    const variables = { input: { title: 'once', room }, key: 'k' };
    expect(await postroom.ask(input, variables, ada.token)).toEqual(first);
    expect(await titles(postroom, room)).toEqual(['once']);
  });

  it('is refused with other arguments, or with the key of another field', async () => {
    const { postroom, ada, room } = await openHall();
    const { createPost: created } = await postroom.ask(createPost(room, 'k'), {}, ada.token);
    for (const query of [
      createPost(room, 'k', 'other'),
      `mutation { joinRoom(input: { room: "${room}" }) @idempotent(key: "k") { room { id } } }`,
      `mutation { updatePost(input: { id: "${created.post.id}" }) @idempotent(key: "k") { post { id } } }`,
    ]) {
      expect(errorsOf(await postroom.send(query, {}, ada.token))).toMatchObject({
        status: 422,
        code: 'IDEMPOTENCY_KEY_REUSED',
      });
    }
    expect(await titles(postroom, room)).toEqual(['once']);
  });

  it('runs again if it failed before: no key is stored', async () => {
    const { postroom, ada, room } = await openHall();
    const create = `mutation { createRoom(input: { name: "copy of ${room}" }) @idempotent(key: "k") { room { id } } }`;
    const taken = await postroom.createRoom(ada, `copy of ${room}`);
    expect((await postroom.send(create, {}, ada.token)).code).toBe('CONFLICT');
    await postroom.ask(`mutation { deleteRoom(input: { id: "${taken}" }) { room { id } } }`, {}, ada.token);
    expect((await postroom.send(create, {}, ada.token)).status).toBe(200);
    expect((await postroom.send(createPost(room, 'v', ''), {}, ada.token)).code).toBe('VALIDATION_ERROR');
    expect((await postroom.send(createPost(room, 'v', 'valid'), {}, ada.token)).status).toBe(200);
    expect(await titles(postroom, room)).toEqual(['valid']);
  });

  it('runs once in one operation, too', async () => {
    const { postroom, ada, room } = await openHall();
    const field = `createPost(input: { room: "${room}", title: "once" }) @idempotent(key: "k") { post { id } }`;
    const { a, b } = await postroom.ask(`mutation { a: ${field} b: ${field} }`, {}, ada.token);
    expect(b).toEqual(a);
    expect(await titles(postroom, room)).toEqual(['once']);
  });
});

it('every supported mutation runs once, also where it would fail the second time', async () => {
  const { postroom, ada, room } = await openHall();
  const bob = await postroom.signUp('Bob');
  const draft = `mutation { createPost(input: { room: "${room}", title: "t", publish: false }) { post { id } } }`;
  const post: string = (await postroom.ask(draft, {}, ada.token)).createPost.post.id;
  const state = 'id version';
  const mutations: [Person, string][] = [
    [ada, `createRoom(input: { name: "other ${room}" }) @idempotent(key: "1") { room { ${state} name } }`],
    [
      ada,
      `updateRoom(input: { id: "${room}", name: "new ${room}", expectedVersion: 1 }) @idempotent(key: "2") { room { ${state} } }`,
    ],
    [
      ada,
      `replaceRoom(input: { id: "${room}", name: "newer ${room}", visibility: PUBLIC, expectedVersion: 2 }) @idempotent(key: "3") { room { ${state} } }`,
    ],
    [
      ada,
      `updatePost(input: { id: "${post}", title: "u", expectedVersion: 1 }) @idempotent(key: "4") { post { ${state} } }`,
    ],
    [
      ada,
      `replacePost(input: { id: "${post}", title: "r", expectedVersion: 2 }) @idempotent(key: "5") { post { ${state} } }`,
    ],
    [ada, `publishPost(input: { id: "${post}" }) @idempotent(key: "6") { post { ${state} publishedAt } }`],
    [bob, `joinRoom(input: { room: "${room}" }) @idempotent(key: "7") { room { ${state} } }`],
    [bob, `leaveRoom(input: { room: "${room}" }) @idempotent(key: "8") { room { ${state} } }`],
    [
      bob,
      `updateUser(input: { id: "${bob.id}", name: "Rob", expectedVersion: 1 }) @idempotent(key: "9") { user { ${state} } }`,
    ],
    [
      bob,
      `replaceUser(input: { id: "${bob.id}", name: "Bobby", email: "${bob.email}", expectedVersion: 2 }) @idempotent(key: "10") { user { ${state} email } }`,
    ],
  ];
  for (const [person, mutation] of mutations) {
    const first = await postroom.send(`mutation { ${mutation} }`, {}, person.token);
    expect({ mutation, status: first.status, errors: first.errors }).toEqual({ mutation, status: 200 });
    const cursor = await postroom.cursorOf(room);
    const second = await postroom.send(`mutation { ${mutation} }`, {}, person.token);
    expect({ mutation, status: second.status, data: second.data }).toEqual({ mutation, status: 200, data: first.data });
    expect(await postroom.cursorOf(room)).toBe(cursor);
  }
});

it('a key belongs to its user', async () => {
  const { postroom, ada, room } = await openHall();
  const bob = await postroom.signUp('Bob');
  await postroom.ask(`mutation { joinRoom(input: { room: "${room}" }) { room { id } } }`, {}, bob.token);
  await postroom.ask(createPost(room, 'k', 'of Ada'), {}, ada.token);
  await postroom.ask(createPost(room, 'k', 'of Bob'), {}, bob.token);
  expect(await titles(postroom, room)).toEqual(['of Ada', 'of Bob']);
  expect((await postroom.send(createPost(room, 'k', 'of Ada'))).code).toBe('UNAUTHENTICATED');
});

it('a repeat does not show a room that the viewer has left', async () => {
  const { postroom, ada } = await openHall();
  const bob = await postroom.signUp('Bob');
  const create = `mutation { createRoom(input: { name: "${ada.id}", visibility: PRIVATE }) { room { id } } }`;
  const room: string = (await postroom.ask(create, {}, ada.token)).createRoom.room.id;
  await postroom.ask(
    `mutation { addRoomMember(input: { room: "${room}", user: "${bob.id}" }) { room { id } } }`,
    {},
    ada.token,
  );
  await postroom.ask(createPost(room, 'k'), {}, bob.token);
  await postroom.ask(`mutation { leaveRoom(input: { room: "${room}" }) { room { id } } }`, {}, bob.token);
  expect(errorsOf(await postroom.send(createPost(room, 'k'), {}, bob.token))).toMatchObject({ status: 404 });
});

describe('the directive', () => {
  it('names the mutations that support it', () => {
    const { description } = buildSchema(readFileSync('schema.graphql', 'utf8')).getDirective('idempotent') ?? {};
    const [, supported = ''] = description?.split('Supported by') ?? [];
    const named = Array.from(supported.matchAll(/`(\w+)`/g), ([, name]) => name);
    expect(named.sort()).toEqual([...idempotentMutations].sort());
  });

  it('is refused if its key is null, or if two fields with different keys are merged, also without credentials', async () => {
    const { postroom, ada, room } = await openHall();
    const field = (key: string) =>
      `createPost(input: { room: "${room}", title: "t" }) @idempotent(key: ${key}) { post { id } }`;
    for (const token of [undefined, ada.token]) {
      const query = `mutation ($k: String = "a") { ${field('$k')} }`;
      const reply = await postroom.send(query, { k: null }, token);
      expect(errorsOf(reply)).toMatchObject({ status: 422, code: 'VARIABLES_INVALID' });
      const merged = await postroom.send(`mutation { ${field('"a"')} ${field('"b"')} }`, {}, token);
      expect(errorsOf(merged)).toMatchObject({ status: 422, code: 'VALIDATION_ERROR' });
    }
    expect(await titles(postroom, room)).toEqual([]);
  });

  it('is refused where it has no effect, before anything runs', async () => {
    const { postroom, ada, room } = await openHall();
    const post = await postroom.createPost(ada, room, 't');
    for (const query of [
      `mutation { deletePost(input: { id: "${post}" }) @idempotent(key: "k") { post { id } } }`,
      `mutation { deletePost(input: { id: "${post}" }) { post @idempotent(key: "k") { id } } }`,
      'mutation { createApiKey(input: { name: "n", scopes: [READ] }) @idempotent(key: "k") { key } }',
      `{ room(id: "${room}") @idempotent(key: "k") { id } }`,
      'query { ...F } fragment F on Query { viewer @idempotent(key: "k") { id } }',
    ]) {
      const reply = await postroom.send(query, {}, ada.token);
      expect({ query, ...errorsOf(reply) }).toMatchObject({
        query,
        status: 422,
        code: 'VALIDATION_ERROR',
        issue: [{ field: expect.stringContaining('.'), issue: 'invalid' }],
      });
    }
    expect(await titles(postroom, room)).toEqual(['t']);
  });

  it.each([
    ['empty', '', 'too_short'],
    ['of 256 characters', 'k'.repeat(256), 'too_long'],
    ['with NUL', 'a\0', 'invalid'],
    ['with a lone surrogate', '\ud800', 'invalid'],
  ])('refuses a key that is %s', async (_, key, issue) => {
    const { postroom, ada, room } = await openHall();
    const query = createPost(room, 'KEY').replace('mutation', 'mutation ($key: String!)').replace('"KEY"', '$key');
    const reply = await postroom.send(query, { key }, ada.token);
    const details = [{ field: 'key', issue }];
    expect(errorsOf(reply)).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', issue: details });
    expect((await postroom.send(query, { key: '😀'.repeat(255) }, ada.token)).status).toBe(200);
  });
});

describe('keys', () => {
  const keysOf = (file: string) =>
    withDatabase(file, (database) =>
      database.prepare('select "key" from "idempotencyKeys" order by "at", "key"').all(),
    );

  async function launchWithFile() {
    const file = join(scratchFolder(), 'postroom.db');
    const postroom = await launchForTest({ DATABASE_URL: `sqlite:${file}` });
    const ada = await postroom.signUp('Ada');
    return { file, postroom, ada, room: await postroom.createRoom(ada, 'hall') };
  }

  it('are deleted after 24 hours', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { file, postroom, ada, room } = await launchWithFile();
    await postroom.ask(createPost(room, 'old'), {}, ada.token);
    await postroom.ask(createPost(room, 'young'), {}, ada.token);
    withDatabase(file, (database) =>
      database.exec(`update "idempotencyKeys" set "at" = "at" - 86400001 where "key" = 'old'`),
    );
    vi.advanceTimersByTime(60_000);
    await expect.poll(() => keysOf(file)).toEqual([{ key: 'young' }]);
  });

  it('are at most 1,000 for a user: each further key replaces the oldest', async () => {
    const { file, postroom, ada, room } = await launchWithFile();
    withDatabase(file, (database) => {
      const insert = database.prepare('insert into "idempotencyKeys" values (?, ?, ?, ?, ?)');
      for (let n = 0; n < 1_000; n += 1) insert.run(ada.id, `k${n}`, 'h', room, Date.now() - 10_000 + n);
    });
    await postroom.ask(createPost(room, 'new'), {}, ada.token);
    const keys = keysOf(file).map((row) => row['key']);
    expect({ length: keys.length, first: keys[0], last: keys.at(-1) }).toEqual({
      length: 1_000,
      first: 'k1',
      last: 'new',
    });
  });

  it('are deleted with the account', async () => {
    const { file, postroom, ada, room } = await launchWithFile();
    await postroom.ask(createPost(room, 'k'), {}, ada.token);
    await postroom.ask(`mutation { deleteUser(input: { id: "${ada.id}" }) { user { id } } }`, {}, ada.token);
    expect(keysOf(file)).toEqual([]);
  });
});
