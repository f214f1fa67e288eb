import { createClient } from 'graphql-ws';
import { expect, it } from 'vitest';
import WebSocket from 'ws';
import { launchForTest } from '../support/server/postroom.ts';

it('a room is watched live by an unmodified client while another client posts', async () => {
  const postroom = await launchForTest();
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'lobby');
  const live = Promise.withResolvers<string>();
  const client = createClient({
    url: postroom.webSocketUrl,
    webSocketImpl: WebSocket,
    on: { ping: (_received, payload) => live.resolve(JSON.stringify(payload)) },
  });
  const events = client.iterate({
    query: `subscription { roomEvents(room: "${room}") { __typename cursor actor { name } ... on PostCreated { post { title author { name } } } } }`,
  });
  const first = events.next();
  expect(await live.promise).toContain('"live"');
  await postroom.createPost(ada, room, 'hello');
  const { value } = await first;
  expect(value).toMatchObject({
    data: { roomEvents: { __typename: 'PostCreated', actor: { name: 'Ada' }, post: { title: 'hello' } } },
  });
  expect(value.extensions.live.cursor).toBe(value.data.roomEvents.cursor);
  await client.dispose();
});
