import {
  GraphQLError,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type ValidatedExecutionArgs,
  validateExecutionArgs,
} from 'graphql';
import type { createYoga } from 'graphql-yoga';
import { assertMayCome, assertScope } from '../identity/access.ts';
import { requestError } from './answer.ts';
import type { CostCheck } from './limits/cost.ts';
import type { Call, GraphQLRequest } from './operation.ts';

/** Yoga's pipeline, for one operation. */
export type Enveloped = ReturnType<ReturnType<typeof createYoga>['getEnveloped']>;

/** An operation whose variables are coerced, and what it costs. */
export interface ValidatedRequest {
  args: ValidatedExecutionArgs;
  cost: number;
}

export interface ValidationOptions {
  checkCost: CostCheck;
  introspection: boolean;
  authRequired: boolean;
}

/** Everything that can be said against a request before it runs. @throws GraphQLError, ClientError or RequestErrors. */
export function validateRequest(
  { parse, validate, schema }: Enveloped,
  { query, operationName, variables }: GraphQLRequest & { query: string },
  { abort, viewer }: Call,
  { checkCost, introspection, authRequired }: ValidationOptions,
): ValidatedRequest {
  const document = parse(query);
  const errors: readonly GraphQLError[] = validate(schema, document);
  if (errors.length > 0) throw new RequestErrors(errors);
  const operation = getOperationAST(document, operationName);
  if (!operation) throw requestError('OPERATION_NOT_FOUND');
  if (authRequired) assertMayCome(viewer, isSigningIn(operation));
  assertScope(viewer, operation.operation === OperationTypeNode.MUTATION ? 'WRITE' : 'READ');
  const args = validateExecutionArgs({
    schema,
    document,
    operationName,
    variableValues: variables,
    hideSuggestions: !introspection,
    // A stream outlives its request; it ends by leaving.
    abortSignal: operation.operation === OperationTypeNode.SUBSCRIPTION ? undefined : abort.signal,
    options: { maxCoercionErrors: 10 },
  });
  if (!('schema' in args)) {
    throw new RequestErrors(args.map((error) => requestError('VARIABLES_INVALID', undefined, error)));
  }
  return { args, cost: checkCost(args) };
}

/** Whether it does nothing but make credentials. */
function isSigningIn({ operation, selectionSet }: OperationDefinitionNode): boolean {
  return (
    operation === OperationTypeNode.MUTATION &&
    selectionSet.selections.every((node) => node.kind === Kind.FIELD && ['signUp', 'signIn'].includes(node.name.value))
  );
}

/** Several errors of one request. */
class RequestErrors extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('The request has errors.');
    this.errors = errors;
  }
}

/** What a failure says, as errors of the answer. */
export function errorsOf(error: unknown): readonly GraphQLError[] {
  if (error instanceof RequestErrors) return error.errors;
  return [error instanceof GraphQLError ? error : new GraphQLError('', { cause: error })];
}
