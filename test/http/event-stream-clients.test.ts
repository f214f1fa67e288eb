import { Client, fetchExchange } from '@urql/core';
import { createClient } from 'graphql-sse';
import { expect, it, onTestFinished } from 'vitest';
import { createFaultProxy } from '../support/clients/fault-proxy.ts';
import type { Result } from '../support/clients/protocol-socket.ts';
import { openSse } from '../support/clients/published-clients.ts';
import { ReceivedQueue } from '../support/clients/received-queue.ts';
import { untilCounts } from '../support/engine/metrics.ts';
import { firstSeq, seqOf, seqsBetween } from '../support/rooms/cursors.ts';
import { launchForTest } from '../support/server/postroom.ts';

/* Clients of event streams that lose their connection. */

const query = `subscription ($room: ID!, $after: String) {
  roomEvents(room: $room, after: $after) { cursor ... on PostCreated { post { title } } }
}`;

async function openHall() {
  const postroom = await launchForTest();
  const proxy = await createFaultProxy(postroom.graphqlUrl);
  onTestFinished(() => proxy.close());
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'hall');
  const after = await postroom.cursorOf(room);
  /** Cuts the connection, and writes a post before the client can connect again. */
  const interrupt = async () => {
    proxy.freeze();
    proxy.cut();
    await untilCounts(postroom, { subscribers: 0 });
    await postroom.createPost(ada, room, 'in between');
    proxy.thaw();
  };
  return {
    postroom,
    ada,
    proxy,
    variables: { room, after },
    post: () => postroom.createPost(ada, room, 'post'),
    interrupt,
  };
}

type Hall = Awaited<ReturnType<typeof openHall>>;
type Subscribe = ReturnType<typeof createClient>['subscribe'];

/** The numbers of the events that a client of graphql-sse receives through three interruptions. */
async function receivedBy(hall: Hall, subscribe: Subscribe, variables: object) {
  const results = new ReceivedQueue<Result>();
  const sink = { next: (result: unknown) => results.push(result as Result), error: () => {}, complete: () => {} };
  onTestFinished(subscribe({ query, variables: { ...variables } }, sink));
  await untilCounts(hall.postroom, { subscribers: 1 });
  // The first time before it has received an event.
  for (let time = 0; time < 3; time += 1) {
    await hall.interrupt();
    await untilCounts(hall.postroom, { subscribers: 1 });
    await hall.post();
    await results.next(({ data }) => data.roomEvents.post.title === 'post');
  }
  return results.all.map(({ extensions }) => seqOf(extensions.live.cursor));
}

it('`resumableSse` receives every event once when it loses its connection', async () => {
  const hall = await openHall();
  const { subscribe } = openSse(hall.proxy.url, 200);
  expect(await receivedBy(hall, subscribe, hall.variables)).toEqual(seqsBetween(firstSeq, firstSeq + 6));
});

it('`iterate` of `resumableSse` resumes, too', async () => {
  const hall = await openHall();
  const { iterate } = openSse(hall.proxy.url, 200);
  const subscribe: Subscribe = (request, { next }) => {
    const results = iterate(request);
    const read = async () => {
      for await (const result of results) next(result as Parameters<typeof next>[0]);
    };
    void read();
    return () => void results.return?.();
  };
  expect(await receivedBy(hall, subscribe, hall.variables)).toEqual(seqsBetween(firstSeq, firstSeq + 6));
});

it('`resumableSse` receives every event of an inbox once', async () => {
  const hall = await openHall();
  const { postroom } = hall;
  const attic = await postroom.createRoom(hall.ada, 'attic');
  const { subscribe } = openSse(hall.proxy.url, 200, hall.ada.token);
  const results = new ReceivedQueue<Result>();
  const sink = { next: (result: unknown) => results.push(result as Result), error: () => {}, complete: () => {} };
  const inbox = `subscription ($after: [String!]) {
    inbox(after: $after) { cursor room { name } ... on PostCreated { post { title } } }
  }`;
  const after = [hall.variables.after, await postroom.cursorOf(attic)];
  onTestFinished(subscribe({ query: inbox, variables: { after } }, sink));
  await untilCounts(postroom, { subscribers: 1 });
  for (let time = 0; time < 3; time += 1) {
    await hall.interrupt();
    await untilCounts(postroom, { subscribers: 1 });
    await postroom.createPost(hall.ada, attic, `post ${time}`);
    await results.next(({ data }) => data.inbox.post.title === `post ${time}`);
  }
  const events = results.all.map(({ data: { inbox: event } }) => `${event.room.name} ${event.post.title}`);
  const inHall = Array.from({ length: 3 }, () => 'hall in between');
  expect(events.toSorted()).toEqual(['attic post 0', 'attic post 1', 'attic post 2', ...inHall]);
});

it('graphql-sse alone loses the events in between', async () => {
  const hall = await openHall();
  const retry = () => new Promise<void>((resolve) => setTimeout(resolve, 200));
  const { subscribe } = createClient({ url: hall.proxy.url, retry });
  expect(await receivedBy(hall, subscribe, { room: hall.variables.room })).toEqual([3, 5, 7]);
});

it.each([
  ['with an error when it loses its connection', ({ interrupt }: Hall) => interrupt(), '[Network] terminated'],
  ['without an error when the server stops', ({ postroom }: Hall) => postroom.stop(), undefined],
])('urql over fetch does not reconnect: its subscription ends %s', async (_, interrupt, message) => {
  const hall = await openHall();
  const options = { preferGetMethod: false, fetchSubscriptions: true, exchanges: [fetchExchange] };
  const client = new Client({ url: hall.proxy.url, ...options });
  const results: unknown[] = [];
  const { unsubscribe } = client.subscription(query, hall.variables).subscribe(({ error, hasNext }) => {
    results.push({ error: error?.message, hasNext });
  });
  onTestFinished(unsubscribe);
  await untilCounts(hall.postroom, { subscribers: 1 });
  await hall.post();
  await expect.poll(() => results).toEqual([{ error: undefined, hasNext: true }]);
  await interrupt(hall);
  await expect.poll(() => results.at(-1)).toEqual({ error: message, hasNext: false });
});
