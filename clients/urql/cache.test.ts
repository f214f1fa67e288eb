import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { gql } from '@urql/core';
import { createCache } from './cache.ts';
import { roomEvents, roomPage, updatePost } from './documents.ts';
import { createToken, fillRoom, openClient } from './example.ts';
import { subscriptions } from './subscriptions.ts';

const warnings: unknown[] = [];
console.warn = (text) => warnings.push(text);

test('pages of older posts are joined before the newer ones', async () => {
  const client = await openClient({ exchanges: [createCache()] });
  const room = await fillRoom(client, ['one', 'two', 'three', 'four', 'five']);
  let page = await client.query(roomPage, { room });
  const titles = () => page.data?.room?.posts.edges.map(({ node }) => node.title);
  assert.deepEqual(titles(), ['four', 'five']);
  for (let count = 0; count < 2; count += 1) {
    page = await client.query(roomPage, { room, before: page.data?.room?.posts.pageInfo.startCursor ?? null });
  }
  assert.deepEqual(titles(), ['one', 'two', 'three', 'four', 'five']);
});

test('an event updates the post in the cache', async () => {
  const token = await createToken();
  const client = await openClient({ exchanges: [createCache(), subscriptions], token });
  const room = await fillRoom(client, ['before']);
  const { data } = await client.query(roomPage, { room });
  const { id = '' } = data?.room?.posts.edges[0]?.node ?? {};
  const updated = Promise.withResolvers<void>();
  const variables = { room, after: data?.room?.cursor ?? '' };
  const { unsubscribe } = client.subscription(roomEvents, variables).subscribe(() => updated.resolve());
  const elsewhere = await openClient({ token });
  await elsewhere.mutation(updatePost, { input: { id, title: 'after' } });
  await updated.promise;
  unsubscribe();
  assert.equal(client.readQuery(roomPage, { room })?.data?.room?.posts.edges[0]?.node.title, 'after');
});

test('every object of a page has a key, or is known to have none', async () => {
  const client = await openClient({ exchanges: [createCache()] });
  await fillRoom(client, ['Hello']);
  const query = gql`query Lists {
    rooms { data { id members { nodes { id name } } } pagination { page } }
    posts { data { id title author { id } publishedAt } pagination { page } }
    users { data { id } pagination { page } }
  }`;
  const { error } = await client.query(query, {});
  assert.equal(error, undefined);
  assert.deepEqual(warnings, []);
});
