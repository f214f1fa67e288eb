import { request } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { makePosts } from '../support/clients/load.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { untilCounts } from '../support/engine/metrics.ts';
import { launchForTest, type Person, type Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const maxCost = 2_000;
const server = shareServer({ LIMIT_COST: '400', TRUST_PROXY: '1' });
let postroom: Postroom;
let ada: Person;
let room: string;

beforeAll(async () => {
  postroom = server.postroom;
  ada = await postroom.signUp('Ada');
  room = await postroom.createRoom(ada, 'lobby');
});

/** Costs 203 for each event; each value of `name` forms a separate group. */
const query = `subscription ($room: ID!, $name: String) {
  roomEvents(room: $room) { cursor room { posts(first: 100, after: $name) { nodes { author { id } } } } }
}`;
const mostGroups = 9;

async function open(address: string, token?: string): Promise<ProtocolSocket> {
  const init = token ? { authorization: `Bearer ${token}` } : {};
  return ProtocolSocket.open(postroom.webSocketUrl, { headers: { 'x-forwarded-for': address }, init });
}

/** Subscribes, and returns the first error of the refusal. */
async function refusalOf(socket: ProtocolSocket, id: string, text: string, variables: Record<string, unknown>) {
  socket.subscribe(id, text, variables);
  const { payload } = await socket.take((message) => message.type === 'error' && message.id === id);
  return payload[0];
}

function exceeded(whose: string) {
  return {
    message: expect.stringContaining(`of one ${whose} may cost ${maxCost} for each event`),
    extensions: { code: 'SUBSCRIPTION_LIMIT_EXCEEDED' },
  };
}

describe('the cost of the different subscriptions of one address', () => {
  it('is limited; equal subscriptions count once, and a subscription that ends frees its cost', async () => {
    const first = await open('192.0.2.1');
    const second = await open('192.0.2.1');
    for (let n = 0; n < mostGroups; n += 1) await first.follow(`${n}`, query, { room, name: `${n}` });
    for (let n = 0; n < mostGroups; n += 1) await second.follow(`${n}`, query, { room, name: `${n}` });
    expect(await refusalOf(second, 'more', query, { room, name: 'more' })).toMatchObject(exceeded('address'));
    const headers = { accept: 'text/event-stream', 'x-forwarded-for': '192.0.2.1' };
    const parameters = new URLSearchParams({ query, variables: JSON.stringify({ room, name: 'more' }) });
    expect((await fetch(`${postroom.graphqlUrl}?${parameters}`, { headers })).status).toBe(429);
    first.send({ type: 'complete', id: '0' });
    await first.settle();
    expect(await refusalOf(second, 'more', query, { room, name: 'more' })).toMatchObject(exceeded('address'));
    second.send({ type: 'complete', id: '0' });
    await second.follow('more', query, { room, name: 'more' });
    const elsewhere = await open('192.0.2.2');
    await elsewhere.follow('more', query, { room, name: 'other' });
  });

  it('is limited for one user across all addresses too', async () => {
    for (let n = 0; n < mostGroups; n += 1) {
      const socket = await open(`198.51.100.${n}`, ada.token);
      await socket.follow(`${n}`, query, { room, name: `${n}` });
    }
    const last = await open('198.51.100.99', ada.token);
    expect(await refusalOf(last, 'more', query, { room, name: 'more' })).toMatchObject(exceeded('user'));
  });

  it('counts a personal selection once for each viewer; subscriptions over the limit end with an error', async () => {
    const personal = `subscription ($room: ID!) {
      roomEvents(room: $room) { cursor room { posts(first: 100) { nodes { author { email } } } } }
    }`;
    await makePosts(postroom, { author: ada, room, count: 25, bytes: 10 });
    const people = await Promise.all(Array.from({ length: mostGroups + 2 }, (_, n) => postroom.signUp(`Person ${n}`)));
    const sockets = await Promise.all(people.map(({ token }) => open('203.0.113.1', token)));
    for (const socket of sockets) await socket.follow('1', personal, { room });
    await postroom.createPost(ada, room, 'shows it');
    const outcomes = await Promise.all(
      sockets.map((socket) => socket.take(({ type, id }) => id === '1' && (type === 'next' || type === 'error'))),
    );
    const ended = outcomes.filter(({ type }) => type === 'error');
    expect(ended).toHaveLength(2);
    for (const { payload } of ended) expect(payload).toMatchObject([exceeded('address')]);
  });
});

describe('a subscription that resumes', () => {
  const live =
    'subscription ($room: ID!, $n: String) { roomEvents(room: $room) { cursor n: __typename @skip(if: false) ...P } } fragment P on PostCreated { post { title } room { posts(first: 1, after: $n) { nodes { id } } } }';

  it('is charged to the rate when its group is new, and is free when its group exists or existed a moment ago', async () => {
    const limited = await launchForTest({ RATE_LIMIT: '8' });
    const eve = await limited.signUp('Eve');
    const hall = await limited.createRoom(eve, 'hall');
    const left = async () => {
      const response = await fetch(`${limited.graphqlUrl}?query={__typename}`);
      return Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]);
    };
    const cursor = await limited.cursorOf(hall);
    // Three requests without credentials were charged: signUp, the query of the cursor, and this request.
    expect(await left()).toBe(5);
    const resume = async (groups: string[]) => {
      const seen = Object.fromEntries(groups.map((_, index) => [`${index}`, cursor]));
      const socket = await ProtocolSocket.open(limited.webSocketUrl, { init: { live: { seen } } });
      const operations = groups.map((n, index) => socket.subscribe(`${index}`, live, { room: hall, n }));
      const outcomes = operations.map(({ start, refused }) =>
        Promise.race([start, refused.then(([error]) => error?.extensions.code)]),
      );
      return { socket, outcomes: await Promise.all(outcomes) };
    };
    const { socket, outcomes } = await resume(['a', 'b', 'a', 'a']);
    expect(outcomes).toEqual([cursor, cursor, cursor, cursor]);
    expect(await left()).toBe(2);
    await socket.close();
    await untilCounts(limited, { subscribers: 0 });
    const again = await resume(['a', 'b', 'a', 'b']);
    expect(again.outcomes).toEqual([cursor, cursor, cursor, cursor]);
    const more = await resume(['c', 'd', 'e', 'a']);
    // Which of the three new groups is charged last depends on the database.
    expect(more.outcomes.slice(0, 3).toSorted()).toEqual([cursor, cursor, 'RATE_LIMITED'].toSorted());
    expect(more.outcomes[3]).toBe(cursor);
    await Promise.all([again.socket.close(), more.socket.close()]);
  });
});

