import { ApolloLink } from '@apollo/client';
import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { RetryLink } from '@apollo/client/link/retry';
import { retryOf } from '@postroom/client';
import { OperationTypeNode } from 'graphql';
import { map } from 'rxjs';

const maxDelayMs = 60_000; // After too many sign-ins it is minutes.

function delayOf(error: unknown, operation: ApolloLink.Operation, attempt = 0): number | undefined {
  const ms = retryOf(error, { isSafe: isSafe(operation), attempt });
  return ms !== undefined && ms <= maxDelayMs ? ms : undefined;
}

/** RetryLink repeats only requests that fail. An answer with errors becomes a failure if it may be repeated. */
const refusals = new ApolloLink((operation, forward) =>
  forward(operation).pipe(
    map((result) => {
      const error = result.errors && new CombinedGraphQLErrors(result);
      // 294: a part of it was done.
      const isPartial = operation.getContext()['response']?.status === 294;
      if (error && !isPartial && delayOf(error, operation) !== undefined) throw error;
      return result;
    }),
  ),
);

const repeats = new RetryLink({
  attempts: (count, operation, error) => count < 5 && delayOf(error, operation) !== undefined,
  delay: (count, operation, error) => delayOf(error, operation, count - 1) ?? 0,
});

/** Repeats what was refused for a moment, and what is safe to repeat after a failed connection. */
export const retry = ApolloLink.from([repeats, refusals]);

/** A query, or a mutation whose root fields all have `@idempotent`. */
function isSafe({ operationType, query }: ApolloLink.Operation): boolean {
  const roots = query.definitions.flatMap((node) =>
    node.kind === 'OperationDefinition' ? node.selectionSet.selections : [],
  );
  const hasKey = ({ directives = [] }: (typeof roots)[number]) =>
    directives.some(({ name }) => name.value === 'idempotent');
  return operationType === OperationTypeNode.QUERY || roots.every(hasKey);
}
