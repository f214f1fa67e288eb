import fc from 'fast-check';
import { OperationTypeNode, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { CompiledOperation } from '../../src/engine/documents/documents.ts';
import { costOf } from '../../src/engine/limits/cost.ts';
import { loadSchema } from '../../src/engine/schema.ts';
import { requests } from '../support/clients/documents.ts';
import { post } from '../support/clients/http.ts';
import { isSoak } from '../support/run/soak.ts';
import { launchForTest } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

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

it('the cost of a compiled operation is that of its document with the variables of the request', () => {
  const schema = loadSchema();
  const generated = requests(schema, {
    kinds: [OperationTypeNode.QUERY, OperationTypeNode.MUTATION],
    sample: ({ name }) => (name === 'DateTime' ? '2026-11-20T08:30:00.000Z' : undefined),
  });
  let fixed = 0;
  let variable = 0;
  fc.assert(
    fc.property(generated, ({ query, operationName, variables, otherVariables }) => {
      const compiled = new CompiledOperation(schema, parse(query), operationName, false);
      const costs = [variables, otherVariables].map((values) => {
        const args = compiled.bind(values);
        const { cost } = costOf(args);
        expect(compiled.costOf(args)).toBe(cost);
        return cost;
      });
      if (costs[0] === costs[1]) fixed += 1;
      else variable += 1;
    }),
    { numRuns: isSoak ? 20_000 : 1_000 },
  );
  expect(Math.min(fixed, variable)).toBeGreaterThan(0);
});
