import { setImmediate } from 'node:timers/promises';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { type InboxStore, inboxStore, type PostroomClient } from '../../packages/client/src/index.ts';
import { createFaultProxy } from '../support/clients/fault-proxy.ts';
import { open, openClient, until } from '../support/clients/postroom-client.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();
let postroom: Postroom;
let ada: Person;

beforeAll(async () => {
  postroom = server.postroom;
  ada = await postroom.signUp('Ada');
});

const mutate = (person: Person, field: string) =>
  postroom.ask(`mutation { ${field} { __typename } }`, {}, person.token);

/** The rooms in order, each with its unread count. */
const counts = (store: InboxStore) =>
  store
    .get()
    .rooms?.map(({ name, unread }) => `${name} ${unread}`)
    .join(', ');
const untilCounts = (store: InboxStore, expected: string) => until(store, () => counts(store) === expected);

async function openInbox(name: string) {
  const [bob] = await postroom.signUpAll([name]);
  const proxy = await createFaultProxy(postroom.graphqlUrl);
  onTestFinished(() => proxy.close());
  const client = openClient(proxy.url, { token: bob?.token });
  const store = open(inboxStore(client));
  await until(store, ({ rooms }) => rooms);
  const join = async (room: string) => {
    const id = await postroom.createRoom(ada, `${room} of ${name}`);
    await mutate(bob as Person, `joinRoom(input: { room: "${id}" })`);
    await until(store, ({ rooms }) => rooms?.some((other) => other.id === id));
    return id;
  };
  return { bob: bob as Person, proxy, client, store, join };
}

it('rooms that are joined, left and deleted enter and leave the list, and the latest event puts a room first', async () => {
  const { bob, store, join } = await openInbox('Bob');
  const hall = await join('hall');
  const den = await join('den');
  await untilCounts(store, 'den of Bob 0, hall of Bob 0');
  await postroom.createPost(ada, hall, 'one');
  await untilCounts(store, 'hall of Bob 1, den of Bob 0');
  await mutate(ada, `updateRoom(input: { id: "${den}", name: "attic of Bob" })`);
  await untilCounts(store, 'attic of Bob 0, hall of Bob 1');
  await mutate(bob, `leaveRoom(input: { room: "${den}" })`);
  await untilCounts(store, 'hall of Bob 1');
  await mutate(ada, `deleteRoom(input: { id: "${hall}" })`);
  await untilCounts(store, '');
});

it('a direct room has its other user, also after events of the room', async () => {
  const { bob, store } = await openInbox('Dan');
  const { openDirectRoom } = await postroom.ask(
    'mutation ($user: ID!) { openDirectRoom(input: { user: $user }) { room { id } } }',
    { user: bob.id },
    ada.token,
  );
  await untilCounts(store, 'direct room 0');
  await postroom.createPost(ada, openDirectRoom.room.id, 'Hello, Dan');
  await untilCounts(store, 'direct room 1');
  expect(store.get().rooms).toMatchObject([{ directUser: { id: ada.id, name: 'Ada' } }]);
});

it('posts of others are counted, posts of the viewer and marks of other devices clear the count', async () => {
  const { bob, store, join } = await openInbox('Carl');
  const room = await join('room');
  await postroom.createPost(ada, room, 'one');
  const two = await postroom.createPost(ada, room, 'two');
  await untilCounts(store, 'room of Carl 2');
  await mutate(ada, `deletePost(input: { id: "${two}" })`);
  await untilCounts(store, 'room of Carl 1');
  await postroom.createPost(bob, room, 'three');
  await untilCounts(store, 'room of Carl 0');
  await postroom.createPost(ada, room, 'four');
  await untilCounts(store, 'room of Carl 1');
  await mutate(bob, `markRead(input: { room: "${room}" })`);
  await untilCounts(store, 'room of Carl 0');
  await postroom.createPost(ada, room, 'five');
  await untilCounts(store, 'room of Carl 1');
  await store.markRead(room);
  expect(counts(store)).toBe('room of Carl 0');
});

