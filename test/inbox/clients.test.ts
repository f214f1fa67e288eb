import { gql } from '@apollo/client';
import type { Client } from 'graphql-ws';
import { expect, it, onTestFinished } from 'vitest';
import { createFaultProxy } from '../support/clients/fault-proxy.ts';
import { openClient } from '../support/clients/postroom-client.ts';
import { createApollo, createUrql } from '../support/clients/published-clients.ts';
import { change } from '../support/inbox/inbox-stream.ts';
import { launchForTest } from '../support/server/postroom.ts';

const query = 'subscription { inbox { __typename room { name } ... on PostCreated { post { title } } } }';
const roundCount = 5;

interface Result {
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the subscription's.
  data?: any;
}

type Take = (result: Result) => void;

/** Each subscribes with a client that uses the WebSocket of @postroom/client. */
const clients = {
  'graphql-ws'(live: Client, take: Take) {
    live.subscribe({ query }, { next: take, error: () => {}, complete: () => {} });
  },
  apollo(live: Client, take: Take) {
    const apollo = createApollo(live);
    const subscription = apollo.subscribe({ query: gql(query), fetchPolicy: 'no-cache' }).subscribe({ next: take });
    onTestFinished(() => subscription.unsubscribe());
  },
  urql(live: Client, take: Take) {
    onTestFinished(createUrql(live).subscription(query, {}).subscribe(take).unsubscribe);
  },
};

it.each(
  Object.entries(clients),
)('%s with the WebSocket of @postroom/client resumes all rooms, and enters rooms that were joined meanwhile', async (_, subscribe) => {
  const postroom = await launchForTest();
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const rooms = [await postroom.createRoom(ada, 'hall'), await postroom.createRoom(ada, 'attic')];
  for (const room of rooms) await change(postroom, 'joinRoom', bob, room);
  const proxy = await createFaultProxy(postroom.graphqlUrl);
  onTestFinished(() => proxy.close());
  const events: string[] = [];
  const { live } = openClient(proxy.url, { token: bob.token, retryWaitMs: () => 0 });
  subscribe(live, ({ data }) => {
    const { __typename, room, post } = data.inbox;
    events.push([__typename, room.name, post?.title].filter((part) => part !== undefined).join(' '));
  });
  await new Promise<void>((resolve) => live.on('ping', () => resolve()));
  const expected: string[] = [];
  for (let round = 0; round < roundCount; round += 1) {
    proxy.cut();
    for (const [index, room] of rooms.entries()) {
      await postroom.createPost(ada, room, `post ${round}`);
      expected.push(`PostCreated ${['hall', 'attic'][index] ?? `room ${index}`} post ${round}`);
    }
    const room = await postroom.createRoom(ada, `room ${rooms.length}`);
    await change(postroom, 'joinRoom', bob, room);
    expected.push(`MemberJoined room ${rooms.length}`);
    rooms.push(room);
    await expect.poll(() => events.length, { interval: 5 }).toBeGreaterThanOrEqual(expected.length);
  }
  expect(events.toSorted()).toEqual(expected.toSorted());
  const ofHall = events.filter((event) => event.includes('hall'));
  expect(ofHall).toEqual(Array.from({ length: roundCount }, (_, round) => `PostCreated hall post ${round}`));
});
