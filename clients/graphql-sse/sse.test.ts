import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { ask } from './ask.ts';
import { type RoomEvents, roomCursor, roomEvents } from './documents.ts';
import { openSse } from './sse.ts';

const signUp = 'mutation ($input: SignUpInput!) { signUp(input: $input) { accessToken } }';
const createRoom = 'mutation ($input: CreateRoomInput!) { createRoom(input: $input) { room { id } } }';
const createPost = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';
const deleteRoom = 'mutation ($id: ID!) { deleteRoom(input: { id: $id }) { room { id } } }';

/** A private room, which is visible only with credentials. */
async function openRoom(): Promise<{ token: string; room: string }> {
  const ada = { name: 'Ada', email: `ada-${crypto.randomUUID()}@example.org`, password: 'correct horse' };
  const token = (await ask<{ signUp: { accessToken: string } }>(signUp, { input: ada })).signUp.accessToken;
  const input = { name: `room ${crypto.randomUUID()}`, visibility: 'PRIVATE' };
  const { createRoom: created } = await ask<{ createRoom: { room: { id: string } } }>(createRoom, { input }, token);
  return { token, room: created.room.id };
}

test('a query and a subscription to a private room run with the same client', async () => {
  const { token, room } = await openRoom();
  const client = openSse(token);
  const { value } = await client
    .iterate<{ room: { cursor: string } }>({ query: roomCursor, variables: { room } })
    .next();
  const after = value?.data?.room.cursor;
  for (const title of ['one', 'two']) await ask(createPost, { input: { room, title } }, token);
  const titles: unknown[] = [];
  const { promise: received, resolve, reject: error } = Promise.withResolvers<void>();
  const next = ({ data }: { data?: RoomEvents | null }) => {
    titles.push(data?.roomEvents.post?.title);
    if (titles.length === 2) resolve();
  };
  const request = { query: roomEvents, variables: { room, after } };
  const unsubscribe = client.subscribe<RoomEvents>(request, { next, error, complete: resolve });
  await received;
  unsubscribe();
  assert.deepEqual(titles, ['one', 'two']);
});

test('a stream that ends has the code of its end', async () => {
  const { token, room } = await openRoom();
  const { cursor } = (await ask<{ room: { cursor: string } }>(roomCursor, { room }, token)).room;
  await ask(createPost, { input: { room, title: 'Hello' } }, token);
  const codes: unknown[] = [];
  const { promise: ended, resolve: complete, reject: error } = Promise.withResolvers<void>();
  const next = ({ errors }: { errors?: readonly { extensions: Record<string, unknown> }[] }) => {
    codes.push(errors?.[0]?.extensions['code']);
    if (codes.length === 1) void ask(deleteRoom, { id: room }, token);
  };
  openSse(token).subscribe({ query: roomEvents, variables: { room, after: cursor } }, { next, error, complete });
  await ended;
  assert.deepEqual(codes, [undefined, 'ROOM_DELETED']);
});
