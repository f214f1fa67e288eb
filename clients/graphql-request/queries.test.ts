import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { MutationObserver } from '@tanstack/query-core';
import { ClientError, type GraphQLClient } from 'graphql-request';
import { createPost } from './documents.ts';
import { countFetches, fillRoom, openClient } from './example.ts';
import { createQueries } from './queries.ts';

const queries = createQueries();
const query = (client: GraphQLClient, text: string) =>
  queries.fetchQuery({ queryKey: [text], queryFn: () => client.request(text) });
const post = (client: GraphQLClient, input: object) =>
  new MutationObserver(queries, { mutationFn: () => client.request(createPost, { input }) }).mutate();

test('429 is repeated once, after retryAfterMs', async () => {
  const { fetcher, statuses } = countFetches();
  const client = await openClient(fetcher);
  // A user who has sent more than ten invalid documents may send no new document for half a second.
  for (let count = 0; !statuses.includes(429); count += 1) {
    await assert.rejects(client.request(`query Invalid${count} { nothing }`));
    assert.deepEqual(await query(client, `query Valid${count}_${Date.now()} { viewer { name } }`), {
      viewer: { name: 'Ada' },
    });
  }
  assert.deepEqual(statuses.slice(-2), [429, 200]);
});

test('503 is repeated', async () => {
  const { fetcher, statuses } = countFetches();
  const answers: Response[] = [];
  const client = await openClient(async (...args) => answers.pop() ?? fetcher(...args));
  const room = await fillRoom(client, []);
  const errors = [{ message: 'The server is stopping.', extensions: { code: 'SERVICE_UNAVAILABLE' } }];
  const headers = { 'content-type': 'application/graphql-response+json' };
  answers.push(Response.json({ errors }, { status: 503, headers }));
  const { createPost } = await post(client, { room, title: 'Hello' });
  assert.equal(createPost.post.title, 'Hello');
  assert.deepEqual([answers, statuses], [[], [200, 200]]);
});

test('422 is not repeated', async () => {
  const { fetcher, statuses } = countFetches();
  const client = await openClient(fetcher);
  const room = await fillRoom(client, []);
  const isInvalid = (error: unknown) =>
    error instanceof ClientError && error.response.errors?.[0]?.extensions?.['code'] === 'VALIDATION_ERROR';
  await assert.rejects(post(client, { room, title: '' }), isInvalid);
  assert.deepEqual(statuses, [200, 422]);
});
