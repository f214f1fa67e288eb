import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import WebSocket from 'ws';
import { createPostroomClient, createResume, failureOf, retryOf } from '../../packages/client/src/index.ts';
import { createFaultProxy } from '../support/clients/fault-proxy.ts';
import { openClient, until } from '../support/clients/postroom-client.ts';
import { ReceivedQueue } from '../support/clients/received-queue.ts';
import { launchForTest, type Person, type Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();
let postroom: Postroom;
let ada: Person;

const query = `subscription ($room: ID!) { roomEvents(room: $room) { ... on PostCreated { post { title } } } }`;

beforeAll(async () => {
  postroom = server.postroom;
  ada = await postroom.signUp('Ada');
});

async function openProxy() {
  const proxy = await createFaultProxy(postroom.graphqlUrl);
  onTestFinished(() => proxy.close());
  return proxy;
}

it('a connection that was lost catches up, counts what it had missed, and is live again', async () => {
  const proxy = await openProxy();
  const room = await postroom.createRoom(ada, 'catch up');
  const client = openClient(proxy.url);
  const titles = new ReceivedQueue<string>();
  const request = { query, variables: { room } };
  const started = new Promise<void>((resolve) => client.onCaughtUp(request, resolve));
  client.live.subscribe<{ roomEvents: { post: { title: string } } }>(request, {
    next: ({ data }) => titles.push(data?.roomEvents.post.title ?? ''),
    error: (error) => titles.push(String(error)),
    complete: () => {},
  });
  await started;
  expect(client.connection.get()).toMatchObject({ state: 'live', caughtUp: 0 });
  proxy.freeze();
  for (const title of ['one', 'two', 'three']) await postroom.createPost(ada, room, title);
  proxy.cut();
  proxy.thaw();
  await until(client.connection, ({ state }) => state === 'stale');
  const { caughtUp } = await until(client.connection, ({ state }) => state === 'live');
  expect(caughtUp).toBe(3);
  expect([await titles.next(), await titles.next(), await titles.next()]).toEqual(['one', 'two', 'three']);
  expect(client.states).toEqual(['connecting', 'live', 'stale', 'catching up', 'live']);
  expect(client.ends).toEqual([]);
});

it('a state stream needs no cursor to be live again', async () => {
  const proxy = await openProxy();
  const room = await postroom.createRoom(ada, 'presence');
  const client = openClient(proxy.url);
  const sink = { next: () => {}, error: () => {}, complete: () => {} };
  client.live.subscribe({ query: `subscription { roomPresence(room: "${room}") { count } }` }, sink);
  await until(client.connection, ({ state }) => state === 'live');
  proxy.cut();
  await until(client.connection, ({ state }) => state === 'stale');
  expect(await until(client.connection, ({ state }) => state === 'live')).toMatchObject({ caughtUp: 0 });
});

it('a query that is refused has the request id of its line in the log', async () => {
  const { graphqlUrl, log } = await launchForTest({ LOG_LEVEL: 'info' });
  const client = openClient(graphqlUrl);
  const { code, requestId } = failureOf(await client.request('{ nothing }').catch((error) => error));
  expect(log).toContainEqual(expect.objectContaining({ code, requestId, msg: 'operation refused' }));
});

it('credentials that are refused end the client with UNAUTHENTICATED', async () => {
  const client = openClient(postroom.graphqlUrl, { token: 'wrong' });
  const failed = new Promise((resolve) => {
    client.live.subscribe({ query: '{ viewer { id } }' }, { next: () => {}, error: resolve, complete: () => {} });
  });
  expect(failureOf(await failed)).toMatchObject({ code: 'UNAUTHENTICATED', action: 'signIn' });
  expect(client.connection.get()).toMatchObject({ state: 'refused', failure: { code: 'UNAUTHENTICATED' } });
  expect(client.ends).toMatchObject([{ code: 'UNAUTHENTICATED' }]);
  await expect(client.request('{ viewer { id } }')).rejects.toMatchObject({ status: 401 });
});

it('a function is asked for another token once, when its token is refused', async () => {
  const tokens = ['wrong', ada.token];
  const client = openClient(postroom.graphqlUrl, { token: () => tokens.shift() });
  const answer = await client.live.iterate({ query: '{ viewer { id } }' }).next();
  expect(answer.value).toEqual({ data: { viewer: { id: ada.id } } });
  expect(client.ends).toEqual([]);
});

it('a function that cannot return a token now is asked again', async () => {
  let calls = 0;
  const token = async () => {
    calls += 1;
    if (calls === 1) throw new Error('offline');
    return ada.token;
  };
  const client = openClient(postroom.graphqlUrl, { token });
  const answer = await client.live.iterate({ query: '{ viewer { id } }' }).next();
  expect(answer.value).toEqual({ data: { viewer: { id: ada.id } } });
});

it('each subscription that ends with an error is reported', async () => {
  const client = openClient(postroom.graphqlUrl);
  const failed = new Promise((resolve) => {
    const sink = { next: () => {}, error: resolve, complete: () => {} };
    client.live.subscribe({ query, variables: { room: 'r1' } }, sink);
  });
  expect(failureOf(await failed)).toMatchObject({ code: 'NOT_FOUND', action: 'stop' });
  expect(client.ends).toMatchObject([{ code: 'NOT_FOUND', action: 'stop' }]);
  expect(client.connection.get().state).toBe('live');
});

it('the events before a new subscription are not counted as missed', async () => {
  const room = await postroom.createRoom(ada, 'new subscription');
  const after = await postroom.cursorOf(room, ada.token);
  for (const title of ['one', 'two']) await postroom.createPost(ada, room, title);
  const client = openClient(postroom.graphqlUrl);
  const request = {
    query: `subscription ($room: ID!, $after: String!) { roomEvents(room: $room, after: $after) { __typename } }`,
    variables: { room, after },
  };
  const started = new Promise<void>((resolve) => client.onCaughtUp(request, resolve));
  let received = 0;
  const next = () => {
    received += 1;
  };
  client.live.subscribe(request, { next, error: () => {}, complete: () => {} });
  await started;
  expect(received).toBe(2);
  expect(client.connection.get()).toMatchObject({ state: 'live', caughtUp: 0 });
});

it('a ping that arrives with the acknowledgement leaves the cursors', () => {
  const { on, connectionParams, jsonMessageReplacer } = createResume();
  jsonMessageReplacer('', { type: 'subscribe', id: '1', payload: {} });
  on.ping(true, { live: { 1: 'cursor' } });
  on.connected(undefined, undefined, true);
  on.message({ type: 'connection_ack' });
  on.message({ type: 'ping', payload: { expiresAt: '2026-12-01T00:00:00Z' } });
  on.ping(true, { expiresAt: '2026-12-01T00:00:00Z' });
  jsonMessageReplacer('', { type: 'subscribe', id: '1', payload: {} });
  expect(connectionParams()).toEqual({ live: { seen: { 1: 'cursor' } } });
});

it('what a socket receives after it was given up is received once, by its successor', async () => {
  const proxy = await openProxy();
  const room = await postroom.createRoom(ada, 'given up');
  const client = openClient(proxy.url, { webSocket: { webSocketImpl: WebSocket } });
  const titles = new ReceivedQueue<string>();
  const request = { query, variables: { room } };
  const started = new Promise<void>((resolve) => client.onCaughtUp(request, resolve));
  client.live.subscribe<{ roomEvents: { post: { title: string } } }>(request, {
    next: ({ data }) => titles.push(data?.roomEvents.post.title ?? ''),
    error: (error) => titles.push(String(error)),
    complete: () => {},
  });
  await started;
  proxy.freeze('down');
  const sent = ['one', 'two', 'three'];
  for (const title of sent) await postroom.createPost(ada, room, title);
  client.live.terminate();
  proxy.thaw();
  await until(client.connection, ({ state }) => state === 'live');
  await postroom.createPost(ada, room, 'four');
  await titles.next((title) => title === 'four');
  expect(titles.all).toEqual([...sent, 'four']);
});

it('a token that is set while the client connects is used by its subscriptions', async () => {
  const proxy = await openProxy();
  const client = openClient(proxy.url);
  const stop = client.live.on('opened', () => {
    stop();
    // Its old credentials are sent, and not acknowledged yet.
    proxy.freeze('down');
    setImmediate(() => {
      client.setToken(ada.token);
      proxy.thaw();
    });
  });
  const answer = await client.live.iterate({ query: '{ viewer { id } }' }).next();
  expect(answer.value).toEqual({ data: { viewer: { id: ada.id } } });
});

it('a client that was refused connects again with another token', async () => {
  const client = openClient(postroom.graphqlUrl, { token: 'wrong' });
  const ask = () => client.live.iterate({ query: '{ viewer { id } }' }).next();
  await expect(ask()).rejects.toMatchObject({ code: 4403 });
  client.setToken(ada.token);
  expect((await ask()).value).toEqual({ data: { viewer: { id: ada.id } } });
  expect(client.connection.get().failure).toBeUndefined();
  expect(client.states.slice(0, 3)).toEqual(['connecting', 'refused', 'connecting']);
});

it('a token is renewed although the clock of the client is ahead', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: the options of graphql-ws.
  let options: any;
  const renewed = new Promise<string>((resolve) => {
    createPostroomClient({
      url: postroom.graphqlUrl,
      token: ada.token,
      onToken: resolve,
      createClient: (given) => {
        options = given;
        return { subscribe: () => () => {}, terminate: () => {} };
      },
    });
  });
  options.on.connecting();
  options.on.connected({ send: () => {} }, undefined, false);
  options.on.ping(true, { expiresAt: new Date(Date.now() - 1).toISOString() });
  expect(await postroom.ask('{ viewer { id } }', {}, await renewed)).toEqual({ viewer: { id: ada.id } });
});

