import { createClient as createSseClient } from 'graphql-sse';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import {
  inboxStore,
  outboxStore,
  type PostroomClient,
  presenceStore,
  resumableSse,
  roomStore,
} from '../../packages/client/src/index.ts';
import { type OpenedClient, open, openClient, until } from '../support/clients/postroom-client.ts';
import { ReceivedQueue } from '../support/clients/received-queue.ts';
import { untilCounts } from '../support/engine/metrics.ts';
import { launchForTest, type Person, type Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';
import { collectUncaughtExceptions } from '../support/server/uncaught-exceptions.ts';
import { launchWithVirtualClock, pollWhileTimePasses } from '../support/server/virtual-timers.ts';

/* An exception of the app is reported as uncaught, and changes nothing of what the package does. */

const uncaught = collectUncaughtExceptions();
const server = shareServer();
let postroom: Postroom;
let ada: Person;

beforeAll(async () => {
  postroom = server.postroom;
  ada = await postroom.signUp('Ada');
});

const fail = (): never => {
  throw new Error('of the app');
};

const query = 'subscription ($room: ID!) { roomEvents(room: $room) { ... on PostCreated { post { title } } } }';

interface PostEvent {
  roomEvents: { post: { title: string } };
}

/** Queues the titles of the new posts of a room; resolves when the subscription has begun. */
async function follow(client: OpenedClient, room: string, onPost: () => void = () => {}) {
  const titles = new ReceivedQueue<string>();
  const request = { query, variables: { room } };
  const begun = new Promise<void>((resolve) => client.onCaughtUp(request, resolve));
  const unsubscribe = client.live.subscribe<PostEvent>(request, {
    next: ({ data }) => {
      titles.push(data?.roomEvents.post.title ?? '');
      onPost();
    },
    error: (error) => titles.push(String(error)),
    complete: () => {},
  });
  await begun;
  return Object.assign(titles, { unsubscribe });
}

/** The same client, which counts its requests over HTTP. */
function countRequests(client: PostroomClient) {
  const request = vi.fn(client.request) as PostroomClient['request'];
  return { counted: { ...client, request }, count: () => vi.mocked(request).mock.calls.length };
}

function expectOneConnection(client: OpenedClient): void {
  expect(client.states).toEqual(['connecting', 'live']);
}

it('an exception of a sink ends no connection, no subscription, and repeats no event', async () => {
  const room = await postroom.createRoom(ada, 'sink');
  const client = openClient(postroom.graphqlUrl);
  const failing = await follow(client, room, fail);
  const other = await follow(client, room);
  for (const title of ['one', 'two']) await postroom.createPost(ada, room, title);
  expect(await other.take(2)).toEqual(['one', 'two']);
  expect(await failing.take(2)).toEqual(['one', 'two']);
  failing.unsubscribe();
  expect(uncaught.messages).toEqual(['of the app', 'of the app']);
  await postroom.createPost(ada, room, 'three');
  expect(await other.next()).toBe('three');
  expect(failing.all).toEqual(['one', 'two']);
  expectOneConnection(client);
});

it('an exception after an event was received is no reason to receive it again', async () => {
  const room = await postroom.createRoom(ada, 'lost connection');
  const client = openClient(postroom.graphqlUrl);
  const failing = await follow(client, room, fail);
  await postroom.createPost(ada, room, 'one');
  await failing.next();
  client.live.terminate();
  await until(client.connection, ({ state }) => state === 'stale');
  await postroom.createPost(ada, room, 'two');
  expect(await failing.next()).toBe('two');
  expect(failing.all).toEqual(['one', 'two']);
});

it('an exception of a listener of a store, of the connection or of a catch-up ends no connection', async () => {
  const room = await postroom.createRoom(ada, 'listeners');
  const client = openClient(postroom.graphqlUrl, { token: ada.token });
  onTestFinished(client.connection.subscribe(fail));
  const { counted, count } = countRequests(client);
  const store = roomStore(counted, room);
  onTestFinished(store.subscribe(fail));
  await until(store, (value) => value.room);
  const request = { query, variables: { room } };
  const begun = new Promise<void>((resolve) => {
    counted.onCaughtUp(request, () => {
      resolve();
      fail();
    });
  });
  client.live.subscribe(request, { next: () => {}, error: () => {}, complete: () => {} });
  await begun;
  await postroom.createPost(ada, room, 'one');
  await until(store, ({ posts }) => posts.length === 1);
  expect(count()).toBe(1);
  expectOneConnection(client);
  expect(uncaught.messages.length).toBeGreaterThan(2);
  expect(client.ends).toEqual([]);
});

it('an exception of onEnd ends no other subscription', async () => {
  const room = await postroom.createRoom(ada, 'ends');
  const client = openClient(postroom.graphqlUrl, { onEnd: fail });
  const titles = await follow(client, room);
  const failed = new Promise<void>((resolve) => {
    const sink = { next: () => {}, error: () => resolve(), complete: () => {} };
    client.live.subscribe({ query, variables: { room: 'r1' } }, sink);
  });
  await failed;
  await postroom.createPost(ada, room, 'one');
  expect(await titles.next()).toBe('one');
  expectOneConnection(client);
  expect(uncaught.messages).toEqual(['of the app']);
  titles.unsubscribe();
});

it('an exception of onEnd about a refused connection leaves a client that can be used', async () => {
  const client = openClient(postroom.graphqlUrl, { token: 'wrong', onEnd: fail });
  const ask = () => client.live.iterate({ query: '{ viewer { id } }' }).next();
  await expect(ask()).rejects.toMatchObject({ code: 4403 });
  client.setToken(ada.token);
  expect((await ask()).value).toEqual({ data: { viewer: { id: ada.id } } });
  expect(uncaught.messages).toEqual(['of the app']);
});

it('an exception of onToken does not renew the token again', async () => {
  const own = await launchWithVirtualClock();
  const eve = await own.signUp('Eve');
  vi.setSystemTime(Date.now() + 86_400_000 - 30_000);
  const client = openClient(own.graphqlUrl, { token: eve.token, onToken: fail });
  const pings: string[] = [];
  client.live.on('opened', (socket) => {
    const opened = socket as WebSocket;
    const send = opened.send.bind(opened);
    opened.send = (data) => {
      if (String(data).includes('"authorization"') && String(data).includes('"ping"')) pings.push(String(data));
      send(data);
    };
  });
  open(inboxStore(client));
  await pollWhileTimePasses(() => pings.length).toBe(1);
  await expect(own.ask('{ viewer { id } }', {}, eve.token)).resolves.toBeTruthy();
  // Longer than the pause before it would be renewed again.
  const until = Date.now() + 6_000;
  await pollWhileTimePasses(() => Date.now() > until).toBe(true);
  expect(pings).toHaveLength(1);
  expect(uncaught.messages).toEqual(['of the app']);
  expectOneConnection(client);
}, 60_000);

it('a function that throws, or rejects late, causes no second connection', async () => {
  const room = await postroom.createRoom(ada, 'token');
  const first = Promise.withResolvers<string>();
  const answers = [
    fail,
    () => {
      // This attempt is given up while its token is awaited.
      setImmediate(() => client.live.terminate());
      return first.promise;
    },
    () => ada.token,
  ];
  const client = openClient(postroom.graphqlUrl, { token: () => answers.shift()?.() });
  let attempts = 0;
  client.live.on('connecting', () => {
    attempts += 1;
  });
  const titles = await follow(client, room);
  first.reject(new Error('late'));
  await postroom.createPost(ada, room, 'one');
  expect(await titles.next()).toBe('one');
  expect(attempts).toBe(3);
  expect(client.states.filter((state) => state === 'live')).toHaveLength(1);
  expect(client.ends).toEqual([]);
  expect(uncaught.messages).toEqual([]);
  titles.unsubscribe();
});

it('an exception of a listener of sent posts sends no post again', async () => {
  const room = await postroom.createRoom(ada, 'outbox');
  const { counted, count } = countRequests(openClient(postroom.graphqlUrl, { token: ada.token }));
  const outbox = outboxStore(counted, 'exceptions');
  outbox.onSent(fail);
  outbox.subscribe(fail);
  await outbox.send({ room, title: 'one' });
  await until(outbox, ({ entries }) => entries[0]?.state === 'sent');
  await outbox.send({ room, title: 'two' });
  await until(outbox, ({ entries }) => entries[1]?.state === 'sent');
  expect(count()).toBe(2);
  expect(uncaught.messages.length).toBeGreaterThan(2);
});

it('an exception of a sink of graphql-sse does not end its subscription', async () => {
  const room = await postroom.createRoom(ada, 'sse');
  const sse = resumableSse({ url: postroom.graphqlUrl, createClient: createSseClient, token: ada.token });
  onTestFinished(() => sse.dispose());
  const titles = new ReceivedQueue<string>();
  const after = await postroom.cursorOf(room, ada.token);
  sse.subscribe<PostEvent>(
    {
      query: query
        .replace('($room: ID!)', '($room: ID!, $after: String)')
        .replace('room: $room', 'room: $room, after: $after'),
      variables: { room, after },
    },
    {
      next: ({ data }) => {
        titles.push(data?.roomEvents.post.title ?? '');
        fail();
      },
      error: (error: unknown) => titles.push(String(error)),
      complete: () => titles.push('complete'),
    },
  );
  for (const title of ['one', 'two']) await postroom.createPost(ada, room, title);
  expect(await titles.take(2)).toEqual(['one', 'two']);
  await expect.poll(() => uncaught.messages).toEqual(['of the app', 'of the app']);
});

it('after the last listener has unsubscribed, also by its exception or while it is called, nothing is left', async () => {
  const own = await launchForTest();
  const eve = await own.signUp('Eve');
  const room = await own.createRoom(eve, 'left');
  const client = openClient(own.graphqlUrl, { token: eve.token });
  const stores = [roomStore(client, room), inboxStore(client), presenceStore(client, room)];
  for (let round = 0; round < 3; round += 1) {
    const stops = stores.flatMap((store) => [store.subscribe(fail), store.subscribe(() => {})]);
    const titles = await follow(client, room, () => titles.unsubscribe());
    await untilCounts(own, { subscribers: 3 });
    await own.createPost(eve, room, String(round));
    await titles.next();
    for (const stop of stops) stop();
    await untilCounts(own, { subscribers: 0, 'subscriptions{transport="websocket"}': 0 });
  }
  expectOneConnection(client);
});
