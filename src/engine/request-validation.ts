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
import { assertScope, assertSignedIn } from '../identity/access.ts';
import { requestError } from './answer.ts';
import type { Documents, OpenedDocument } from './documents.ts';
import type { CostCheck } from './limits/cost.ts';
import type { Call, GraphQLRequest } from './operation.ts';

/** An operation with coerced variables, and its cost. */
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

/** Runs all checks of a request before its execution. @throws GraphQLError, ClientError or RequestErrors. */
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
  if (parts.authRequired && !isSigningIn(operation)) assertSignedIn(viewer);
  assertScope(viewer, operation.operation === OperationTypeNode.MUTATION ? 'WRITE' : 'READ');
  if (operation.operation === OperationTypeNode.SUBSCRIPTION) assertFewVariables(request.variables);
  const args = known ? withVariables(known, request, parts) : coerceFirst(opened, request, parts);
  return { args, cost: parts.checkCost(args) };
}

/** The variables of a subscription are held until it ends. */
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

/** Coerces only the variables, for an operation that was validated before. @throws RequestErrors. */
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

/** Whether the operation selects only `signUp` and `signIn`. */
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

/** The errors of the answer for a thrown error. */
export function errorsOf(error: unknown): readonly unknown[] {
  return error instanceof RequestErrors ? error.errors : [error];
}
