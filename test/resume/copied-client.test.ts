import { type Client, createClient } from 'graphql-ws';
import { expect, it, onTestFinished } from 'vitest';
import { resumable } from '../support/clients/copied-resumable.js';
import { createFaultProxy } from '../support/clients/fault-proxy.ts';
import { change } from '../support/inbox/inbox-stream.ts';
import { launchForTest } from '../support/server/postroom.ts';

const roundCount = 10;
const roomQuery =
  'subscription ($room: ID!) { roomEvents(room: $room) { room { name } ... on PostCreated { post { title } } } }';
const inboxQuery = 'subscription { inbox { room { name } ... on PostCreated { post { title } } } }';

interface PostCreated {
  room: { name: string };
  post: { title: string };
}

/** The room and the post of each event, in the order of arrival. */
function follow(client: Client, query: string, variables = {}): string[] {
  const received: string[] = [];
  client.subscribe<Record<string, PostCreated>>(
    { query, variables },
    {
      next: ({ data }) => {
        for (const { room, post } of Object.values(data ?? {})) received.push(`${room.name}: ${post.title}`);
      },
      error: (error) => received.push(JSON.stringify(error)),
      complete: () => {},
    },
  );
  return received;
}

it('a client that copied the options of an earlier version receives every event of a room and of an inbox once', async () => {
  const postroom = await launchForTest();
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const rooms = { hall: await postroom.createRoom(ada, 'hall'), attic: await postroom.createRoom(ada, 'attic') };
  for (const room of Object.values(rooms)) await change(postroom, 'joinRoom', bob, room);
  const proxy = await createFaultProxy(postroom.graphqlUrl);
  onTestFinished(() => proxy.close());
  const { connectionParams, ...options } = resumable();
  const client = createClient({
    url: proxy.url.replace('http', 'ws'),
    retryAttempts: Number.POSITIVE_INFINITY,
    retryWait: async () => {},
    shouldRetry: () => true,
    connectionParams: () => ({ ...connectionParams(), authorization: `Bearer ${bob.token}` }),
    ...options,
  });
  onTestFinished(() => client.dispose());
  let starts = 0;
  client.on('ping', (_received, payload) => {
    if (payload?.['live']) starts += 1;
  });
  const ofHall = follow(client, roomQuery, { room: rooms.hall });
  const ofInbox = follow(client, inboxQuery);
  await expect.poll(() => starts, { interval: 5 }).toBe(2);
  const sent: string[] = [];
  for (let round = 0; round < roundCount; round += 1) {
    proxy.cut();
    for (const [name, room] of Object.entries(rooms)) {
      await postroom.createPost(ada, room, `post ${round}`);
      sent.push(`${name}: post ${round}`);
    }
    await expect.poll(() => [ofHall.length, ofInbox.length], { interval: 5 }).toEqual([round + 1, sent.length]);
  }
  const inOrder = (name: string) => Array.from({ length: roundCount }, (_, round) => `${name}: post ${round}`);
  expect(ofHall).toEqual(inOrder('hall'));
  for (const name of Object.keys(rooms)) {
    expect(ofInbox.filter((event) => event.startsWith(name))).toEqual(inOrder(name));
  }
});
