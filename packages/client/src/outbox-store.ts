import type { PostroomClient } from './client.ts';
import { createPost as createPostText } from './documents.ts';
import { type Failure, failureOf, retryOf } from './failure.ts';
import { callSafely } from './sink.ts';
import { createStore, type Store } from './store.ts';
import type { Post } from './types.ts';

/** A new post. */
export interface NewPost {
  room: string;
  title: string;
  body?: string | null;
}

export interface OutboxEntry extends NewPost {
  /** The key of its mutation: a repeat creates no second post. */
  key: string;
  /** When it was written, in milliseconds since 1970: the entries are sent in this order. */
  at: number;
  /** `sent` until it is removed, or the page is loaded again. */
  state: 'sending' | 'sent' | 'failed';
  /** Why it has failed, or why it is not sent yet. */
  failure?: Failure | undefined;
  /** When it was sent first, in milliseconds since 1970. */
  triedAt?: number;
}

export interface OutboxStore extends Store<{ entries: readonly OutboxEntry[] }> {
  send: (post: NewPost) => Promise<void>;
  /** Sends a post again that has failed, perhaps changed. */
  retry: (key: string, change?: Partial<NewPost>) => Promise<void>;
  remove: (key: string) => Promise<void>;
  /** Calls `listener` with each post that was sent, until the result is called. */
  onSent: (listener: (post: Post, room: string) => void) => () => void;
}

/** Where an outbox keeps its entries. A failure, such as a full disk, does not prevent that an entry is sent. */
export interface OutboxStorage {
  getAll: () => Promise<OutboxEntry[]>;
  put: (entry: OutboxEntry) => Promise<unknown>;
  delete: (key: string) => Promise<unknown>;
}

/** The server keeps a key for 24 hours. A later repeat could create a second post. */
const maxRepeatMs = 23 * 3_600_000;
const keyExpired = {
  message: 'It may have been sent: its answer was lost, and the server may not know its key any more.',
  extensions: { code: 'OUTCOME_UNKNOWN' },
};
const maxSentEntries = 20;
/** After an exception of a listener. */
const sendAgainMs = 5_000;

/**
 * Posts that are not confirmed yet. They survive a reload of the page, and are sent one after the other, each until the
 * server has confirmed or refused it. `name` separates the outboxes of users: pass the id of the viewer.
 */
