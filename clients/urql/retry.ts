import { type CombinedError, makeOperation, type Operation } from '@urql/core';
import { retryExchange } from '@urql/exchange-retry';

/** Repeats operations that were refused with 429 or 503, and those that are safe to repeat after a failed connection. */
export const retry = retryExchange({
  maxNumberAttempts: 5,
  maxDelayMs: 120_000,
  retryWith(error, operation) {
    const delay = delayOf(error, operation);
    if (delay === undefined) return null;
    // The exchange waits for at least this delay.
    const { count = 0 } = operation.context['retry'] ?? {};
    return makeOperation(operation.kind, operation, { ...operation.context, retry: { count, delay } });
  },
});

/** In milliseconds; undefined if the operation must not be repeated. After too many sign-ins, the delay is minutes. */
function delayOf({ graphQLErrors, networkError, response }: CombinedError, operation: Operation): number | undefined {
  if (response?.status === 503 || (networkError && isSafe(operation))) return 1_000;
  const delay = graphQLErrors[0]?.extensions['retryAfterMs'];
  return response?.status === 429 && typeof delay === 'number' && delay <= 60_000 ? delay : undefined;
}

/** A query, or a mutation whose root fields all have `@idempotent`. */
function isSafe({ kind, query }: Operation): boolean {
  const roots = query.definitions.flatMap((node) =>
    node.kind === 'OperationDefinition' ? node.selectionSet.selections : [],
  );
  const hasKey = ({ directives = [] }: (typeof roots)[number]) =>
    directives.some(({ name }) => name.value === 'idempotent');
  return kind === 'query' || roots.every(hasKey);
}
