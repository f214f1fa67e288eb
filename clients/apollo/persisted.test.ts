import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { gql } from '@apollo/client';
import { countFetches, openClient } from './example.ts';
import { persisted } from './persisted.ts';

test('a document is sent once, and later only its hash', async () => {
  const query = gql(`query Q${Date.now()} { viewer { name } }`);
  const { fetcher, statuses } = countFetches();
  for (let time = 0; time < 2; time += 1) {
    const client = await openClient([persisted], fetcher);
    const { data } = await client.query({ query });
    assert.deepEqual(data, { viewer: { __typename: 'User', name: 'Ada' } });
  }
  assert.deepEqual(statuses, [200, 200, 200]);
});