it('posts that are written while the connection is lost are counted once', async () => {
  const { proxy, store, join } = await openInbox('Dora');
  const room = await join('room');
  for (let count = 1; count <= 4; count += 1) {
    proxy.cut();
    await postroom.createPost(ada, room, String(count));
    await untilCounts(store, `room of Dora ${count}`);
  }
});

it('posts that are written while the inbox is queried are counted once', async () => {
  const { bob, join } = await openInbox('Emil');
  const room = await join('room');
  const client = openClient(postroom.graphqlUrl, { token: bob.token });
  const { request } = client;
  let queries = 0;
  const slow = {
    ...client,
    request: async <Data>(query: string, variables?: Record<string, unknown>): Promise<Data> => {
      // The answer has an older cursor than its count: as if the post was written while the query ran.
      const before = await request<Data>(query, variables);
      queries += 1;
      if (queries > 1) return before;
      await postroom.createPost(ada, room, 'during the query');
      const after = await request<{ viewer: { rooms: { nodes: { cursor: string }[] } } }>(query, variables);
      const { viewer } = before as typeof after;
      after.viewer.rooms.nodes.forEach((node, index) => {
        node.cursor = viewer.rooms.nodes[index]?.cursor ?? node.cursor;
      });
      return after as Data;
    },
  };
  const store = open(inboxStore(slow));
  // It counts the event, too, and then asks for the count.
  await untilCounts(store, 'room of Emil 2');
  await untilCounts(store, 'room of Emil 1');
  await postroom.createPost(ada, room, 'later');
  await untilCounts(store, 'room of Emil 2');
});

/** A client whose queries of a single room do first what `before` does. */
function withSingleQueries(client: PostroomClient, before: () => Promise<unknown>): PostroomClient {
  const request = async <Data>(query: string, variables?: Record<string, unknown>): Promise<Data> => {
    if (query.includes('room(id: $id)')) await before();
    return client.request<Data>(query, variables);
  };
  return { ...client, request };
}

/** Resolves when the events so far have arrived. */
async function untilArrived(store: InboxStore, room: string) {
  const name = `${room} ${Math.random()}`;
  await mutate(ada, `updateRoom(input: { id: "${room}", name: "${name}" })`);
  await until(store, ({ rooms }) => rooms?.some((other) => other.name === name));
  return store.get().rooms?.find(({ id }) => id === room)?.unread;
}

it('a post whose event arrives after a query that contains it is counted once', async () => {
  const { bob, proxy, join } = await openInbox('Fay');
  const room = await join('room');
  const live = openClient(proxy.url, { token: bob.token });
  const direct = openClient(postroom.graphqlUrl, { token: bob.token });
  let queries = 0;
  const client = withSingleQueries({ ...live, request: direct.request }, async () => {
    queries += 1;
    if (queries > 1) return;
    proxy.freeze('down');
    await postroom.createPost(ada, room, 'three');
  });
  const store = open(inboxStore(client));
  await until(store, ({ rooms }) => rooms);
  await postroom.createPost(ada, room, 'one');
  const two = await postroom.createPost(ada, room, 'two');
  await untilCounts(store, 'room of Fay 2');
  await mutate(ada, `deletePost(input: { id: "${two}" })`);
  const changed = new Promise<void>((resolve) => {
    const stop = store.subscribe(() => {
      if (queries === 0) return;
      stop();
      resolve();
    });
  });
  await changed;
  expect(counts(store)).toBe('room of Fay 2');
  proxy.thaw();
  await postroom.createPost(ada, room, 'four');
  expect(await untilArrived(store, room)).toBe(3);
});

