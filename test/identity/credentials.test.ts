import { once } from 'node:events';
import { join } from 'node:path';
import { createClient } from 'graphql-ws';
import { expect, it } from 'vitest';
import WebSocket from 'ws';
import { sendAs } from '../support/identity/credentials.ts';
import { launchForTest, run, scratchFolder } from '../support/server/postroom.ts';
import { launchWithVirtualClock } from '../support/server/virtual-timers.ts';

const createPrivate = `mutation ($name: String!) { createRoom(input: { name: $name, visibility: PRIVATE }) { room { id viewerRole } } }`;

it('a private room does not exist for a stranger, and exists for its members', async () => {
  const postroom = await launchForTest();
  const [ada, bob] = await Promise.all([postroom.signUp('Ada'), postroom.signUp('Bob')]);
  const { createRoom } = await postroom.ask(createPrivate, { name: 'den' }, ada.token);
  expect(createRoom.room.viewerRole).toBe('OWNER');
  const room: string = createRoom.room.id;
  const post = await postroom.createPost(ada, room, 'secret');
  const all = `query ($room: ID!, $post: ID!, $ada: ID!) {
    room(id: $room) { id } node(id: $room) { id } roomByName(name: "den") { id } post(id: $post) { id }
    rooms { data { id } pagination { total } } posts { data { id } pagination { total } }
    user(id: $ada) { posts { id } }
  }`;
  const ids = { room, post, ada: ada.id };
  const nothing = {
    room: null,
    node: null,
    roomByName: null,
    post: null,
    rooms: { data: [], pagination: { total: 0 } },
    posts: { data: [], pagination: { total: 0 } },
    user: { posts: [] },
  };
  expect(await postroom.ask(all, ids)).toEqual(nothing);
  expect(await postroom.ask(all, ids, bob.token)).toEqual(nothing);
  const joining = `mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { id } } }`;
  expect(await postroom.send(joining, { room }, bob.token)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  await postroom.ask(
    'mutation ($room: ID!, $user: ID!) { addRoomMember(input: { room: $room, user: $user }) { room { id } } }',
    { room, user: bob.id },
    ada.token,
  );
  expect(await postroom.ask(all, ids, bob.token)).toMatchObject({
    room: { id: room },
    post: { id: post },
    posts: { pagination: { total: 1 } },
    user: { posts: [{ id: post }] },
  });
});

it('a member who is removed from a private room receives MEMBERSHIP_REVOKED and nothing more; the others receive that they left', async () => {
  const postroom = await launchForTest();
  const [ada, bob] = await Promise.all([postroom.signUp('Ada'), postroom.signUp('Bob')]);
  const { createRoom } = await postroom.ask(createPrivate, { name: 'den' }, ada.token);
  const room: string = createRoom.room.id;
  const member = { room, user: bob.id };
  await postroom.ask(
    'mutation ($room: ID!, $user: ID!) { addRoomMember(input: { room: $room, user: $user }) { room { id } } }',
    member,
    ada.token,
  );
  const watch = async (token: string) => {
    const live = Promise.withResolvers<void>();
    const client = createClient({
      url: postroom.webSocketUrl,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${token}` },
      on: { ping: () => live.resolve() },
    });
    const ended = Promise.withResolvers<unknown>();
    const seen: string[] = [];
    const first = Promise.withResolvers<void>();
    client.subscribe(
      { query: `subscription { roomEvents(room: "${room}") { __typename } }` },
      {
        next: ({ data }) => {
          seen.push((data as { roomEvents: { __typename: string } }).roomEvents.__typename);
          if (seen.length === 2) first.resolve();
        },
        error: ended.resolve,
        complete: () => ended.resolve('complete'),
      },
    );
    await live.promise;
    return { seen, ended: ended.promise, two: first.promise, client };
  };
  const [owner, removed] = await Promise.all([watch(ada.token), watch(bob.token)]);
  await postroom.ask(
    'mutation ($room: ID!, $user: ID!) { removeRoomMember(input: { room: $room, user: $user }) { room { id } } }',
    member,
    ada.token,
  );
  await postroom.createPost(ada, room, 'after');
  expect(await removed.ended).toMatchObject([{ extensions: { code: 'MEMBERSHIP_REVOKED' } }]);
  await owner.two;
  expect(owner.seen).toEqual(['MemberLeft', 'PostCreated']);
  expect(removed.seen).toEqual([]);
  await Promise.all([owner.client.dispose(), removed.client.dispose()]);
});

it('a key acts as its own user within its scopes, and its sockets close when it is revoked', async () => {
  const url = `sqlite:${join(scratchFolder(), 'postroom.db')}`;
  const postroom = await launchForTest({ DATABASE_URL: url });
  const ada = await postroom.signUp('Ada');
  const made = await postroom.ask(
    'mutation { createApiKey(input: { name: "robot", scopes: [READ] }) { key apiKey { id prefix scopes user { name } } } }',
    {},
    ada.token,
  );
  const { key, apiKey } = made.createApiKey;
  expect(apiKey).toMatchObject({ scopes: ['READ'], user: { name: 'robot' } });
  expect(key.startsWith(apiKey.prefix)).toBe(true);
  const asRobot = async (query: string, credentials = `ApiKey ${key}`) => {
    const response = await fetch(postroom.graphqlUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: credentials },
      body: JSON.stringify({ query }),
    });
    return { status: response.status, challenge: response.headers.get('www-authenticate'), ...(await response.json()) };
  };
  expect(await asRobot('{ viewer { name } }')).toMatchObject({ status: 200, data: { viewer: { name: 'robot' } } });
  expect(await asRobot('mutation { createRoom(input: { name: "x" }) { room { id } } }')).toMatchObject({ status: 403 });
  expect(await asRobot('{ viewer { name } }', `ApiKey ${key}x`)).toMatchObject({ status: 401 });
  const socket = new WebSocket(postroom.webSocketUrl, 'graphql-transport-ws');
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `ApiKey ${key}` } }));
  await once(socket, 'message');
  const closed = once(socket, 'close');
  await postroom.ask(
    'mutation ($id: ID!) { revokeApiKey(input: { id: $id }) { apiKey { id } } }',
    { id: apiKey.id },
    ada.token,
  );
  expect((await closed)[0]).toBe(4403);
  expect(await asRobot('{ viewer { name } }')).toMatchObject({ status: 401 });
  const command = await run(['key', 'create', '--name', 'operator', '--scopes', 'read,write'], { DATABASE_URL: url });
  expect(command.status).toBe(0);
  expect(await asRobot('{ viewer { name } }', `ApiKey ${command.stdout.trim()}`)).toMatchObject({
    data: { viewer: { name: 'operator' } },
  });
});

it('a revocation causes no further reads of the credentials of others', async () => {
  const postroom = await launchWithVirtualClock({ LOG_LEVEL: 'debug' });
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const create = 'mutation { createApiKey(input: { name: "app", scopes: [READ] }) { key apiKey { id } } }';
  const { key, apiKey } = (await postroom.ask(create, {}, bob.token)).createApiKey;
  for (const authorization of [`Bearer ${ada.token}`, `ApiKey ${key}`])
    expect((await sendAs(postroom, authorization, '{ __typename }')).status).toBe(200);
  const revoke = 'mutation ($id: ID!) { revokeApiKey(input: { id: $id }) { apiKey { id } } }';
  await postroom.ask(revoke, { id: apiKey.id }, bob.token);
  const before = postroom.log.length;
  expect((await sendAs(postroom, `Bearer ${ada.token}`, '{ __typename }')).status).toBe(200);
  expect((await sendAs(postroom, `ApiKey ${key}`, '{ __typename }')).status).toBe(401);
  const reads = postroom.log
    .slice(before)
    .filter(({ sql }) => /from "(users|apiKeys)" where "(id|hash)" =/.test(String(sql)));
  expect(reads.map(({ sql }) => String(sql).replace(/^.* from /, ''))).toEqual([
    '"apiKeys" where "hash" = ?',
    '"users" where "id" = ?',
  ]);
});