export function outboxStore(client: PostroomClient, name: string, storage = openStorage(name)): OutboxStore {
  const listeners = new Set<(post: Post, room: string) => void>();
  const store = createStore<{ entries: readonly OutboxEntry[] }>({ entries: [] });
  /** The keys that were in the storage: if one is not any more, another tab has removed it. */
  const storedKeys = new Set<string>();
  let isSending = false;
  let lastStep: Promise<unknown> = Promise.resolve();

  const loaded = inOrder(() => storage.getAll()).then((stored = []) => {
    const isNew = ({ key }: OutboxEntry) => !find(key);
    for (const { key } of stored) storedKeys.add(key);
    const all = [...stored.filter(isNew), ...store.get().entries];
    store.update({ entries: all.sort((one, other) => one.at - other.at) });
    sendAll();
  });

  const find = (key: string) => store.get().entries.find((entry) => entry.key === key);

  /** The storage works on one call after the other. Resolves with undefined if a call fails. */
  function inOrder<Value>(step: () => Promise<Value>): Promise<Value | undefined> {
    const done = lastStep.then(step).catch(() => undefined);
    lastStep = done;
    return done;
  }

  const put = (entry: OutboxEntry) => inOrder(() => storage.put(entry).then(() => storedKeys.add(entry.key)));

  const forget = (key: string) => inOrder(() => storage.delete(key).then(() => storedKeys.delete(key)));

  /** Changes an entry, unless it was removed. */
  async function change(key: string, changed: Partial<OutboxEntry>): Promise<void> {
    const old = find(key);
    if (!old) return;
    const entry = { ...old, ...changed };
    store.update({ entries: store.get().entries.map((other) => (other === old ? entry : other)) });
    await (entry.state === 'sent' ? forget(key) : put(entry));
  }

  /** Another tab of the browser may have the same entries: one sends at a time, and each sees what the other has sent. */
  function sendAll(): void {
    if (isSending) return;
    isSending = true;
    const { locks } = globalThis.navigator ?? {};
    // A page in a sandbox has locks that it may not request.
    const sent = locks ? locks.request(`postroom-outbox-${name}`, sendEach).catch(sendEach) : sendEach();
    void sent
      .catch(() => pause(sendAgainMs))
      .finally(() => {
        isSending = false;
        if (next()) sendAll();
      });
  }

  const next = () => store.get().entries.find(({ state }) => state === 'sending');

  async function sendEach(): Promise<void> {
    await loaded;
    for (let entry = next(); entry; entry = next()) {
      const { key } = entry;
      const stored = await inOrder(() => storage.getAll());
      const own = stored?.find((other) => other.key === key);
      if (stored && !own && storedKeys.has(key)) await remove(key);
      // Another tab may have tried it first.
      else await sendOne({ ...entry, ...own });
    }
    const sent = store.get().entries.filter(({ state }) => state === 'sent');
    for (const { key } of sent.slice(0, -maxSentEntries)) await remove(key);
  }

  async function sendOne({ key, room, title, body = null, triedAt = Date.now() }: OutboxEntry): Promise<void> {
    await change(key, { triedAt, failure: undefined });
    for (let attempt = 0; find(key); attempt += 1) {
      try {
        if (Date.now() >= triedAt + maxRepeatMs) throw keyExpired;
        const variables = { input: { room, title, body }, key };
        const { createPost } = await client.request<{ createPost: { post: Post } }>(createPostText, variables);
        for (const listener of listeners) callSafely(() => listener(createPost.post, room));
        return change(key, { state: 'sent', failure: undefined });
      } catch (error) {
        const ms = Date.now() < triedAt + maxRepeatMs ? retryOf(error, { isSafe: true, attempt }) : undefined;
        await change(key, { failure: failureOf(error), state: ms === undefined ? 'failed' : 'sending' });
        if (ms === undefined) return;
        await pause(ms);
      }
    }
  }

  /** Ends early when the connection is back. */
  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const { connection } = client;
      let { state } = connection.get();
      const end = () => {
        clearTimeout(timer);
        stop();
        resolve();
      };
      const timer = setTimeout(end, ms);
      const stop = connection.subscribe(() => {
        const before = state;
        ({ state } = connection.get());
        if (state === 'live' && before !== 'live') end();
      });
    });
  }

  async function send(post: NewPost): Promise<void> {
    const { entries } = store.get();
    const at = Math.max(Date.now(), (entries.at(-1)?.at ?? 0) + 1);
    const entry: OutboxEntry = { ...post, key: createKey(), at, state: 'sending' };
    store.update({ entries: [...entries, entry] });
    await put(entry);
    sendAll();
  }

  async function retry(key: string, changed: Partial<NewPost> = {}): Promise<void> {
    const entry = find(key);
    if (entry?.state !== 'failed') return;
    const { room, title, body = null, triedAt = Date.now() } = { ...entry, ...changed };
    const isSame = room === entry.room && title === entry.title && body === (entry.body ?? null);
    // The server refuses a key with other arguments, and forgets it after a day.
    if (!isSame || Date.now() >= triedAt + maxRepeatMs) await Promise.all([send({ room, title, body }), remove(key)]);
    else await change(key, { state: 'sending', failure: undefined });
    sendAll();
  }

  async function remove(key: string): Promise<void> {
    store.update({ entries: store.get().entries.filter((entry) => entry.key !== key) });
    await forget(key);
  }

  return {
    get: store.get,
    subscribe: store.subscribe,
    send,
    retry,
    remove,
    onSent: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** `crypto.randomUUID` does not exist in a page without TLS. */
function createKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** IndexedDB; without it, as in Node and in some private windows, the entries are kept in memory. */
function openStorage(name: string): OutboxStorage {
  const entries = new Map<string, OutboxEntry>();
  const open = () =>
    new Promise<IDBDatabase>((resolve, reject) => {
      const opening = indexedDB.open(`postroom-outbox-${name}`);
      opening.onupgradeneeded = () => opening.result.createObjectStore('entries', { keyPath: 'key' });
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error);
    });
  const database = open().catch(() => undefined);
  const run = async <Value>(work: (all: IDBObjectStore) => IDBRequest<Value>, inMemory: () => unknown) => {
    const opened = await database;
    if (!opened) return inMemory() as Value;
    return new Promise<Value>((resolve, reject) => {
      const transaction = opened.transaction('entries', 'readwrite');
      const request = work(transaction.objectStore('entries'));
      transaction.oncomplete = () => resolve(request.result);
      // Also after an error of the request. A full disk may be noticed at the end.
      transaction.onabort = () => reject(transaction.error);
    });
  };
  return {
    getAll: () =>
      run(
        (all) => all.getAll(),
        () => [...entries.values()],
      ),
    put: (entry) =>
      run(
        (all) => all.put(entry),
        () => entries.set(entry.key, entry),
      ),
    delete: (key) =>
      run(
        (all) => all.delete(key),
        () => entries.delete(key),
      ),
  };
}
