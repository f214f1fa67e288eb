import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { GraphQLError } from 'graphql';
import { fetchQuery, requestSubscription } from 'relay-runtime';
import { createEnvironment } from './environment.ts';
import { MutationError } from './mutate.ts';
import { roomEvents, roomQuery } from './room.ts';
import { openRoom } from './room-view.ts';
import { signUp } from './visitor.ts';

const { POSTROOM_URL = 'http://127.0.0.1:4000/graphql' } = process.env;

let ada: Awaited<ReturnType<typeof signUp>>;
let bob: Awaited<ReturnType<typeof signUp>>;
let room: string;

before(async () => {
  ada = await signUp(POSTROOM_URL);
  bob = await signUp(POSTROOM_URL);
});

beforeEach(async () => {
  room = await ada.createRoom();
});

after(async () => {
  await ada.close();
  await bob.close();
});

test('Older posts are loaded page by page, by refetching the room as a node', async () => {
  const writer = await openRoom(bob.environment, room);
  for (let number = 1; number <= 7; number += 1) await writer.createPost(`post ${number}`);

  const view = await openRoom(ada.environment, room, 3);
  assert.deepEqual(await view.readTitles(), ['post 5', 'post 6', 'post 7']);
  assert.equal(await view.loadOlder(), true);
  assert.equal(await view.loadOlder(), false);
  assert.deepEqual(await view.readTitles(), ['post 1', 'post 2', 'post 3', 'post 4', 'post 5', 'post 6', 'post 7']);
});

test('A post is in the list once, after its mutation and after its event', async () => {
  const view = await openRoom(ada.environment, room);
  const events = collect(view);
  await view.createPost('hello');
  assert.deepEqual(await view.readTitles(), ['hello']);
  await events.until('PostCreated');
  assert.deepEqual(await view.readTitles(), ['hello']);
});

test('The list follows the posts that others create and delete', async () => {
  const view = await openRoom(ada.environment, room);
  const events = collect(view);
  const writer = await openRoom(bob.environment, room);
  await writer.createPost('one');
  await writer.createPost('two');
  const { post } = await events.until('PostCreated');
  await bob.deletePost(post?.id ?? '');
  await events.until('PostDeleted');
  assert.deepEqual(await view.readTitles(), ['two']);
});

test('A mutation that fails has a code, also if the response has data', async () => {
  const view = await openRoom(ada.environment, room);
  await assert.rejects(
    view.createPost(''),
    (error) => error instanceof MutationError && error.code === 'VALIDATION_ERROR',
  );
  assert.deepEqual(await view.readTitles(), []);
});

test('A request that is refused has its errors in `source`', async () => {
  const { environment } = createEnvironment(POSTROOM_URL, 'wrong');
  await assert.rejects(fetchQuery(environment, roomQuery, { room, count: 1 }).toPromise(), (error: ErrorWithSource) => {
    return error.source.errors[0]?.extensions.code === 'UNAUTHENTICATED';
  });
});

test('A stream that cannot continue ends with the array of its errors', async () => {
  const variables = { room, after: 'no cursor', connections: [] };
  const errors = await new Promise<unknown>((onError) => {
    requestSubscription(ada.environment, { subscription: roomEvents, variables, onError });
  });
  assert.equal((errors as GraphQLError[])[0]?.extensions['code'], 'CURSOR_INVALID');
});

type View = Awaited<ReturnType<typeof openRoom>>;
type RoomEvent = Parameters<Parameters<View['follow']>[0]>[0];
type ErrorWithSource = Error & { source: { errors: { extensions: { code: string } }[] } };

/** Follows the room, and waits for the next event of a type. */
function collect({ follow }: View) {
  const received: RoomEvent[] = [];
  let check = () => {};
  const subscription = follow(
    (event) => {
      received.push(event);
      check();
    },
    (error) => assert.fail(error),
  );
  after(() => subscription.dispose());
  const until = (type: string) =>
    new Promise<RoomEvent>((resolve) => {
      check = () => {
        const event = received.find(({ __typename }) => __typename === type);
        if (event) resolve(event);
      };
      check();
    });
  return { until };
}
