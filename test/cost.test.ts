import { expect, it } from 'vitest';
import { launchForTest } from './support/postroom.ts';

it('a request that asks for its cost gets it beside the answer, and no other does', async () => {
  const postroom = await launchForTest();
  const query = 'query ($limit: Int) { posts(limit: $limit) { data { title author { name } } } }';
  const send = async (extensions?: object) => {
    const response = await fetch(postroom.graphqlUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables: { limit: 50 }, extensions }),
    });
    return response.json();
  };
  // A page, and 50 posts with their authors.
  expect(await send({ cost: true })).toMatchObject({ extensions: { cost: { requested: 101, maximum: 5_000 } } });
  expect(await send()).not.toHaveProperty('extensions');
});
