import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { gql } from '@apollo/client';
import { createPost, roomEvents, roomPage, updatePost } from './documents.ts';
import { fillRoom, openClient } from './example.ts';

test('pages of older posts are joined before the newer ones', async () => {
  const client = await openClient();
  const room = await fillRoom(client, ['one', 'two', 'three', 'four', 'five']);
  const pages = client.watchQuery({ query: roomPage, variables: { room } });
  const titles = () => pages.getCurrentResult().data?.room?.posts?.edges?.map((edge) => edge?.node?.title);
  await pages.refetch();
  assert.deepEqual(titles(), ['four', 'five']);
  for (let page = 0; page < 2; page += 1) {
    const before = pages.getCurrentResult().data?.room?.posts?.pageInfo?.startCursor ?? null;
    await pages.fetchMore({ variables: { before } });
  }
  assert.deepEqual(titles(), ['one', 'two', 'three', 'four', 'five']);
});

test('fragments on interfaces are read from the cache', async () => {
  const client = await openClient();
  const room = await fillRoom(client, []);
  const { data } = await client.mutate({ mutation: createPost, variables: { input: { room, title: 'Hello' } } });
  const id = client.cache.identify({ __typename: 'Post', id: data?.createPost?.post.id });
  const found = client.cache.readFragment({ id: id ?? '', fragment: gql`fragment Anything on Node { id }` });
  assert.deepEqual(found, { __typename: 'Post', id: data?.createPost?.post.id });
});

test('an event updates the post in the cache', async () => {
  const client = await openClient();
  const room = await fillRoom(client, ['before']);
  const { data } = await client.query({ query: roomPage, variables: { room } });
  const { id = '' } = data?.room?.posts.edges[0]?.node ?? {};
  const updated = Promise.withResolvers<void>();
  const after = data?.room?.cursor ?? '';
  const subscription = client
    .subscribe({ query: roomEvents, variables: { room, after } })
    .subscribe(() => updated.resolve());
  await client.mutate({ mutation: updatePost, variables: { input: { id, title: 'after' } }, fetchPolicy: 'no-cache' });
  await updated.promise;
  subscription.unsubscribe();
  const cached = client.readQuery({ query: roomPage, variables: { room } });
  assert.equal(cached?.room?.posts.edges[0]?.node.title, 'after');
});
