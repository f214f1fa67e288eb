import { ApolloLink } from '@apollo/client';
import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { RetryLink } from '@apollo/client/link/retry';
import { OperationTypeNode } from 'graphql';
import { map } from 'rxjs';

/** RetryLink repeats only requests that fail. An answer with errors becomes a failure if it may be repeated. */
const refusals = new ApolloLink((operation, forward) =>
  forward(operation).pipe(
    map((result) => {
      const error = result.errors && new CombinedGraphQLErrors(result);
      if (error && delayOf(error, operation) !== undefined) throw error;
      return result;
    }),
  ),
);

const repeats = new RetryLink({
  attempts: (count, operation, error) => count < 5 && delayOf(error, operation) !== undefined,
  delay: (_, operation, error) => delayOf(error, operation) ?? 0,
});

/** Repeats operations that were refused with 429 or 503, and those that are safe to repeat after a failed connection. */
export const retry = ApolloLink.from([repeats, refusals]);

/** In milliseconds; undefined if the operation must not be repeated. After too many sign-ins, the delay is minutes. */
function delayOf(error: unknown, operation: ApolloLink.Operation): number | undefined {
  if (!CombinedGraphQLErrors.is(error)) return isSafe(operation) ? 1_000 : undefined;
  const { status } = operation.getContext()['response'] ?? {};
  if (status === 503) return 1_000;
  const delay = error.errors[0]?.extensions?.['retryAfterMs'];
  return status === 429 && typeof delay === 'number' && delay <= 60_000 ? delay : undefined;
}

/** A query, or a mutation whose root fields all have `@idempotent`. */
function isSafe({ operationType, query }: ApolloLink.Operation): boolean {
  const roots = query.definitions.flatMap((node) =>
    node.kind === 'OperationDefinition' ? node.selectionSet.selections : [],
  );
  const hasKey = ({ directives = [] }: (typeof roots)[number]) =>
    directives.some(({ name }) => name.value === 'idempotent');
  return operationType === OperationTypeNode.QUERY || roots.every(hasKey);
}
