import { Client, fetchExchange } from '@urql/core';
import { persistedExchange } from '@urql/exchange-persisted';
import { createCache } from './cache.ts';
import { retry } from './retry.ts';
import { token, url } from './settings.ts';
import { subscriptions } from './subscriptions.ts';

export const client = new Client({
  url,
  exchanges: [createCache(), retry, persistedExchange(), subscriptions, fetchExchange],
  fetchOptions: { headers: token ? { authorization: `Bearer ${token}` } : {} },
});