it('a mark that arrives before the post that it covers leaves the post read', async () => {
  const { bob, join } = await openInbox('Gil');
  const room = await join('room');
  const client = openClient(postroom.graphqlUrl, { token: bob.token });
  const held: (() => void)[] = [];
  let isHolding = true;
  const subscribe: PostroomClient['live']['subscribe'] = (request, sink) =>
    client.live.subscribe(request as never, {
      ...sink,
      next: (result) => {
        const { __typename: type } = result.data?.['inbox'] as { __typename: string };
        if (isHolding && type === 'PostCreated') return void held.push(() => sink.next(result as never));
        sink.next(result as never);
        if (type !== 'RoomRead') return;
        isHolding = false;
        for (const deliver of held) deliver();
      },
    });
  const store = open(inboxStore({ ...client, live: { ...client.live, subscribe } }));
  await until(client.connection, ({ state }) => state === 'live');
  await untilArrived(store, room);
  await postroom.createPost(ada, room, 'one');
  await mutate(bob, `markRead(input: { room: "${room}" })`);
  await until(store, () => !isHolding);
  expect(await untilArrived(store, room)).toBe(0);
  await postroom.createPost(ada, room, 'two');
  expect(await untilArrived(store, room)).toBe(1);
});

it('a mark that the server refuses does not clear the count', async () => {
  const { bob, join } = await openInbox('Hal');
  const room = await join('room');
  await postroom.createPost(ada, room, 'one');
  const client = openClient(postroom.graphqlUrl, { token: bob.token });
  const request = async <Data>(query: string, variables?: Record<string, unknown>): Promise<Data> => {
    if (query.startsWith('mutation')) throw new Error('no answer');
    return client.request<Data>(query, variables);
  };
  const store = open(inboxStore({ ...client, request }));
  await untilCounts(store, 'room of Hal 1');
  const marked = store.markRead(room);
  expect(counts(store)).toBe('room of Hal 0');
  await expect(marked).rejects.toThrow('no answer');
  await untilCounts(store, 'room of Hal 1');
});

it('a store that has stopped queries no room again', async () => {
  const { bob, join } = await openInbox('Ida');
  const room = await join('room');
  const post = await postroom.createPost(ada, room, 'one');
  const asked = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<void>();
  const client = withSingleQueries(openClient(postroom.graphqlUrl, { token: bob.token }), () => {
    asked.resolve();
    return failed.promise;
  });
  const store = inboxStore(client);
  const stop = store.subscribe(() => {});
  await untilCounts(store, 'room of Ida 1');
  await mutate(ada, `deletePost(input: { id: "${post}" })`);
  await asked.promise;
  stop();
  const timeouts = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => timeouts.mockRestore());
  failed.reject(new Error('no answer'));
  for (let turns = 0; turns < 10; turns += 1) await setImmediate();
  expect(timeouts).not.toHaveBeenCalledWith(expect.any(Function), 500);
});

it('an inbox without credentials says so', async () => {
  const store = open(inboxStore(openClient(postroom.graphqlUrl)));
  const { failure } = await until(store, (value) => value.failure);
  expect(failure).toMatchObject({ code: 'UNAUTHENTICATED', action: 'signIn' });
});

it('a post that a query has counted is not counted again when its event arrives later', async () => {
  const events = await createFaultProxy(postroom.graphqlUrl);
  onTestFinished(() => events.close());
  const { bob, join } = await openInbox('Lena');
  // The events pass another proxy than the queries.
  const client = openClient(postroom.graphqlUrl, {
    token: bob.token,
    webSocket: { url: events.url.replace('http', 'ws') },
  });
  const room = await join('room');
  const store = open(inboxStore(client));
  await until(client.connection, ({ state }) => state === 'live');
  const one = await postroom.createPost(ada, room, 'one');
  await untilCounts(store, 'room of Lena 1');
  const { rooms: before } = store.get();
  await mutate(ada, `deletePost(input: { id: "${one}" })`);
  await until(store, ({ rooms }) => rooms !== before);
  events.freeze('down');
  for (const title of ['two', 'three', 'four']) await postroom.createPost(ada, room, title);
  await untilCounts(store, 'room of Lena 3');
  const seen: (string | undefined)[] = [];
  store.subscribe(() => seen.push(counts(store)));
  events.thaw();
  await postroom.createPost(ada, room, 'five');
  await untilCounts(store, 'room of Lena 4');
  expect(seen).toEqual(['room of Lena 3', 'room of Lena 3', 'room of Lena 3', 'room of Lena 4']);
});
