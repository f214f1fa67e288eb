import { createClient } from 'graphql-ws';
import { resumable } from './resumable.js';
import { token, url } from './settings.ts';

const { connectionParams, ...options } = resumable();

export const live = createClient({
  url: url.replace('http', 'ws'),
  retryAttempts: Number.POSITIVE_INFINITY,
  retryWait: (retries) =>
    new Promise((retry) => setTimeout(retry, Math.random() * Math.min(5_000, 500 * 2 ** retries))),
  shouldRetry: (event) => (event as CloseEvent).code !== 4403, // credentials that were refused are refused again
  connectionParams: () => ({ ...connectionParams(), ...(token && { authorization: `Bearer ${token}` }) }),
  ...options,
});
