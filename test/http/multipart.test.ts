import { ApolloClient, CombinedProtocolErrors, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { expect, it } from 'vitest';
import { ReceivedQueue } from '../support/clients/received-queue.ts';
import { nothingLeft, readMetrics, untilCounts } from '../support/engine/metrics.ts';
import { firstSeq, seqOf, seqsBetween } from '../support/rooms/cursors.ts';
import { launchForTest, type Person, type Postroom } from '../support/server/postroom.ts';

/* Subscriptions of Apollo Client with its default link. */

const subscription = gql`subscription ($room: ID!, $after: String) {
  roomEvents(room: $room, after: $after) { __typename cursor ... on PostCreated { post { body } } }
}`;

interface Hall {
  postroom: Postroom;
  ada: Person;
  room: string;
}

async function openHall(): Promise<Hall> {
  const postroom = await launchForTest();
  const ada = await postroom.signUp('Ada');
  return { postroom, ada, room: await postroom.createRoom(ada, 'hall') };
}

function follow({ postroom, room }: Hall, after?: string) {
  const link = new HttpLink({ uri: postroom.graphqlUrl });
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  const results = new ReceivedQueue<ApolloClient.SubscribeResult<unknown>>();
  const ended = Promise.withResolvers<unknown>();
  const subscribed = client.subscribe({ query: subscription, variables: { room, after } }).subscribe({
    next: (result) => results.push(result),
    error: ended.resolve,
    complete: () => ended.resolve('complete'),
  });
  return { client, results, ended: ended.promise, cancel: () => subscribed.unsubscribe() };
}

it('a subscription of Apollo Client receives every event, and a query uses the same link', async () => {
  const hall = await openHall();
  const { postroom, ada, room } = hall;
  const { client, results } = follow(hall, await postroom.cursorOf(room));
  const bodies = ['one', 'a boundary\r\n--graphql\r\n--graphql--\r\n', 'three'];
  for (const body of bodies) await postroom.createPost(ada, room, 'title', body);
  const taken = await results.take(3);
  const received = taken.map(({ data, error }) => ({ data, error }));
  expect(received).toMatchObject(
    bodies.map((body) => ({ error: undefined, data: { roomEvents: { post: { body } } } })),
  );
  expect(taken.map(({ extensions }) => seqOf((extensions?.['live'] as { cursor: string }).cursor))).toEqual(
    seqsBetween(firstSeq, firstSeq + 3),
  );
  const query = gql`query { rooms { data { name } } }`;
  expect(await client.query({ query })).toMatchObject({ data: { rooms: { data: [{ name: 'hall' }] } } });
  expect(postroom.log).toEqual([]);
});

it('a subscription of Apollo Client ends with the error that ends its stream', async () => {
  const hall = await openHall();
  const { postroom, ada, room } = hall;
  const { results, ended } = follow(hall);
  await untilCounts(postroom, { subscribers: 1 });
  await postroom.ask('mutation ($id: ID!) { deleteRoom(input: { id: $id }) { room { id } } }', { id: room }, ada.token);
  const { error } = await results.next();
  if (!CombinedProtocolErrors.is(error)) throw error;
  expect(error.errors).toEqual([{ message: 'The room was deleted.', extensions: { code: 'ROOM_DELETED' } }]);
  expect(await ended).toBe('complete');
  await untilCounts(postroom, nothingLeft);
});

it('a subscription that is refused gives Apollo Client the error with its code', async () => {
  const hall = await openHall();
  const { results } = follow(hall, 'nonsense');
  const { error } = await results.next();
  expect(error).toMatchObject({ errors: [{ extensions: { code: 'CURSOR_INVALID' } }] });
});

it('a subscription that Apollo Client cancels leaves no resource', async () => {
  const hall = await openHall();
  const { cancel } = follow(hall);
  await untilCounts(hall.postroom, { subscribers: 1 });
  cancel();
  await untilCounts(hall.postroom, nothingLeft);
  expect(await readMetrics(hall.postroom)).toMatchObject({
    'subscriptions_ended_total{transport="multipart",reason="client"}': 1,
  });
  expect(hall.postroom.log).toEqual([]);
});

it('a server that stops ends a subscription of Apollo Client with an error', async () => {
  const hall = await openHall();
  const { results } = follow(hall);
  await untilCounts(hall.postroom, { subscribers: 1 });
  await hall.postroom.stop();
  expect((await results.next()).error).toBeInstanceOf(Error);
});
