import { CombinedGraphQLErrors, CombinedProtocolErrors } from '@apollo/client';

/** The code of a refused operation or of the end of a stream; undefined if the connection failed. */
export function codeOf(error: unknown): unknown {
  if (!CombinedGraphQLErrors.is(error) && !CombinedProtocolErrors.is(error)) return undefined;
  return error.errors[0]?.extensions?.['code'];
}
