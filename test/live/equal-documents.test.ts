import { beforeAll, describe, expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { readMetrics, untilCounts } from '../support/engine/metrics.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer({ RATE_LIMIT: '1000' });
let postroom: Postroom;
let ada: Person;
let bob: Person;
let roomCount = 0;

beforeAll(async () => {
  postroom = server.postroom;
  [ada, bob] = await Promise.all([postroom.signUp('Ada'), postroom.signUp('Bob')]);
});

async function createRoom(): Promise<string> {
  roomCount += 1;
  return postroom.createRoom(ada, `room ${roomCount}`);
}

let floods = 0;

/** Sends documents that together exceed the server's document cache, so that it drops all earlier documents. */
async function flushDocuments(): Promise<void> {
  floods += 1;
  for (let n = 0; n < 12; n += 1) {
    const fields = Array.from(
      { length: 28 },
      (_, field) => `f${field}: node(id: "x") { id ${'__typename '.repeat(55)} }`,
    );
    await postroom.ask(`query Flood${floods}_${n} { ${fields.join(' ')} }`);
  }
}

async function open(person?: Person): Promise<ProtocolSocket> {
  const init = person ? { authorization: `Bearer ${person.token}` } : {};
  return ProtocolSocket.open(postroom.webSocketUrl, { init });
}

describe('equal subscriptions, even if their document was dropped from the cache between them,', () => {
  it('form one group, and an event is executed once for all of them', async () => {
    const room = await createRoom();
    const query = 'subscription ($room: ID!) { roomEvents(room: $room) { cursor __typename } }';
    const { groups = 0, event_executions_total: executions = 0 } = await readMetrics(postroom);
    const sockets: ProtocolSocket[] = [];
    for (let n = 0; n < 3; n += 1) {
      const socket = await open();
      await socket.follow('1', query, { room });
      sockets.push(socket);
      await flushDocuments();
    }
    expect(await readMetrics(postroom)).toMatchObject({ groups: groups + 1 });
    await postroom.createPost(ada, room, 'for all');
    for (const socket of sockets) await socket.take(({ type }) => type === 'next');
    expect(await readMetrics(postroom)).toMatchObject({ event_executions_total: executions + 1 });
  });

  it('show each viewer their own result, if their selection depends on the viewer', async () => {
    const room = await createRoom();
    const query = 'subscription Mail($room: ID!) { postAdded(room: $room) { author { email } } }';
    const first = await open(ada);
    await first.follow('1', query, { room });
    await postroom.createPost(bob, room, 'shows it');
    await first.take(({ type }) => type === 'next');
    await flushDocuments();
    const second = await open(bob);
    await second.follow('1', query, { room });
    await postroom.createPost(bob, room, 'for each viewer');
    expect(await first.take(({ type }) => type === 'next')).toMatchObject({
      payload: { data: { postAdded: { author: { email: null } } } },
    });
    expect(await second.take(({ type }) => type === 'next')).toMatchObject({
      payload: { data: { postAdded: { author: { email: bob.email } } } },
    });
  });

  it('find their group again after all of them have left: resuming in it is free', async () => {
    const room = await createRoom();
    const query = 'subscription Again($room: ID!) { roomEvents(room: $room) { cursor __typename } }';
    const cursor = await postroom.cursorOf(room);
    const { subscribers = 0 } = await readMetrics(postroom);
    const resume = async () => {
      const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { live: { seen: { 1: cursor } } } });
      await socket.subscribe('1', query, { room }).start;
      return socket;
    };
    const left = async () => {
      const { headers } = await fetch(`${postroom.graphqlUrl}?query={__typename}`);
      return Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
    };
    await (await resume()).close();
    await untilCounts(postroom, { subscribers });
    await flushDocuments();
    const before = await left();
    await resume();
    // Only this request was charged.
    expect(await left()).toBe(before - 1);
  });
});
