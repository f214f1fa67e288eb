import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { createPost, createPostOnce, roomPage } from './documents.ts';
import { countFetches, fillRoom, openClient } from './example.ts';
import { retry } from './retry.ts';

test('429 is repeated once, after retryAfterMs', async () => {
  const { fetcher, statuses } = countFetches();
  const client = await openClient({ exchanges: [retry], fetcher });
  // A user who has sent more than ten invalid documents may send no new document for half a second.
  for (let count = 0; !statuses.includes(429); count += 1) {
    await client.query(`query Invalid${count} { nothing }`, {});
    const { data } = await client.query(`query Valid${count}_${Date.now()} { viewer { name } }`, {});
    assert.deepEqual(data, { viewer: { name: 'Ada' } });
  }
  assert.deepEqual(statuses.slice(-2), [429, 200]);
});

test('503 is repeated', async () => {
  const { fetcher, statuses } = countFetches();
  const unavailable = Response.json(
    { errors: [{ message: 'The server is stopping.', extensions: { code: 'SERVICE_UNAVAILABLE' } }] },
    { status: 503, headers: { 'content-type': 'application/graphql-response+json' } },
  );
  const answers = [unavailable];
  const client = await openClient({
    exchanges: [retry],
    fetcher: async (...args) => answers.pop() ?? fetcher(...args),
  });
  await fillRoom(client, []);
  assert.deepEqual(statuses, [200]);
});

test('422 is not repeated', async () => {
  const { fetcher, statuses } = countFetches();
  const client = await openClient({ exchanges: [retry], fetcher });
  const room = await fillRoom(client, []);
  const { error } = await client.mutation(createPost, { input: { room, title: '' } });
  assert.equal(error?.graphQLErrors[0]?.extensions['code'], 'VALIDATION_ERROR');
  assert.deepEqual(statuses, [200, 422]);
});

test('a mutation whose answer is lost is repeated with its key, and runs once', async () => {
  const lost = ['CreatePostOnce'];
  const fetcher: typeof fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (String(init?.body).includes(lost[0] ?? 'nothing') && lost.pop()) throw new TypeError('The connection is lost.');
    return response;
  };
  const client = await openClient({ exchanges: [retry], fetcher });
  const room = await fillRoom(client, []);
  const variables = { input: { room, title: 'once' }, key: crypto.randomUUID() };
  const { data } = await client.mutation(createPostOnce, variables);
  assert.deepEqual(lost, []);
  const { data: page } = await client.query(roomPage, { room });
  assert.deepEqual(
    page?.room?.posts.edges.map(({ node }) => node.id),
    [data?.createPost?.post.id],
  );
});
