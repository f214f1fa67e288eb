import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type ValidatedExecutionArgs,
  type VariableValues,
  validateExecutionArgs,
} from 'graphql';
import { RequestErrors, requestError } from '../answer.ts';
import { costOf } from '../limits/cost.ts';
import { coerceVariables } from './coerce-variables.ts';
import { addDeprecated, type DeprecatedInput, findDeprecatedInputs } from './deprecated-elements.ts';
import { inspectFields, type SelectedFields } from './selected-fields.ts';
import { findSubscriptionTraits, type SubscriptionTraits } from './subscription-traits.ts';

const signingIn = ['signUp', 'signIn', 'signInWithLink'];

export type Variables = Record<string, unknown> | undefined;

/** Everything that is known about one operation of a document before a request brings its variables and its viewer. */
export class CompiledOperation {
  readonly type: OperationTypeNode;
  readonly name: string | undefined;
  readonly fields: SelectedFields;
  /** Undefined for a query or a mutation. */
  readonly subscription: SubscriptionTraits | undefined;
  /** Whether the operation selects only fields that sign in. */
  readonly isSigningIn: boolean;
  readonly #args: ValidatedExecutionArgs;
  readonly #deprecatedInputs: readonly DeprecatedInput[];
  /** Undefined if the cost depends on variables. */
  readonly #fixedCost: number | undefined;

  /** @throws GraphQLError OPERATION_NOT_FOUND. */
  constructor(schema: GraphQLSchema, document: DocumentNode, name: string | undefined, hideSuggestions: boolean) {
    const operation = getOperationAST(document, name);
    if (!operation) throw requestError('OPERATION_NOT_FOUND');
    this.type = operation.operation;
    this.name = operation.name?.value;
    this.#args = createArgs(schema, document, operation, hideSuggestions);
    const { cost, isFixed } = costOf(this.#args);
    this.#fixedCost = isFixed ? cost : undefined;
    this.fields = inspectFields(this.#args);
    this.#deprecatedInputs = findDeprecatedInputs(schema, operation.variableDefinitions);
    const isSubscription = this.type === OperationTypeNode.SUBSCRIPTION;
    this.subscription = isSubscription ? findSubscriptionTraits(document, operation) : undefined;
    this.isSigningIn = isSigningIn(operation);
  }

  get document(): DocumentNode {
    return this.#args.document;
  }

  /** The arguments of an execution, without context. @throws RequestErrors VARIABLES_INVALID. */
  bind(variables: Variables): ValidatedExecutionArgs {
    if (!this.#args.operation.variableDefinitions?.length) return this.#args;
    const variableValues = coerceVariables(this.#args, variables ?? {});
    return { ...this.#args, variableValues, rawVariableValues: variables };
  }

  /** The arguments of an execution for one value of a subscription. */
  argsOf(variableValues: VariableValues, rootValue: unknown, contextValue: unknown): ValidatedExecutionArgs {
    return { ...this.#args, variableValues, rootValue, contextValue };
  }

  /** The coordinates of the deprecated elements that an execution uses. `variables` are those of a successful `bind`. */
  findDeprecated(variables: Variables): ReadonlySet<string> {
    if (this.#deprecatedInputs.length === 0) return this.fields.deprecated;
    const coordinates = new Set(this.fields.deprecated);
    for (const { name, type } of this.#deprecatedInputs) addDeprecated(variables?.[name], type, coordinates);
    return coordinates;
  }

  /** The cost of an execution with these arguments. */
  costOf(args: ValidatedExecutionArgs): number {
    return this.#fixedCost ?? costOf(args).cost;
  }
}

/** graphql's own function also coerces variables, which differ for each request; it gets the operation without them. */
function createArgs(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  hideSuggestions: boolean,
): ValidatedExecutionArgs {
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  const definitions = [{ ...operation, variableDefinitions: [] }, ...fragments];
  const args = validateExecutionArgs({ schema, document: { ...document, definitions }, hideSuggestions });
  if (!('schema' in args)) throw new RequestErrors(args);
  return { ...args, document, operation };
}

function isSigningIn({ operation, selectionSet }: OperationDefinitionNode): boolean {
  return (
    operation === OperationTypeNode.MUTATION &&
    selectionSet.selections.every((node) => node.kind === Kind.FIELD && signingIn.includes(node.name.value))
  );
}
