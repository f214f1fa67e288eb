import { describe, expect, it } from 'vitest';
import { post } from './support/http.ts';
import { launchForTest } from './support/postroom.ts';
import { shareServer } from './support/shared-server.ts';

it('the cost of a request is reported only if the request asks for it', async () => {
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
  // The page costs 1. Each of the 50 posts costs 1, as does its author.
  expect(await send({ cost: true })).toMatchObject({ extensions: { cost: { requested: 101, maximum: 5_000 } } });
  expect(await send()).not.toHaveProperty('extensions');
});

describe('a search for part of a name or title', () => {
  const server = shareServer();

  async function costOf(query: string, variables: object = {}): Promise<number> {
    const { body } = await post(server.postroom, query, { variables, extensions: { cost: true } });
    return JSON.parse(body).extensions.cost.requested;
  }

  it.each([
    ['in the document', '{ posts(limit: 1, filter: { title: "x" }) { data { id } } }', {}, 2_502],
    [
      'beside what weighs nothing',
      '{ users(limit: 1, filter: { name: "x", createdAfter: null }) { data { id } } }',
      {},
      252,
    ],
    ['null', '{ posts(limit: 1, filter: { title: null }) { data { id } } }', {}, 2],
    ['absent', '{ posts(limit: 1, filter: { room: "x" }) { data { id } } }', {}, 2],
    [
      'in a variable within the filter',
      'query ($name: String) { rooms(limit: 1, filter: { name: $name }) { data { id } } }',
      { name: 'x' },
      252,
    ],
    [
      'in a filter that is a variable',
      'query ($filter: PostFilter) { posts(limit: 1, filter: $filter) { data { id } } }',
      { filter: { title: 'x' } },
      2_502,
    ],
    [
      'in a variable that is not given',
      'query ($filter: PostFilter) { posts(limit: 1, filter: $filter) { data { id } } }',
      {},
      2,
    ],
    [
      "by a variable's default",
      'query ($filter: PostFilter = { title: "x" }) { posts(limit: 1, filter: $filter) { data { id } } }',
      {},
      2_502,
    ],
  ])('weighs %s', async (_, query, variables, cost) => {
    expect(await costOf(query, variables)).toBe(cost);
  });

  it('runs once in an operation, and not twice', async () => {
    const search = 'posts(limit: 1, filter: { title: "x" }) { data { id } }';
    expect((await post(server.postroom, `{ ${search} }`)).status).toBe(200);
    const twice = await post(server.postroom, `{ ${search} again: ${search} }`);
    expect(twice).toMatchObject({ status: 422, code: 'COST_LIMIT_EXCEEDED' });
  });
});
