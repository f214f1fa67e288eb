import { gql } from '@apollo/client';
import { expect, it, onTestFinished } from 'vitest';
import { createFaultProxy } from '../support/clients/fault-proxy.ts';
import { openDocumented } from '../support/clients/resume-docs.ts';
import { change } from '../support/inbox/inbox-stream.ts';
import { launchForTest } from '../support/server/postroom.ts';

const query = 'subscription { inbox { __typename room { name } ... on PostCreated { post { title } } } }';
const roundCount = 5;

interface Result {
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the subscription's.
  data?: any;
}

type Take = (result: Result) => void;

/** Each subscribes with one of the clients of docs/resume.md. */
const clients = {
  async live(url: string, credentials: Credentials, take: Take) {
    const { live } = await openDocumented('live', url, 0, credentials);
    live.subscribe({ query }, { next: take, error: () => {}, complete: () => {} });
    return live;
  },
  async apollo(url: string, credentials: Credentials, take: Take) {
    const { apollo, live } = await openDocumented('apollo', url, 0, credentials);
    const subscription = apollo.subscribe({ query: gql(query), fetchPolicy: 'no-cache' }).subscribe({ next: take });
    onTestFinished(() => subscription.unsubscribe());
    return live;
  },
  async urql(url: string, credentials: Credentials, take: Take) {
    const { urql, live } = await openDocumented('urql', url, 0, credentials);
    onTestFinished(urql.subscription(query, {}).subscribe(take).unsubscribe);
    return live;
  },
};

interface Credentials {
  authorization: string;
}

it.each(
  Object.entries(clients),
)('the client of docs/resume.md resumes all rooms, and enters rooms that were joined meanwhile: %s', async (_, subscribe) => {
  const postroom = await launchForTest();
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const rooms = [await postroom.createRoom(ada, 'hall'), await postroom.createRoom(ada, 'attic')];
  for (const room of rooms) await change(postroom, 'joinRoom', bob, room);
  const proxy = await createFaultProxy(postroom.graphqlUrl);
  onTestFinished(() => proxy.close());
  const events: string[] = [];
  const live = await subscribe(proxy.url, { authorization: `Bearer ${bob.token}` }, ({ data }) => {
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
