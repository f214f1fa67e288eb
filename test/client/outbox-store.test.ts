import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { type OutboxEntry, type OutboxStorage, outboxStore, roomStore } from '../../packages/client/src/index.ts';
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

/** As a browser stores it: copies, in the order of their keys. */
function createStorage(): OutboxStorage {
  const stored = new Map<string, string>();
  return {
    getAll: async () => [...stored.entries()].sort().map(([, entry]): OutboxEntry => JSON.parse(entry)),
    put: async (entry) => stored.set(entry.key, JSON.stringify(entry)),
    delete: async (key) => stored.delete(key),
  };
}

async function openOutbox(name: string) {
  const room = await postroom.createRoom(ada, name);
  const proxy = await createFaultProxy(postroom.graphqlUrl);
  onTestFinished(() => proxy.close());
  const storage = createStorage();
  const openTab = () => outboxStore(openClient(proxy.url, { token: ada.token }), name, storage);
  return { room, proxy, storage, openTab };
}

const states = (entries: readonly OutboxEntry[]) => entries.map(({ title, state }) => `${title} ${state}`).join(', ');
const query = 'query ($room: ID!) { room(id: $room) { posts(last: 50) { nodes { title body } } } }';

async function titlesOf(room: string): Promise<string[]> {
  const { posts } = (await postroom.ask(query, { room }, ada.token)).room;
  return posts.nodes.map(({ title }: { title: string }) => title);
}

it('posts are sent one after the other, once, although answers are lost', async () => {
  const { room, proxy, storage, openTab } = await openOutbox('lost answers');
  const outbox = openTab();
  // The mutations arrive, and their answers do not.
  proxy.freeze('down');
  const sent = Array.from({ length: 10 }, (_, index) => String(index));
  for (const title of sent) await outbox.send({ room, title, body: `text of ${title}` });
  expect(states(outbox.get().entries)).toBe(sent.map((title) => `${title} sending`).join(', '));
  for (let found: string[] = []; found.length === 0; found = await titlesOf(room));
  proxy.cut();
  proxy.thaw();
  await until(outbox, ({ entries }) => entries.every(({ state }) => state === 'sent'));
  expect(await titlesOf(room)).toEqual(sent);
  expect(await storage.getAll()).toEqual([]);
});

it('a page that is loaded again sends what was not confirmed, and creates no post twice', async () => {
  const { room, proxy, storage, openTab } = await openOutbox('reload');
  const before = openTab();
  proxy.freeze('down');
  await before.send({ room, title: 'first' });
  await before.send({ room, title: 'second' });
  for (let found: string[] = []; found.length === 0; found = await titlesOf(room));
  const stored = await storage.getAll();
  expect(stored.map(({ title }) => title).sort()).toEqual(['first', 'second']);
  // The old page is gone, and its request with it.
  proxy.cut();
  proxy.thaw();
  for (const { key } of before.get().entries) await before.remove(key);
  for (const entry of stored) await storage.put(entry);
  const after = openTab();
  await until(after, ({ entries }) => states(entries) === 'first sent, second sent');
  expect(await titlesOf(room)).toEqual(['first', 'second']);
});

it('a post that is refused has the reason, does not delay the next, and can be changed or removed', async () => {
  const { room, openTab } = await openOutbox('refused');
  const outbox = openTab();
  const long = 'x'.repeat(201);
  await outbox.send({ room, title: long });
  await outbox.send({ room, title: 'next' });
  const { entries } = await until(outbox, (value) => states(value.entries) === `${long} failed, next sent`);
  expect(entries[0]?.failure).toMatchObject({ code: 'VALIDATION_ERROR', action: 'show' });
  await outbox.retry(entries[0]?.key ?? '', { title: 'short' });
  await until(outbox, (value) => states(value.entries) === 'next sent, short sent');
  expect(await titlesOf(room)).toEqual(['next', 'short']);
  await outbox.send({ room, title: long });
  const { entries: all } = await until(outbox, (value) => value.entries.at(-1)?.state === 'failed');
  await outbox.remove(all.at(-1)?.key ?? '');
  expect(states(outbox.get().entries)).toBe('next sent, short sent');
});

it('a room shows a sent post once, whether its answer or its event arrives first', async () => {
  const { room, openTab } = await openOutbox('shown');
  const outbox = openTab();
  const store = open(roomStore(openClient(postroom.graphqlUrl, { token: ada.token }), room, { outbox }));
  await until(store, (value) => value.room);
  for (const title of ['a', 'b', 'c']) await outbox.send({ room, title });
  await until(outbox, ({ entries }) => states(entries) === 'a sent, b sent, c sent');
  const { posts } = await until(store, (value) => value.posts.length >= 3);
  expect(posts.map(({ title }) => title)).toEqual(['a', 'b', 'c']);
});

it('two tabs with one outbox send each post once', async () => {
  const { room, openTab } = await openOutbox('two tabs');
  const [one, two] = [openTab(), openTab()];
  await Promise.all(['a', 'b', 'c'].map((title) => one.send({ room, title })));
  await Promise.all(['d', 'e'].map((title) => two.send({ room, title })));
  for (const outbox of [one, two]) await until(outbox, ({ entries }) => entries.every(({ state }) => state === 'sent'));
  expect((await titlesOf(room)).sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
});
