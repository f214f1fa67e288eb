import { createClient } from 'graphql-ws';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { createFaultProxy } from '../support/clients/fault-proxy.ts';
import { ReceivedQueue } from '../support/clients/received-queue.ts';
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

/** Queues what the server sends of one subscription: the titles of posts, the types of other events, and `caught up`. */
function follow(query: string, variables: Record<string, unknown>, token: string, url = postroom.graphqlUrl) {
  const received = new ReceivedQueue<string>();
  const begun = Promise.withResolvers<void>();
  const client = createClient({
    url: url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${token}` },
    on: {
      ping: (_, payload) => {
        if (payload?.['live']) begun.resolve();
        if (payload?.['caughtUp']) received.push('caught up');
      },
    },
  });
  onTestFinished(() => client.dispose());
  const next = ({ data }: { data?: Record<string, unknown> | null }) => {
    const { __typename: type, post } = Object.values(data ?? {})[0] as { __typename: string; post?: { title: string } };
    received.push(post?.title ?? type);
  };
  client.subscribe({ query, variables }, { next, error: (error) => received.push(String(error)), complete: () => {} });
  return Object.assign(received, { begun: begun.promise });
}

const roomEvents = `subscription ($room: ID!, $after: String) {
  roomEvents(room: $room, after: $after) { __typename ... on PostCreated { post { title } } } }`;
const inbox = `subscription ($after: [String!]) {
  inbox(after: $after) { __typename ... on PostCreated { post { title } } } }`;

it('a stream that resumes has caught up once, after the last event of the past', async () => {
  const room = await postroom.createRoom(ada, 'once');
  const after = await postroom.cursorOf(room, ada.token);
  const titles = Array.from({ length: 100 }, (_, index) => String(index));
  for (const title of titles) await postroom.createPost(ada, room, title);
  const received = follow(roomEvents, { room, after }, ada.token);
  await received.next((message) => message === 'caught up');
  await postroom.createPost(ada, room, 'live');
  await received.next((title) => title === 'live');
  expect(received.all).toEqual([...titles, 'caught up', 'live']);
});

it('a stream that resumes without missed events has caught up', async () => {
  const room = await postroom.createRoom(ada, 'nothing missed');
  const after = await postroom.cursorOf(room, ada.token);
  expect(await follow(roomEvents, { room, after }, ada.token).next()).toBe('caught up');
});

it('a stream that does not resume never says so', async () => {
  const room = await postroom.createRoom(ada, 'new');
  const streams = [follow(roomEvents, { room }, ada.token), follow(inbox, {}, ada.token)];
  await Promise.all(streams.map(({ begun }) => begun));
  await postroom.createPost(ada, room, 'one');
  await postroom.createPost(ada, room, 'two');
  for (const stream of streams) expect(await stream.take(2)).toEqual(['one', 'two']);
});

it('a slow client has caught up after it has received everything', async () => {
  const proxy = await createFaultProxy(postroom.graphqlUrl);
  onTestFinished(() => proxy.close());
  const room = await postroom.createRoom(ada, 'slow');
  const after = await postroom.cursorOf(room, ada.token);
  const titles = Array.from({ length: 60 }, (_, index) => String(index));
  for (const title of titles) await postroom.createPost(ada, room, title, 'x'.repeat(9_000));
  const query = roomEvents.replace('title', 'title body');
  const received = follow(query, { room, after }, ada.token, proxy.url);
  await received.next();
  proxy.freeze('down');
  await postroom.createPost(ada, room, 'last');
  proxy.thaw();
  await received.next((message) => message === 'caught up');
  await postroom.createPost(ada, room, 'live');
  await received.next((title) => title === 'live');
  expect(received.all.filter((message) => message === 'caught up')).toHaveLength(1);
  expect(received.all.slice(0, 60)).toEqual(titles);
});

it('an inbox whose rooms end while it is away or opens has caught up once', async () => {
  const bob = await postroom.signUp('Bob');
  const rooms: string[] = [];
  for (const name of ['deleted', 'left', 'stays', 'ends', 'joined']) {
    rooms.push(await postroom.createRoom(ada, name));
    if (name !== 'joined') await mutate(bob, `joinRoom(input: { room: "${rooms.at(-1)}" })`);
  }
  const { viewer } = await postroom.ask('{ viewer { cursor rooms(first: 10) { nodes { cursor } } } }', {}, bob.token);
  const after = [viewer.cursor, ...viewer.rooms.nodes.map(({ cursor }: { cursor: string }) => cursor)];
  const [deleted, left, stays = '', ends, joined] = rooms;
  for (const room of rooms) await postroom.createPost(ada, room, 'missed');
  await mutate(ada, `deleteRoom(input: { id: "${deleted}" })`);
  await mutate(bob, `leaveRoom(input: { room: "${left}" })`);
  await mutate(bob, `joinRoom(input: { room: "${joined}" })`);
  const received = follow(inbox, { after }, bob.token);
  await mutate(ada, `deleteRoom(input: { id: "${ends}" })`);
  await received.next((message) => message === 'caught up');
  await postroom.createPost(ada, stays, 'live');
  await received.next((title) => title === 'live');
  expect(received.all.filter((message) => message === 'caught up')).toHaveLength(1);
  const past = received.all.slice(0, received.all.indexOf('caught up'));
  expect(past).toEqual(expect.arrayContaining(['missed', 'MemberLeft', 'MemberJoined', 'RoomDeleted']));
});
