import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { persistedExchange } from '@urql/exchange-persisted';
import { countFetches, openClient } from './example.ts';

test('a document is sent once, and later only its hash', async () => {
  const query = `query Q${Date.now()} { viewer { name } }`;
  const { fetcher, statuses } = countFetches();
  for (let time = 0; time < 2; time += 1) {
    const client = await openClient({ exchanges: [persistedExchange()], fetcher });
    const { data } = await client.query(query, {});
    assert.deepEqual(data, { viewer: { name: 'Ada' } });
  }
  assert.deepEqual(statuses, [200, 200, 200]);
});
