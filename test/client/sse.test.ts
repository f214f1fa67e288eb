import { createClient } from 'graphql-sse';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { resumableSse } from '../../packages/client/src/index.ts';
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

async function openSse(token: string) {
  const proxy = await createFaultProxy(postroom.graphqlUrl);
  const client = resumableSse({ url: proxy.url, createClient, token, sse: { retry: async () => {} } });
  onTestFinished(async () => {
    client.dispose();
    await proxy.close();
  });
  /** Follows a stream, and queues what `read` returns of its events. */
  function follow<Event>(query: string, variables: Record<string, unknown>, read: (event: Event) => string) {
    const received = new ReceivedQueue<string>();
    client.subscribe<Record<string, Event>>(
      { query, variables },
      {
        next: ({ data, errors }) =>
          received.push(data ? read(Object.values(data)[0] as Event) : JSON.stringify(errors)),
        error: (error) => received.push(String(error)),
        complete: () => received.push('complete'),
      },
    );
    return received;
  }
  return { proxy, client, follow };
}

it('a room over server-sent events receives each event once, through cuts', async () => {
  const { proxy, follow } = await openSse(ada.token);
  const room = await postroom.createRoom(ada, 'sse');
  const after = await postroom.cursorOf(room, ada.token);
  const received = follow<{ post: { title: string } }>(
    `subscription ($room: ID!, $after: String!) { roomEvents(room: $room, after: $after) { ... on PostCreated { post { title } } } }`,
    { room, after },
    ({ post }) => post.title,
  );
  const expected: string[] = [];
  for (let cut = 0; cut < 5; cut += 1) {
    expected.push(String(cut));
    await postroom.createPost(ada, room, String(cut));
    proxy.cut();
    await received.next((title) => title === String(cut));
  }
  expect(received.all).toEqual(expected);
});

it('an inbox over server-sent events receives each event of a room that it has left once', async () => {
  const bob = await postroom.signUp('Bob');
  const { proxy, follow } = await openSse(bob.token);
  const rooms = [await postroom.createRoom(ada, 'left'), await postroom.createRoom(ada, 'stays')];
  const mutate = (person: Person, field: string) =>
    postroom.ask(`mutation { ${field} { __typename } }`, {}, person.token);
  for (const room of rooms) await mutate(bob, `joinRoom(input: { room: "${room}" })`);
  const { viewer } = await postroom.ask('{ viewer { cursor rooms(first: 10) { nodes { cursor } } } }', {}, bob.token);
  const after = [viewer.cursor, ...viewer.rooms.nodes.map(({ cursor }: { cursor: string }) => cursor)];
  const received = follow<{ __typename: string; post?: { title: string } }>(
    'subscription ($after: [String!]) { inbox(after: $after) { __typename ... on PostCreated { post { title } } } }',
    { after },
    ({ __typename, post }) => post?.title ?? __typename,
  );
  const [left = '', stays = ''] = rooms;
  await postroom.createPost(ada, left, 'one');
  await received.next((title) => title === 'one');
  await mutate(bob, `leaveRoom(input: { room: "${left}" })`);
  await received.next((type) => type === 'MemberLeft');
  proxy.cut();
  await postroom.createPost(ada, stays, 'two');
  await received.next((title) => title === 'two');
  proxy.cut();
  await postroom.createPost(ada, stays, 'three');
  await received.next((title) => title === 'three');
  expect(received.all).toEqual(['one', 'MemberLeft', 'two', 'three']);
});
