import { strict as assert } from 'node:assert';
import { after, test } from 'node:test';
import { ask } from './ask.ts';
import { follow, openBrowser, openPage } from './page.ts';
import { url } from './settings.ts';

const signUp = 'mutation ($input: SignUpInput!) { signUp(input: $input) { accessToken } }';
const createRoom = 'mutation ($input: CreateRoomInput!) { createRoom(input: $input) { room { id cursor } } }';
const createPost = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';
const deleteRoom = 'mutation ($id: ID!) { deleteRoom(input: { id: $id }) { room { id } } }';

const browser = await openBrowser();
after(() => browser.close());

async function openRoom(visibility: string) {
  const ada = { name: 'Ada', email: `ada-${crypto.randomUUID()}@example.org`, password: 'correct horse' };
  const token = (await ask<{ signUp: { accessToken: string } }>(signUp, { input: ada })).signUp.accessToken;
  const input = { name: `room ${crypto.randomUUID()}`, visibility };
  type Created = { createRoom: { room: { id: string; cursor: string } } };
  return { token, ...(await ask<Created>(createRoom, { input }, token)).createRoom.room };
}

test('a page receives the events of a public room, and the code with which the stream ends', async () => {
  const { token, id: room, cursor } = await openRoom('PUBLIC');
  const received: unknown[] = [];
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  const event = ({ __typename }: { __typename: string }) => {
    received.push(__typename);
    void ask(deleteRoom, { id: room }, token);
  };
  await follow(await openPage(browser), { url, room, after: cursor }, { event, end: resolve });
  await ask(createPost, { input: { room, title: 'Hello' } }, token);
  assert.equal(await ended, 'ROOM_DELETED');
  assert.deepEqual(received, ['PostCreated']);
});

test('a private room does not exist for an EventSource, which sends no Authorization', async () => {
  const { id: room, cursor } = await openRoom('PRIVATE');
  const events = { event: () => assert.fail(), end: () => assert.fail() };
  await assert.rejects(follow(await openPage(browser), { url, room, after: cursor }, events), /refused/);
});
