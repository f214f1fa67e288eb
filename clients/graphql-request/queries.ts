import { retryOf } from '@postroom/client';
import { QueryClient } from '@tanstack/query-core';

const maxDelayMs = 60_000; // After too many sign-ins it is minutes.

function repeat({ isSafe }: { isSafe: boolean }) {
  const delayOf = (attempt: number, error: Error) => retryOf(error, { isSafe, attempt }) ?? Number.POSITIVE_INFINITY;
  return {
    retry: (count: number, error: Error) => count < 5 && delayOf(count, error) <= maxDelayMs,
    retryDelay: delayOf,
  };
}

/** Repeats what was refused for a moment, and queries whose connection failed. */
export const createQueries = () =>
  new QueryClient({ defaultOptions: { queries: repeat({ isSafe: true }), mutations: repeat({ isSafe: false }) } });
