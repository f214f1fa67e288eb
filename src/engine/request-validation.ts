import {
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type ValidatedExecutionArgs,
  validateExecutionArgs,
} from 'graphql';
import { ClientError, TracelessError } from '../errors.ts';
import { assertMayCome, assertScope } from '../identity/access.ts';
import { requestError } from './answer.ts';
import type { Documents, OpenedDocument } from './documents.ts';
import type { CostCheck } from './limits/cost.ts';
import type { Call, GraphQLRequest } from './operation.ts';

/** An operation whose variables are coerced, and what it costs. */
export interface ValidatedRequest {
  args: ValidatedExecutionArgs;
  cost: number;
}

export interface ValidationParts {
  schema: GraphQLSchema;
  opened: Documents;
  checkCost: CostCheck;
  introspection: boolean;
  authRequired: boolean;
}

/** Everything that can be said against a request before it runs. @throws GraphQLError, ClientError or RequestErrors. */
export function validateRequest(
  parts: ValidationParts,
  source: string,
  request: GraphQLRequest,
  { viewer }: Call,
): ValidatedRequest {
  const opened = parts.opened.open(source);
  if (opened.errors.length > 0) throw new RequestErrors(opened.errors);
  const known = opened.operations.get(request.operationName);
  const operation = known?.operation ?? getOperationAST(opened.document, request.operationName);
  if (!operation) throw requestError('OPERATION_NOT_FOUND');
  if (parts.authRequired) assertMayCome(viewer, isSigningIn(operation));
  assertScope(viewer, operation.operation === OperationTypeNode.MUTATION ? 'WRITE' : 'READ');
  if (operation.operation === OperationTypeNode.SUBSCRIPTION) assertFewVariables(request.variables);
  const args = known ? withVariables(known, request, parts) : coerceFirst(opened, request, parts);
  return { args, cost: parts.checkCost(args) };
}

/** Those of a subscription are kept for as long as it lasts. */
const maxVariablesBytes = 4_096;

/** @throws ClientError VARIABLES_INVALID. */
function assertFewVariables(variables: GraphQLRequest['variables']): void {
  if (variables === undefined) return;
  const bytes = Buffer.byteLength(JSON.stringify(variables));
  if (bytes <= maxVariablesBytes) return;
  const message = `The variables of a subscription have ${bytes} bytes as JSON: at most ${maxVariablesBytes} are allowed.`;
  throw new ClientError('VARIABLES_INVALID', message);
}

const maxCoercionErrors = 10;

/** Of an operation that was asked for before only the variables are new. @throws RequestErrors. */
function withVariables(
  known: ValidatedExecutionArgs,
  { variables }: GraphQLRequest,
  { schema, introspection }: ValidationParts,
): ValidatedExecutionArgs {
  const definitions = known.operation.variableDefinitions ?? [];
  if (definitions.length === 0) return known;
  const options = { maxErrors: maxCoercionErrors, hideSuggestions: !introspection };
  const { errors, variableValues } = getVariableValues(schema, definitions, variables ?? {}, options);
  if (errors) throw invalidVariables(errors);
  return { ...known, variableValues, rawVariableValues: variables };
}

/** @throws RequestErrors. */
function coerceFirst(
  { document, operations }: OpenedDocument,
  { operationName, variables }: GraphQLRequest,
  { schema, introspection }: ValidationParts,
): ValidatedExecutionArgs {
  const args = validateExecutionArgs({
    schema,
    document,
    operationName,
    variableValues: variables,
    hideSuggestions: !introspection,
    options: { maxCoercionErrors },
  });
  if (!('schema' in args)) throw invalidVariables(args);
  operations.set(operationName, { ...args, variableValues: noVariables, rawVariableValues: undefined });
  return args;
}

const noVariables = { sources: Object.create(null), coerced: Object.create(null) };

function invalidVariables(errors: readonly GraphQLError[]): RequestErrors {
  return new RequestErrors(errors.map((error) => requestError('VARIABLES_INVALID', undefined, error)));
}

/** Whether it does nothing but make credentials. */
function isSigningIn({ operation, selectionSet }: OperationDefinitionNode): boolean {
  return (
    operation === OperationTypeNode.MUTATION &&
    selectionSet.selections.every((node) => node.kind === Kind.FIELD && ['signUp', 'signIn'].includes(node.name.value))
  );
}

/** Several errors of one request. */
class RequestErrors extends TracelessError {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('The request has errors.');
    this.errors = errors;
  }
}

/** What a failure says, as errors of the answer. */
export function errorsOf(error: unknown): readonly unknown[] {
  return error instanceof RequestErrors ? error.errors : [error];
}
