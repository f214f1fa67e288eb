import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { InfiniteQueryObserver } from '@tanstack/query-core';
import { createPost } from './documents.ts';
import { fillRoom, openClient } from './example.ts';
import { postroom } from './postroom.ts';
import { createQueries } from './queries.ts';
import { followRoom, pagesOf } from './room.ts';

test('a query continues with older posts', async () => {
  const client = await openClient();
  const room = await fillRoom(client, ['one', 'two', 'three', 'four', 'five']);
  const { pages } = await createQueries().fetchInfiniteQuery({ ...pagesOf(client, room), pages: 5 });
  const titles = pages.map((page) => page.room?.posts.nodes.map(({ title }) => title));
  assert.deepEqual(titles, [['four', 'five'], ['two', 'three'], ['one']]);
});

test('an event fetches the room again', async () => {
  const client = await openClient();
  const queries = createQueries();
  const room = await fillRoom(client, []);
  const observer = new InfiniteQueryObserver(queries, pagesOf(client, room));
  const isPosted = Promise.withResolvers<void>();
  observer.subscribe(({ data }) => {
    if (data?.pages[0]?.room?.posts.nodes[0]?.title === 'Hello') isPosted.resolve();
  });
  const { data } = await observer.refetch();
  const after = data?.pages[0]?.room?.cursor ?? '';
  const following = followRoom({ live: postroom.live, queries, room, after });
  await client.request(createPost, { input: { room, title: 'Hello' } });
  await isPosted.promise;
  observer.destroy();
  await postroom.live.dispose();
  await following;
});
