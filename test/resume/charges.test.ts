import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import { EventStream } from '../support/clients/event-stream.ts';
import { makePosts } from '../support/clients/load.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { launchForTest, type Postroom, type Settings } from '../support/server/postroom.ts';

const query = 'subscription ($room: ID!) { roomEvents(room: $room) { __typename } }';

async function findRoomOrThrow(settings: Settings = {}): Promise<{ postroom: Postroom; room: string; cursor: string }> {
  const postroom = await launchForTest({ RATE_LIMIT: '20', ...settings });
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'lobby');
  return { postroom, room, cursor: await postroom.cursorOf(room) };
}

/** Subscribes `count` times, one after another, and returns the code of each refusal. */
async function refusals(count: number, subscribe: () => Promise<string | undefined>): Promise<(string | undefined)[]> {
  const codes: (string | undefined)[] = [];
  for (let n = 0; n < count; n += 1) codes.push(await subscribe());
  return codes;
}

/** The remaining rate of clients without credentials, after this request. */
async function left({ graphqlUrl }: Postroom): Promise<number> {
  const { headers } = await fetch(`${graphqlUrl}?query={__typename}`);
  return Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
}

it.each([
  ['with an unknown room', 'NOT_FOUND', 404],
  ['with a cursor that is none', 'CURSOR_INVALID', 422],
])('a stream that claims to resume %s is charged like any other, until the rate is used up', async (what, code, status) => {
  const { postroom, room } = await findRoomOrThrow();
  const variables = { room: what === 'with an unknown room' ? 'unknown' : room };
  const statuses: number[] = [];
  const before = await left(postroom);
  const codes = await refusals(before + 3, async () => {
    const stream = await EventStream.open(postroom.graphqlUrl, query, { 'last-event-id': 'x' }, variables);
    statuses.push(stream.status);
    return stream.refusal.errors[0]?.extensions.code;
  });
  expect(codes).toEqual([...Array(before).fill(code), ...Array(3).fill('RATE_LIMITED')]);
  expect(statuses).toEqual([...Array(before).fill(status), ...Array(3).fill(429)]);
});

it('a subscription over a socket that resumes with an invalid cursor is charged each time', async () => {
  const { postroom, room } = await findRoomOrThrow();
  const before = await left(postroom);
  const ids = Array.from({ length: before + 2 }, (_, n) => `${n}`);
  const seen = Object.fromEntries(ids.map((id) => [id, 'garbage']));
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { live: { seen } } });
  const codes: unknown[] = [];
  for (const id of ids) {
    const [error] = await socket.subscribe(id, query, { room }).refused;
    codes.push(error?.extensions.code);
  }
  expect(codes).toEqual([...Array(before).fill('CURSOR_INVALID'), 'RATE_LIMITED', 'RATE_LIMITED']);
});

it('a group that was refused is not cached: the next subscriber that resumes in it is charged for a new one', async () => {
  const { postroom, room, cursor } = await findRoomOrThrow();
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, {
    init: { live: { seen: { 1: 'garbage', 2: cursor, 3: cursor } } },
  });
  const before = await left(postroom);
  await socket.subscribe('1', query, { room }).refused;
  // The refused subscription and this request were charged.
  expect(await left(postroom)).toBe(before - 2);
  await socket.subscribe('2', query, { room }).start;
  expect(await left(postroom)).toBe(before - 4);
  await socket.subscribe('3', query, { room }).start;
  expect(await left(postroom)).toBe(before - 5);
});

it('resumes are free until they have replayed 10,000 events, and are charged then, but for those that replay little', async () => {
  const { postroom, room, cursor: start } = await findRoomOrThrow({ RATE_LIMIT: '60', LIMIT_MESSAGES: '1000' });
  const eve = await postroom.signUp('Eve');
  await makePosts(postroom, { author: eve, room, count: 1_000, bytes: 10 });
  const before = await left(postroom);
  const ids = Array.from({ length: before + 11 }, (_, n) => `${n}`);
  const seen = { ...Object.fromEntries(ids.map((id) => [id, start])), late: await postroom.cursorOf(room) };
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { live: { seen } } });
  const outcomes = await refusals(ids.length + 1, async () => {
    const id = ids.shift() ?? 'late';
    const { start, refused } = socket.subscribe(id, query, { room });
    const outcome = await Promise.race([start.then(() => 'open'), refused.then(([error]) => error?.extensions.code)]);
    socket.complete(id);
    return outcome;
  });
  // The first is charged for its group, and nine of 1,001 are free. The query of the cursor was charged, too.
  expect(outcomes).toEqual([...Array(before + 8).fill('open'), ...Array(3).fill('RATE_LIMITED'), 'open']);
});

it('an operation that is no subscription is charged before its variables are read, with Last-Event-ID and `live.seen`, too', async () => {
  const postroom = await launchForTest({ RATE_LIMIT: '2', TRUST_PROXY: '1' });
  const document = 'query ($id: ID!) { user(id: $id) { id } }';
  const persistedQuery = { version: 1, sha256Hash: hash('sha256', document) };
  const send = async (address: string, request: object, headers = {}) => {
    const answer = await fetch(postroom.graphqlUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address, ...headers },
      body: JSON.stringify({ variables: { id: 'x' }, ...request }),
    });
    return (await answer.json()).errors?.[0]?.extensions.code;
  };
  for (const code of [undefined, undefined, 'RATE_LIMITED']) {
    expect(await send('192.0.2.1', { query: document })).toBe(code);
  }
  const named = { query: document, extensions: { persistedQuery } };
  expect(await send('192.0.2.1', named, { 'last-event-id': 'x' })).toBe('RATE_LIMITED');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, {
    init: { live: { seen: { 1: 'x' } } },
    headers: { 'x-forwarded-for': '192.0.2.1' },
  });
  socket.send({ type: 'subscribe', id: '1', payload: { ...named, variables: { id: 'x' } } });
  const { payload } = await socket.take(({ type }) => type === 'error');
  expect(payload[0].extensions.code).toBe('RATE_LIMITED');
  // A document is stored with its hash after its operation was prepared.
  expect(await send('192.0.2.2', { extensions: { persistedQuery } })).toBe('PERSISTED_QUERY_NOT_FOUND');
});