it('other clients are answered between the executions of one event: a request does not wait for the last of them', async () => {
  const busy = await launchForTest({ LIMIT_COST: '20000' });
  const eve = await busy.signUp('Eve');
  const hall = await busy.createRoom(eve, 'hall');
  await makePosts(busy, { author: eve, room: hall, count: 100, bytes: 10 });
  const heavy = `subscription ($room: ID!, $name: Int) {
    roomEvents(room: $room) {
      cursor room { posts(first: 100) { nodes { author { posts(last: 40) { id } } } } own: posts(last: $name) { nodes { id } } }
    }
  }`;
  const groups = 20;
  const order: string[] = [];
  const done = Promise.withResolvers<void>();
  const askHealth = () => {
    const asked = request(`${busy.url}/health`, { agent: false }, (response) => {
      order.push('health');
      response.resume();
    });
    asked.end();
  };
  const take = () => {
    if (order.length === 0) askHealth();
    order.push('event');
    if (order.filter((what) => what === 'event').length === groups) done.resolve();
  };
  for (let n = 0; n < groups; n += 1) {
    const socket = await ProtocolSocket.open(busy.webSocketUrl);
    await socket.follow('1', heavy, { room: hall, name: n + 1 });
    // Further messages are only counted: parsing them would take as long as the server takes to create them.
    socket.webSocket.removeAllListeners('message');
    socket.webSocket.on('message', take);
  }
  await busy.createPost(eve, hall, 'to all groups');
  await done.promise;
  expect(order).toContain('health');
});
