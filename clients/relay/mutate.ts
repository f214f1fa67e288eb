import {
  commitMutation,
  type Environment,
  type GraphQLTaggedNode,
  type MutationParameters,
  type PayloadError,
} from 'relay-runtime';

/** A mutation that failed: it is null, and its error has the code. */
export class MutationError extends Error {
  readonly code: string | undefined;

  constructor({ message, extensions }: PayloadError & { extensions?: { code: string } }) {
    super(message);
    this.code = extensions?.code;
  }
}

/** What `useMutation` does in a component. The errors of a mutation are the second argument of `onCompleted`. */
export function mutate<Mutation extends MutationParameters>(
  environment: Environment,
  mutation: GraphQLTaggedNode,
  variables: Mutation['variables'],
): Promise<Mutation['response']> {
  return new Promise((resolve, reject) => {
    commitMutation<Mutation>(environment, {
      mutation,
      variables,
      onCompleted: (response, errors) => (errors?.[0] ? reject(new MutationError(errors[0])) : resolve(response)),
      onError: reject,
    });
  });
}
