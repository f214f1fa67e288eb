import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { gql } from '@apollo/client';
import { failureOf } from '@postroom/client';
import { createPost, createPostOnce, roomPage } from './documents.ts';
import { countFetches, fillRoom, openClient } from './example.ts';
import { retry } from './retry.ts';

test('429 is repeated once, after retryAfterMs', async () => {
  const { fetcher, statuses } = countFetches();
  const client = await openClient([retry], fetcher);
  // A user who has sent more than ten invalid documents may send no new document for half a second.
  for (let count = 0; !statuses.includes(429); count += 1) {
    await client.query({ query: gql(`query Invalid${count} { nothing }`), errorPolicy: 'all' });
    const query = gql(`query Valid${count}_${Date.now()} { viewer { name } }`);
    const { data } = await client.query({ query, fetchPolicy: 'network-only' });
    assert.deepEqual(data, { viewer: { __typename: 'User', name: 'Ada' } });
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
  const client = await openClient([retry], async (...args) => answers.pop() ?? fetcher(...args));
  await fillRoom(client, []);
  assert.deepEqual(statuses, [200]);
});

test('422 is not repeated', async () => {
  const { fetcher, statuses } = countFetches();
  const client = await openClient([retry], fetcher);
  const room = await fillRoom(client, []);
  const posted = client.mutate({ mutation: createPost, variables: { input: { room, title: '' } } });
  await assert.rejects(posted, (error) => failureOf(error).code === 'VALIDATION_ERROR');
  assert.deepEqual(statuses, [200, 422]);
});

test('a mutation whose answer is lost is repeated with its key, and runs once', async () => {
  const lost = ['CreatePostOnce'];
  const fetcher: typeof fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (String(init?.body).includes(lost[0] ?? 'nothing') && lost.pop()) throw new TypeError('The connection is lost.');
    return response;
  };
  const client = await openClient([retry], fetcher);
  const room = await fillRoom(client, []);
  const variables = { input: { room, title: 'once' }, key: crypto.randomUUID() };
  const { data } = await client.mutate({ mutation: createPostOnce, variables });
  assert.deepEqual(lost, []);
  const { data: page } = await client.query({ query: roomPage, variables: { room } });
  assert.deepEqual(
    page?.room?.posts.edges.map(({ node }) => node),
    [data?.createPost?.post],
  );
});
