import { type FieldNode, GraphQLError, type GraphQLField, getArgumentValues, type VariableValues } from 'graphql';
import { requestError } from '../answer.ts';

/** @throws GraphQLError VARIABLES_INVALID if a variable's value is not allowed for the argument. */
export function readArguments(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: VariableValues,
): Record<string, unknown> {
  return field.args.length === 0 ? {} : orVariablesInvalid(() => getArgumentValues(field, node, variables));
}

/**
 * A nullable variable with a default may be used where null is not allowed, and may still be given as null. graphql
 * detects this during the execution, as an error of the field. It is an error of the client.
 */
export function orVariablesInvalid<T>(coerce: () => T): T {
  try {
    return coerce();
  } catch (error) {
    throw error instanceof GraphQLError ? requestError('VARIABLES_INVALID', undefined, error) : error;
  }
}
