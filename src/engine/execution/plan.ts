import {
  type DocumentNode,
  defaultFieldResolver,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLAbstractType,
  type GraphQLDirective,
  GraphQLError,
  type GraphQLField,
  type GraphQLFieldResolver,
  GraphQLID,
  GraphQLIncludeDirective,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  GraphQLString,
  getArgumentValues,
  getDirectiveValues,
  getNullableType,
  type InlineFragmentNode,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValidatedExecutionArgs,
  type VariableValues,
  visit,
} from 'graphql';
import { requestError } from '../answer.ts';
import { type CountedAnswer, compileProjection, type RowProjection } from './row-projection.ts';

/** How a value of a field's type becomes part of the answer. */
export type Completion =
  | { kind: 'leaf'; isNonNull: boolean; type: GraphQLLeafType }
  | { kind: 'list'; isNonNull: boolean; item: Completion }
  | { kind: 'object'; isNonNull: boolean; type: GraphQLObjectType; selectionOf: SelectionOf }
  | { kind: 'abstract'; isNonNull: boolean; type: GraphQLAbstractType; selectionOf: SelectionOf };

/** Plans the selection for an object type when it is first needed. */
type SelectionOf = (type: GraphQLObjectType) => SelectionPlan;

/** A field of a selection, with all facts that do not depend on the source object. */
export interface FieldPlan {
  responseName: string;
  nodes: readonly [FieldNode, ...FieldNode[]];
  field: GraphQLField<unknown, unknown>;
  parentType: GraphQLObjectType;
  completion: Completion;
  /** Undefined for graphql's default resolver, which reads the source's own property. */
  resolve: GraphQLFieldResolver<unknown, unknown> | undefined;
  /** Whether a string that is a property of the source is the field's value without any conversion. */
  isText: boolean;
}

/** The number of objects after which their projection is compiled, because many documents run only once. */
const objectsBeforeCompilation = 2;

/** The fields that are selected of one object type. */
export class SelectionPlan {
  readonly fields: readonly FieldPlan[];
  /** The fields whose values `project` leaves undefined. */
  readonly nonTextFields: readonly FieldPlan[];
  /** The answer's object without values, to be copied. Its keys, also `__proto__`, are properties of its own. */
  readonly template: Readonly<Record<string, unknown>>;
  /** The characters of the object's braces, keys, colons and commas in JSON. */
  readonly keysLength: number;
  #projection: RowProjection | undefined;
  #objects = 0;

  constructor(fields: readonly FieldPlan[]) {
    this.fields = fields;
    this.nonTextFields = fields.filter(({ isText }) => !isText);
    this.template = Object.fromEntries(fields.map(({ responseName }) => [responseName, undefined]));
    this.keysLength = fields.reduce((sum, { responseName }) => sum + responseName.length + '"":,'.length, 1);
  }

  /** The answer's object with the texts of the row, if the compiled projection can create it. */
  project(row: unknown, answer: CountedAnswer): Record<string, unknown> | undefined {
    if (this.#projection) return this.#projection(row, answer);
    this.#objects += 1;
    const isDue = this.#objects > objectsBeforeCompilation && this.nonTextFields.length < this.fields.length;
    if (isDue) this.#projection = compileProjection(this.fields);
    return undefined;
  }
}

const texts = new Set<GraphQLOutputType>([GraphQLString, GraphQLID]);

type Selection = SelectionSetNode['selections'][number];
type FieldNodes = [FieldNode, ...FieldNode[]];

/** The plans of one operation: one for each combination of the variables in its `@skip` and `@include`. */
interface OperationPlans {
  conditions: readonly string[];
  byConditions: Map<string, SelectionPlan>;
}

const maxPlans = 16;
/** A small document can spread fragments to many fields: the planned fields of all operations are limited together. */
const maxPlannedFields = 100_000;

/** They are not in the compiled operations, because all of them are dropped at once. */
let plans = new WeakMap<OperationDefinitionNode, OperationPlans>();
let plannedFields = 0;

/** The plan of a validated operation, which is created once. @throws GraphQLError where a condition at the root is null. */
export function findPlan(args: ValidatedExecutionArgs): SelectionPlan {
  if (plannedFields > maxPlannedFields) {
    plans = new WeakMap();
    plannedFields = 0;
  }
  let found = plans.get(args.operation);
  if (!found) {
    found = { conditions: findConditions(args.document), byConditions: new Map() };
    plans.set(args.operation, found);
  }
  const { conditions, byConditions } = found;
  const key = conditions.length === 0 ? '' : conditions.map((name) => args.variableValues.coerced[name]).join();
  let plan = byConditions.get(key);
  if (!plan) {
    if (byConditions.size >= maxPlans) byConditions.clear();
    plan = new Planner(args, conditions).planOperation(args.operation);
    byConditions.set(key, plan);
  }
  return plan;
}

/** The names of the variables that decide which fields are selected. */
function findConditions(document: DocumentNode): string[] {
  const conditions = new Set<string>();
  visit(document, {
    Directive({ name, arguments: given = [] }) {
      if (name.value !== 'skip' && name.value !== 'include') return;
      for (const { value } of given) if (value.kind === Kind.VARIABLE) conditions.add(value.name.value);
    },
  });
  return [...conditions];
}

/** Plans the selections of one operation, for one combination of its conditions. */
class Planner {
  readonly #schema: GraphQLSchema;
  readonly #fragments: ValidatedExecutionArgs['fragmentDefinitions'];
  /** The variables that `@skip` and `@include` use. A plan outlives the request, so it must not hold its other variables. */
  readonly #conditions: Record<string, unknown> = Object.create(null);

