import { retryOf } from '@postroom/client';
import { makeOperation, type Operation } from '@urql/core';
import { retryExchange } from '@urql/exchange-retry';

const maxDelayMs = 60_000; // After too many sign-ins it is minutes.

/** Repeats what was refused for a moment, and what is safe to repeat after a failed connection. */
export const retry = retryExchange({
  maxNumberAttempts: 5,
  maxDelayMs: 2 * maxDelayMs,
  retryWith(error, operation) {
    const { count = 0 } = operation.context['retry'] ?? {};
    const delay = retryOf(error, { isSafe: isSafe(operation), attempt: count });
    if (delay === undefined || delay > maxDelayMs) return null;
    // The exchange waits for at least this delay.
    return makeOperation(operation.kind, operation, { ...operation.context, retry: { count, delay } });
  },
});

/** A query, or a mutation whose root fields all have `@idempotent`. */
function isSafe({ kind, query }: Operation): boolean {
  const roots = query.definitions.flatMap((node) =>
    node.kind === 'OperationDefinition' ? node.selectionSet.selections : [],
  );
  const hasKey = ({ directives = [] }: (typeof roots)[number]) =>
    directives.some(({ name }) => name.value === 'idempotent');
  return kind === 'query' || roots.every(hasKey);
}
