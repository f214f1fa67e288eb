import { setImmediate } from 'node:timers/promises';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
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

it('a post whose key may have expired is not sent again by itself', async () => {
  const { room, storage, openTab } = await openOutbox('expired key');
  const dayAgo = Date.now() - 86_400_000;
  await storage.put({ room, title: 'old', key: 'old key', at: dayAgo, state: 'sending', triedAt: dayAgo });
  const outbox = openTab();
  const { entries } = await until(outbox, (value) => value.entries[0]?.state === 'failed');
  expect(entries[0]?.failure).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  expect(await titlesOf(room)).toEqual([]);
  await outbox.retry('old key');
  await until(outbox, (value) => states(value.entries) === 'old sent');
  expect(await titlesOf(room)).toEqual(['old']);
});

it('a post that is not stored yet is not lost', async () => {
  const { room, storage } = await openOutbox('slow storage');
  const slow: OutboxStorage = {
    ...storage,
    put: async (entry) => {
      if (entry.title === 'second' && entry.triedAt === undefined) {
        for (let polls = 0; polls < 20 && (await titlesOf(room)).length === 0; polls += 1);
        for (let turns = 0; turns < 50; turns += 1) await setImmediate();
      }
      return storage.put(entry);
    },
  };
  const outbox = outboxStore(openClient(postroom.graphqlUrl, { token: ada.token }), 'slow storage', slow);
  await Promise.all(['first', 'second'].map((title) => outbox.send({ room, title })));
  await until(outbox, ({ entries }) => states(entries) === 'first sent, second sent');
  expect(await titlesOf(room)).toEqual(['first', 'second']);
  expect(await storage.getAll()).toEqual([]);
});

it('a storage that fails does not prevent that posts are sent', async () => {
  const { room } = await openOutbox('full disk');
  const fail = () => Promise.reject(new Error('The disk is full.'));
  const client = openClient(postroom.graphqlUrl, { token: ada.token });
  const unreadable = outboxStore(client, 'unreadable', { getAll: fail, put: fail, delete: fail });
  const full = outboxStore(client, 'full', { getAll: async () => [], put: fail, delete: fail });
  for (const outbox of [unreadable, full]) {
    await outbox.send({ room, title: 'sent' });
    await until(outbox, ({ entries }) => states(entries) === 'sent sent');
  }
  expect(await titlesOf(room)).toEqual(['sent', 'sent']);
});

it('only a post that has failed is sent again, also to another room', async () => {
  const { room, proxy, openTab } = await openOutbox('retried');
  const other = await postroom.createRoom(ada, 'another room');
  const outbox = openTab();
  proxy.freeze('down');
  await outbox.send({ room, title: 'sending' });
  await outbox.retry(outbox.get().entries[0]?.key ?? '', { title: 'changed' });
  expect(states(outbox.get().entries)).toBe('sending sending');
  proxy.thaw();
  await until(outbox, ({ entries }) => states(entries) === 'sending sent');
  await outbox.send({ room: 'r1', title: 'moved' });
  const { entries } = await until(outbox, (value) => value.entries.at(-1)?.state === 'failed');
  await outbox.retry(entries.at(-1)?.key ?? '', { room: other });
  await until(outbox, (value) => states(value.entries) === 'sending sent, moved sent');
  expect(await titlesOf(room)).toEqual(['sending']);
  expect(await titlesOf(other)).toEqual(['moved']);
});

it('a page that may not request locks sends its posts', async () => {
  const { room, openTab } = await openOutbox('no locks');
  const request = () => Promise.reject(new DOMException('The request was denied.', 'SecurityError'));
  vi.stubGlobal('navigator', { locks: { request } });
  onTestFinished(() => void vi.unstubAllGlobals());
  const outbox = openTab();
  await outbox.send({ room, title: 'sent' });
  await until(outbox, ({ entries }) => states(entries) === 'sent sent');
  expect(await titlesOf(room)).toEqual(['sent']);
});

/** As much of IndexedDB as an outbox uses. A transaction with a new entry is aborted when `isFull`. */
function createIndexedDB(disk: { isFull: boolean; entries: Map<string, OutboxEntry> }) {
  const later = (act: () => unknown) => void setImmediate().then(act);
  const transaction = () => {
    // biome-ignore lint/suspicious/noExplicitAny: the handlers that the outbox sets.
    const own: any = { error: new DOMException('The disk is full.', 'QuotaExceededError') };
    const run = (work: () => unknown, isRefused = false) => {
      const request = { result: undefined as unknown };
      later(() => {
        if (isRefused) return own.onabort();
        request.result = work();
        own.oncomplete();
      });
      return request;
    };
    own.objectStore = () => ({
      getAll: () => run(() => [...disk.entries.values()]),
      put: (entry: OutboxEntry) => run(() => disk.entries.set(entry.key, entry), disk.isFull),
      delete: (key: string) => run(() => disk.entries.delete(key)),
    });
    return own;
  };
  return {
    open() {
      // biome-ignore lint/suspicious/noExplicitAny: as above.
      const opening: any = { result: { transaction, createObjectStore: () => {} } };
      later(() => opening.onsuccess());
      return opening;
    },
  };
}

it('IndexedDB keeps what is not sent, and a full disk prevents nothing', async () => {
  const { room, proxy } = await openOutbox('IndexedDB');
  const disk = { isFull: false, entries: new Map<string, OutboxEntry>() };
  vi.stubGlobal('indexedDB', createIndexedDB(disk));
  onTestFinished(() => void vi.unstubAllGlobals());
  proxy.freeze();
  const outbox = outboxStore(openClient(proxy.url, { token: ada.token }), 'IndexedDB');
  await outbox.send({ room, title: 'stored' });
  expect([...disk.entries.values()]).toMatchObject([{ title: 'stored', state: 'sending' }]);
  disk.isFull = true;
  await outbox.send({ room, title: 'not stored' });
  expect(disk.entries.size).toBe(1);
  proxy.thaw();
  await until(outbox, ({ entries }) => states(entries) === 'stored sent, not stored sent');
  expect(await titlesOf(room)).toEqual(['stored', 'not stored']);
  while (disk.entries.size > 0) await setImmediate();
});