  constructor({ schema, fragmentDefinitions, variableValues }: ValidatedExecutionArgs, names: readonly string[]) {
    this.#schema = schema;
    this.#fragments = fragmentDefinitions;
    const { coerced } = variableValues;
    for (const name of names) if (name in coerced) this.#conditions[name] = coerced[name];
  }

  planOperation({ operation, selectionSet }: OperationDefinitionNode): SelectionPlan {
    const type = this.#schema.getRootType(operation);
    if (!type) throw new Error(`The schema has no ${operation}.`);
    return this.#planSelection(type, [selectionSet]);
  }

  #planSelection(type: GraphQLObjectType, selectionSets: readonly SelectionSetNode[]): SelectionPlan {
    const nodes = new Map<string, FieldNodes>();
    const visited = new Set<string>();
    for (const selectionSet of selectionSets) this.#collect(type, selectionSet, nodes, visited);
    const fields = [...nodes].flatMap(([responseName, same]) => this.#planField(type, responseName, same) ?? []);
    plannedFields += fields.length;
    return new SelectionPlan(fields);
  }

  /** https://spec.graphql.org/September2026/#CollectFields() */
  #collect(
    type: GraphQLObjectType,
    { selections }: SelectionSetNode,
    nodes: Map<string, FieldNodes>,
    visited: Set<string>,
  ): void {
    for (const selection of selections) {
      if (!this.#isIncluded(selection)) continue;
      if (selection.kind === Kind.FIELD) {
        const responseName = (selection.alias ?? selection.name).value;
        const same = nodes.get(responseName);
        if (same) same.push(selection);
        else nodes.set(responseName, [selection]);
        continue;
      }
      const fragment = this.#openFragment(selection, visited);
      if (fragment && applies(this.#schema, fragment, type)) this.#collect(type, fragment.selectionSet, nodes, visited);
    }
  }

  #openFragment(
    selection: Exclude<Selection, FieldNode>,
    visited: Set<string>,
  ): InlineFragmentNode | FragmentDefinitionNode | undefined {
    if (selection.kind === Kind.INLINE_FRAGMENT) return selection;
    const name = selection.name.value;
    if (visited.has(name)) return undefined;
    visited.add(name);
    return this.#fragments[name];
  }

  /** @throws GraphQLError VARIABLES_INVALID if a condition is null. */
  #isIncluded(selection: Selection): boolean {
    if (!selection.directives?.length) return true;
    const variables = { sources: {}, coerced: this.#conditions };
    const read = (directive: GraphQLDirective) =>
      orVariablesInvalid(() => getDirectiveValues(directive, selection, variables))?.['if'];
    return read(GraphQLSkipDirective) !== true && read(GraphQLIncludeDirective) !== false;
  }

  #planField(parentType: GraphQLObjectType, responseName: string, nodes: FieldNodes): FieldPlan | undefined {
    const field = this.#schema.getField(parentType, nodes[0].name.value);
    if (!field) return undefined;
    const resolve = field.resolve === defaultFieldResolver ? undefined : field.resolve;
    const isText = !resolve && texts.has(getNullableType(field.type));
    const completion = this.#planCompletion(field.type, nodes);
    return { responseName, nodes, field, parentType, completion, resolve, isText };
  }

  #planCompletion(type: GraphQLOutputType, nodes: FieldNodes, isNonNull = false): Completion {
    if (isNonNullType(type)) return this.#planCompletion(type.ofType, nodes, true);
    if (isListType(type)) return { kind: 'list', isNonNull, item: this.#planCompletion(type.ofType, nodes) };
    if (isLeafType(type)) return { kind: 'leaf', isNonNull, type };
    const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const plans = new Map<GraphQLObjectType, SelectionPlan>();
    const selectionOf = (objectType: GraphQLObjectType) => {
      const plan = plans.get(objectType) ?? this.#planSelection(objectType, selectionSets);
      plans.set(objectType, plan);
      return plan;
    };
    if (isAbstractType(type)) return { kind: 'abstract', isNonNull, type, selectionOf };
    return { kind: 'object', isNonNull, type, selectionOf };
  }
}

/** Whether a fragment applies to an object type. */
export function applies(
  schema: GraphQLSchema,
  { typeCondition: condition }: InlineFragmentNode | FragmentDefinitionNode,
  type: GraphQLObjectType,
): boolean {
  if (!condition || condition.name.value === type.name) return true;
  const named = schema.getType(condition.name.value);
  return isAbstractType(named) && schema.isSubType(named, type);
}

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
function orVariablesInvalid<T>(coerce: () => T): T {
  try {
    return coerce();
  } catch (error) {
    throw error instanceof GraphQLError ? requestError('VARIABLES_INVALID', undefined, error) : error;
  }
}
