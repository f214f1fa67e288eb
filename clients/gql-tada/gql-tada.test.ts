import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { failureOf } from '@postroom/client';
import { createPost, createRoom, postParts, roomEvents, roomPage, signUp } from './documents.ts';
import { type ResultOf, readFragment } from './graphql.ts';
import { createPostroom } from './postroom.ts';

const { POSTROOM_URL: url = 'http://127.0.0.1:4000/graphql' } = process.env;
const anonymous = createPostroom({ url });
let ada: ReturnType<typeof createPostroom>;

before(async () => {
  const input = { name: 'Ada', email: `ada-${crypto.randomUUID()}@example.org`, password: 'correct horse' };
  const { signUp: session } = await anonymous.execute(signUp, { input });
  ada = createPostroom({ url, token: session?.accessToken });
});

after(async () => {
  await anonymous.close();
  await ada.close();
});

async function openRoom() {
  const { createRoom: created } = await ada.execute(createRoom, { input: { name: `room ${crypto.randomUUID()}` } });
  return created?.room ?? assert.fail();
}

test('Queries and mutations have the types of the schema', async () => {
  const { id } = await openRoom();
  const { createPost: created } = await ada.execute(createPost, { input: { room: id, title: 'hello' } });
  const { room } = await ada.execute(roomPage, { room: id });
  assert.deepEqual(room?.posts.nodes, [created?.post]);
  const publishedAt: string | null | undefined = readFragment(postParts, created?.post)?.publishedAt;
  assert.match(publishedAt ?? '', /Z$/);
});

test('The type of an event selects its fields', async () => {
  const { id, cursor } = await openRoom();
  await ada.execute(createPost, { input: { room: id, title: 'hello' } });
  for await (const { data } of ada.subscribe(roomEvents, { room: id, after: cursor })) {
    assert.equal(data && readTitle(data.roomEvents), 'hello');
    break;
  }
});

/** A later version of the server may send other events. */
function readTitle(event: ResultOf<typeof roomEvents>['roomEvents']): string | undefined {
  const at: string = event.at;
  assert.match(at, /Z$/);
  switch (event.__typename) {
    case 'PostCreated':
      return readFragment(postParts, event.post)?.title;
    case 'PostDeleted':
      return event.postId;
    default:
      return undefined;
  }
}

test('A mutation that fails is an error with its code', async () => {
  const { id } = await openRoom();
  await assert.rejects(ada.execute(createPost, { input: { room: id, title: '' } }), (error) => {
    return failureOf(error).code === 'VALIDATION_ERROR';
  });
});

test('Arguments that the schema does not allow do not compile', async () => {
  // @ts-expect-error: a room is required.
  await assert.rejects(ada.execute(createPost, { input: { title: 'hello' } }));
  // @ts-expect-error: a cursor is a string.
  const stream = ada.subscribe(roomEvents, { room: 'no room', after: 1 });
  await assert.rejects(stream.next(), (errors) => failureOf(errors).code === 'VARIABLES_INVALID');
});