it('a request that is not answered fails, and may be repeated', async () => {
  const proxy = await openProxy();
  const timeout = new AbortController();
  const timeouts = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(timeout.signal);
  onTestFinished(() => timeouts.mockRestore());
  const client = openClient(proxy.url);
  proxy.freeze('down');
  const answer = client.request('{ viewer { id } }');
  timeout.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  const error = await answer.catch((reason) => reason);
  expect(failureOf(error)).toMatchObject({ code: 'NO_ANSWER', action: 'repeat' });
});

it('a refused mutation may be repeated when the server says so, and an unanswered one only with a key', () => {
  const refused = (code: string, extensions = {}) => ({
    errors: [{ message: code, extensions: { code, ...extensions } }],
  });
  expect(retryOf(refused('RATE_LIMITED', { retryAfterMs: 9_000 }))).toBe(9_000);
  expect(retryOf(refused('SERVICE_UNAVAILABLE'))).toBeGreaterThanOrEqual(500);
  expect(retryOf(refused('VALIDATION_ERROR'), { isSafe: true })).toBeUndefined();
  // A part of its mutations was done.
  expect(retryOf({ ...refused('SERVICE_UNAVAILABLE'), status: 294 })).toBeUndefined();
  expect(retryOf(refused('OUTCOME_UNKNOWN'))).toBeUndefined();
  expect(retryOf(refused('OUTCOME_UNKNOWN'), { isSafe: true })).toBeGreaterThanOrEqual(500);
  expect(retryOf(new TypeError('fetch failed'))).toBeUndefined();
  expect(retryOf(new TypeError('fetch failed'), { isSafe: true, attempt: 3 })).toBeGreaterThanOrEqual(4_000);
});
