import { beforeAll, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { outboxStore, type PostroomClient, roomStore } from '../../packages/client/src/index.ts';
import { createFaultProxy } from '../support/clients/fault-proxy.ts';
import { open, openClient, until } from '../support/clients/postroom-client.ts';
import { forgeCursor, openCursor } from '../support/rooms/cursors.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();
let postroom: Postroom;
let ada: Person;
let bob: Person;

beforeAll(async () => {
  postroom = server.postroom;
  [ada, bob] = (await postroom.signUpAll(['Ada', 'Bob'])) as [Person, Person];
});

const mutate = (person: Person, field: string) =>
  postroom.ask(`mutation { ${field} { __typename } }`, {}, person.token);
const titles = (posts: readonly { title: string }[]) => posts.map(({ title }) => title).join(' ');

async function openRoom(name: string, pageSize = 50) {
  const room = await postroom.createRoom(ada, name);
  const proxy = await createFaultProxy(postroom.graphqlUrl);
  onTestFinished(() => proxy.close());
  const client = openClient(proxy.url, { token: ada.token });
  const store = open(roomStore(client, room, { pageSize }));
  return { room, proxy, client, store };
}

it('a room shows what its events say of posts, members and its name', async () => {
  const { room, store } = await openRoom('events');
  const state = await until(store, (value) => value.room);
  expect(state).toMatchObject({ viewer: { id: ada.id }, room: { name: 'events', viewerRole: 'OWNER' }, posts: [] });
  const one = await postroom.createPost(ada, room, 'one');
  await postroom.createPost(ada, room, 'two');
  await until(store, ({ posts }) => titles(posts) === 'one two');
  await mutate(ada, `updatePost(input: { id: "${one}", title: "changed" })`);
  const { posts } = await until(store, (value) => titles(value.posts) === 'changed two');
  expect(posts[0]).toMatchObject({ id: one, version: 2, author: { name: 'Ada' } });
  await mutate(ada, `deletePost(input: { id: "${one}" })`);
  await until(store, (value) => titles(value.posts) === 'two');
  await mutate(bob, `joinRoom(input: { room: "${room}" })`);
  await until(store, ({ members }) => members.map(({ name }) => name).join() === 'Ada,Bob');
  await mutate(bob, `leaveRoom(input: { room: "${room}" })`);
  await until(store, ({ members }) => members.length === 1);
  await mutate(ada, `updateRoom(input: { id: "${room}", name: "renamed" })`);
  await until(store, (value) => value.room?.name === 'renamed');
});

it('a room that lost its connection receives what it missed, once', async () => {
  const { room, proxy, client, store } = await openRoom('cut');
  await postroom.createPost(ada, room, '0');
  await until(store, ({ posts }) => posts.length === 1);
  const expected = ['0'];
  for (let cut = 1; cut <= 5; cut += 1) {
    proxy.cut();
    await postroom.createPost(ada, room, String(cut));
    expected.push(String(cut));
    await until(store, ({ posts }) => posts.length === expected.length);
  }
  expect(titles(store.get().posts)).toBe(expected.join(' '));
  expect(client.ends).toEqual([]);
});

it('older posts are loaded before the others, as the events have left them', async () => {
  const { room, store } = await openRoom('older', 2);
  const ids: string[] = [];
  for (const title of ['1', '2', '3', '4', '5']) ids.push(await postroom.createPost(ada, room, title));
  // Opened when they exist: it has the last two.
  const late = open(roomStore(openClient(postroom.graphqlUrl, { token: ada.token }), room, { pageSize: 2 }));
  expect(await until(late, ({ posts }) => posts.length > 0)).toMatchObject({ hasOlder: true });
  await mutate(ada, `updatePost(input: { id: "${ids[2]}", title: "three" })`);
  await postroom.createPost(ada, room, '6');
  await until(late, ({ posts }) => titles(posts) === '4 5 6');
  await Promise.all([late.loadOlder(), late.loadOlder()]);
  expect(titles(late.get().posts)).toBe('2 three 4 5 6');
  await late.loadOlder();
  expect(late.get()).toMatchObject({ hasOlder: false });
  expect(titles(late.get().posts)).toBe('1 2 three 4 5 6');
  expect(titles(store.get().posts)).toBe('1 2 three 4 5 6');
});

it('a cursor that has expired is replaced by a new query', async () => {
  const { room, store } = await openRoom('expired');
  await until(store, (value) => value.room);
  const client = openClient(postroom.graphqlUrl, { token: ada.token });
  let queries = 0;
  const { request } = client;
  const stale = {
    ...client,
    request: async <Data>(query: string, variables?: Record<string, unknown>): Promise<Data> => {
      const data = await request<Data>(query, variables);
      queries += 1;
      const answer = data as { room: { cursor: string } };
      const { mark, seq, roomId } = openCursor(answer.room.cursor);
      // As if the event was lost: its number has another mark now.
      const other = mark.startsWith('a') ? 'b' : 'a';
      if (queries === 1) answer.room.cursor = forgeCursor(`${other}${mark.slice(1)}`, seq, roomId);
      return data;
    },
  };
  const second = open(roomStore(stale, room));
  await until(second, (value) => value.room);
  await postroom.createPost(ada, room, 'after');
  await until(second, ({ posts, failure }) => titles(posts) === 'after' && !failure);
  expect(queries).toBe(2);
  expect(client.ends).toMatchObject([{ code: 'CURSOR_EXPIRED', action: 'query' }]);
});

/** Sends other cursors than those of the log, as if its events were lost, when it connects again. */
class ForgingWebSocket extends WebSocket {
  static isForging = false;

  override send(data: string): void {
    const message = JSON.parse(data);
    const { seen = {} } = message.payload?.live ?? {};
    for (const [id, cursor] of Object.entries<string>(ForgingWebSocket.isForging ? seen : {})) {
      const { mark, seq, roomId } = openCursor(cursor);
      seen[id] = forgeCursor(`${mark.startsWith('a') ? 'b' : 'a'}${mark.slice(1)}`, seq, roomId);
    }
    super.send(JSON.stringify(message));
  }
}

it('a connection whose cursor has expired meanwhile is catching up until its store has queried again', async () => {
  const room = await postroom.createRoom(ada, 'expired meanwhile');
  const proxy = await createFaultProxy(postroom.graphqlUrl);
  onTestFinished(() => proxy.close());
  const client = openClient(proxy.url, { webSocket: { webSocketImpl: ForgingWebSocket } });
  const store = open(roomStore(client, room));
  await until(client.connection, ({ state }) => state === 'live');
  await postroom.createPost(ada, room, 'before');
  await until(store, ({ posts }) => titles(posts) === 'before');
  ForgingWebSocket.isForging = true;
  const shown: string[] = [];
  client.connection.subscribe(() => shown.push(`${client.connection.get().state}: ${titles(store.get().posts)}`));
  proxy.retarget('http://127.0.0.1:1');
  await until(client.connection, ({ state }) => state === 'stale');
  await postroom.createPost(ada, room, 'missed');
  proxy.retarget(postroom.graphqlUrl);
  await until(store, ({ posts }) => titles(posts) === 'before missed');
  await until(client.connection, ({ state }) => state === 'live');
  expect(client.ends).toMatchObject([{ code: 'CURSOR_EXPIRED', action: 'query' }]);
  const phases = shown.filter((phase, index) => phase !== shown[index - 1]);
  expect(phases).toEqual(['stale: before', 'catching up: before', 'live: before missed']);
});

it('the viewer who joins or is removed has another role, and a room that is deleted says so', async () => {
  const room = await postroom.createRoom(ada, 'roles');
  const store = open(roomStore(openClient(postroom.graphqlUrl, { token: bob.token }), room));
  await until(store, (value) => value.room?.viewerRole === null);
  await mutate(bob, `joinRoom(input: { room: "${room}" })`);
  await until(store, (value) => value.room?.viewerRole === 'MEMBER');
  await mutate(ada, `removeRoomMember(input: { room: "${room}", user: "${bob.id}" })`);
  await until(store, (value) => value.room?.viewerRole === null);
  await mutate(ada, `deleteRoom(input: { id: "${room}" })`);
  const { failure } = await until(store, (value) => value.failure);
  expect(failure).toMatchObject({ code: 'ROOM_DELETED', action: 'stop' });
});

it('a room that does not exist says so, and is not queried again', async () => {
  const store = open(roomStore(openClient(postroom.graphqlUrl), 'r1'));
  const { failure } = await until(store, (value) => value.failure);
  expect(failure).toMatchObject({ code: 'NOT_FOUND', action: 'stop' });
});

/** Answers each request as `answer` says: with the number of the request, and a function that sends it. */
function answerWith(
  client: PostroomClient,
  answer: (count: number, query: string, send: () => Promise<unknown>) => unknown,
): PostroomClient {
  let count = 0;
  const request = async <Data>(query: string, variables?: Record<string, unknown>): Promise<Data> => {
    count += 1;
    return (await answer(count, query, () => client.request(query, variables))) as Data;
  };
  return { ...client, request };
}

it('an answer that arrives after the store was followed again is ignored', async () => {
  const room = await postroom.createRoom(ada, 'late answer');
  const late = Promise.withResolvers<void>();
  const delivered = Promise.withResolvers<void>();
  const client = answerWith(openClient(postroom.graphqlUrl, { token: ada.token }), async (count, _, send) => {
    const data = await send();
    if (count > 1) return data;
    await late.promise;
    setImmediate(delivered.resolve);
    return data;
  });
  const store = roomStore(client, room);
  store.subscribe(() => {})();
  open(store);
  await until(store, (value) => value.room);
  await postroom.createPost(ada, room, 'first');
  await until(store, ({ posts }) => titles(posts) === 'first');
  late.resolve();
  await delivered.promise;
  await postroom.createPost(ada, room, 'second');
  const { posts } = await until(store, (value) => value.posts.at(-1)?.title === 'second');
  expect(titles(posts)).toBe('first second');
});

it('an event that the server could not execute causes a query', async () => {
  const room = await postroom.createRoom(ada, 'failed event');
  const client = openClient(postroom.graphqlUrl, { token: ada.token });
  const failed = { data: null, errors: [{ message: 'Internal', extensions: { code: 'INTERNAL_SERVER_ERROR' } }] };
  let events = 0;
  const subscribe: PostroomClient['live']['subscribe'] = (request, sink) =>
    client.live.subscribe(request as never, {
      ...sink,
      next: (result) => {
        events += 1;
        sink.next((events === 1 ? failed : result) as never);
      },
    });
  const store = open(roomStore({ ...client, live: { ...client.live, subscribe } }, room));
  await until(store, (value) => value.room);
  await postroom.createPost(ada, room, 'one');
  await until(store, ({ posts, failure }) => titles(posts) === 'one' && !failure);
  await postroom.createPost(ada, room, 'two');
  await until(store, ({ posts }) => titles(posts) === 'one two');
});

it('an older page that was read before the room was queried again is ignored', async () => {
  const room = await postroom.createRoom(ada, 'old page');
  const ids: string[] = [];
  for (const title of ['1', '2', '3']) ids.push(await postroom.createPost(ada, room, title));
  const late = Promise.withResolvers<void>();
  const read = Promise.withResolvers<void>();
  let isFirstPage = true;
  const client = answerWith(openClient(postroom.graphqlUrl, { token: bob.token }), async (_, query, send) => {
    const data = await send();
    if (!query.includes('$before') || !isFirstPage) return data;
    isFirstPage = false;
    read.resolve();
    await late.promise;
    return data;
  });
  const store = open(roomStore(client, room, { pageSize: 2 }));
  await until(store, ({ posts }) => titles(posts) === '2 3');
  const loaded = store.loadOlder();
  await read.promise;
  await mutate(ada, `deletePost(input: { id: "${ids[0]}" })`);
  await mutate(bob, `joinRoom(input: { room: "${room}" })`);
  await until(store, (value) => value.room?.viewerRole === 'MEMBER');
  late.resolve();
  await loaded;
  expect(titles(store.get().posts)).toBe('2 3');
});

it('a sent post gets its other fields with its event', async () => {
  const { room, proxy, store } = await openRoom('other fields');
  await until(store, (value) => value.room);
  const outbox = outboxStore(openClient(postroom.graphqlUrl, { token: ada.token }), 'other fields');
  const client = openClient(proxy.url, { token: ada.token });
  const shown = open(roomStore(client, room, { outbox, postFields: 'room { name }' }));
  await until(client.connection, ({ state }) => state === 'live');
  proxy.freeze('down');
  await outbox.send({ room, title: 'sent' });
  await until(shown, ({ posts }) => titles(posts) === 'sent');
  proxy.thaw();
  await until(shown, ({ posts }) => 'room' in (posts[0] ?? {}));
  expect(shown.get().posts).toMatchObject([{ title: 'sent', room: { name: 'other fields' } }]);
});

it('when one of the first hundred members leaves, the next one is shown', async () => {
  const { room, store } = await openRoom('many members');
  const others = await postroom.signUpAll(Array.from({ length: 100 }, (_, index) => `Member ${index}`));
  for (let from = 0; from < others.length; from += 20) {
    const fields = others
      .slice(from, from + 20)
      .map(({ id }, index) => `a${index}: addRoomMember(input: { room: "${room}", user: "${id}" }) { __typename }`);
    await postroom.ask(`mutation { ${fields.join(' ')} }`, {}, ada.token);
  }
  await until(store, ({ members }) => members.at(-1)?.name === 'Member 98');
  await mutate(others[0] as Person, `leaveRoom(input: { room: "${room}" })`);
  const { members } = await until(store, (value) => value.members.at(-1)?.name === 'Member 99');
  expect(members).toHaveLength(100);
});

it('a store without listeners has no subscription, and is up to date when it is followed again', async () => {
  const room = await postroom.createRoom(ada, 'followed again');
  const client = openClient(postroom.graphqlUrl, { token: ada.token });
  const store = roomStore(client, room);
  const stop = store.subscribe(() => {});
  await until(store, (value) => value.room);
  stop();
  await postroom.createPost(ada, room, 'missed');
  open(store);
  await until(store, ({ posts }) => titles(posts) === 'missed');
});
