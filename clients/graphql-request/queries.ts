import { QueryClient } from '@tanstack/query-core';
import { ClientError } from 'graphql-request';

/** Operations that were refused with 429 or 503 are repeated, and queries whose connection failed. */
export const createQueries = () =>
  new QueryClient({
    defaultOptions: {
      queries: {
        retry: (count, error) => count < 5 && (hasNoAnswer(error) || delayOf(error) !== undefined),
        retryDelay,
      },
      mutations: { retry: (count, error) => count < 5 && delayOf(error) !== undefined, retryDelay },
    },
  });

const hasNoAnswer = (error: Error) => !(error instanceof ClientError);
const retryDelay = (_: number, error: Error) => delayOf(error) ?? 1_000;

/** In milliseconds; undefined if the operation must not be repeated. After too many sign-ins, the delay is minutes. */
function delayOf(error: Error): number | undefined {
  if (!(error instanceof ClientError)) return undefined;
  const { status, errors } = error.response;
  if (status === 503) return 1_000;
  const delay = errors?.[0]?.extensions['retryAfterMs'];
  return status === 429 && typeof delay === 'number' && delay <= 60_000 ? delay : undefined;
}
