import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedOutputType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  type InlineFragmentNode,
  isCompositeType,
  isInputObjectType,
  isListType,
  isObjectType,
  Kind,
  type SelectionSetNode,
  type ValidatedExecutionArgs,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql';
import { applies } from '../execution/plan.ts';
import { readDirective } from '../read-directive.ts';

/** The cost of an operation with its coerced variables. `isFixed`: it is the same with all variables. */
export function costOf(args: ValidatedExecutionArgs): { cost: number; isFixed: boolean } {
  const { schema, operation } = args;
  const root = schema.getRootType(operation.operation);
  const costs = new OperationCost(args);
  const cost = root ? costs.selectionCost(operation.selectionSet, root) : 0;
  return { cost, isFixed: !costs.hasReadVariable };
}

const unknownListSize = 10;
const maxListSize = 1_000;
const mutationWeight = 10;

/** The size of the lists that a field names in `@listSize(sizedFields:)`. */
interface SizedLists {
  names: readonly string[];
  size: number;
}

/**
 * The cost of an operation by IBM's cost directives. An object weighs 1, a leaf 0, and a mutation 10 more. `@cost`
 * overrides the weight, and adds the weight of each given argument or input field. A list multiplies by its slicing
 * argument, clamped to 1 … 1,000, so that no cost is negative. Two directives of Postroom are applied as well:
 * `@sharedCost` and `@offsetCost`, described in schema.graphql. The time is proportional to the size of the operation
 * with its fragments spread, which is limited before.
 */
class OperationCost {
  readonly #args: ValidatedExecutionArgs;
  /** Whether a value that the cost depends on contains a variable. */
  hasReadVariable = false;

  constructor(args: ValidatedExecutionArgs) {
    this.#args = args;
  }

  selectionCost(selectionSet: SelectionSetNode, type: GraphQLObjectType, sizedLists?: SizedLists): number {
    const shared = new Map<string, number>();
    let cost = 0;
    for (const node of this.#collectFields(selectionSet, type)) {
      const field = type.getFields()[node.name.value];
      const definition = field && costDefinitionOf(field);
      // A separate rule limits introspection.
      const own = definition ? this.#fieldCost(definition, node, type, sizedLists) : 1;
      const work = definition?.sharedWork;
      if (work === undefined) cost += own;
      else shared.set(work, Math.max(shared.get(work) ?? 0, own));
    }
    return cost + total([...shared.values()]);
  }

  /** The selected fields. A fragment counts once in a selection, however often it is spread there. */
  #collectFields(
    { selections }: SelectionSetNode,
    type: GraphQLObjectType,
    opened = new Set<FragmentDefinitionNode | InlineFragmentNode>(),
  ): FieldNode[] {
    const { schema, fragmentDefinitions } = this.#args;
    return selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection];
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragmentDefinitions[selection.name.value] : selection;
      if (!fragment || opened.has(fragment) || !applies(schema, fragment, type)) return [];
      opened.add(fragment);
      return this.#collectFields(fragment.selectionSet, type, opened);
    });
  }

  #fieldCost(
    definition: CostDefinition,
    node: FieldNode,
    parent: GraphQLObjectType,
    sizedLists: SizedLists | undefined,
  ): number {
    const { field, isList, sizedFields } = definition;
    const size = this.#listSize(definition, node);
    const ownLength = sizedFields ? unknownListSize : size;
    const length = !isList ? 1 : sizedLists?.names.includes(field.name) ? sizedLists.size : ownLength;
    const weight = definition.weight + (parent === this.#args.schema.getMutationType() ? mutationWeight : 0);
    const children = this.#childrenCost(definition, node, sizedFields && { names: sizedFields, size });
    return this.#argumentsCost(definition, node) + this.#offsetCost(definition, node) + length * (weight + children);
  }

  /** An abstract type costs as much as its most expensive member. */
  #childrenCost({ type }: CostDefinition, { selectionSet }: FieldNode, sizedLists: SizedLists | undefined): number {
    if (!selectionSet || !isCompositeType(type)) return 0;
    if (isObjectType(type)) return this.selectionCost(selectionSet, type, sizedLists);
    const members = this.#args.schema.getPossibleTypes(type);
    return Math.max(0, ...members.map((member) => this.selectionCost(selectionSet, member, sizedLists)));
  }

  /** The largest slicing argument, from a literal, a variable or a default. */
  #listSize(definition: CostDefinition, node: FieldNode): number {
    const { slicingArguments, assumedSize = unknownListSize } = definition;
    const given = slicingArguments.map((name) => this.#readArgument(definition, node, name));
    const sizes = given.filter((value) => typeof value === 'number');
    return clampSize(sizes.length > 0 ? Math.max(...sizes) : assumedSize);
  }

  /** The database skips the items before a page one by one. */
  #offsetCost(definition: CostDefinition, node: FieldNode): number {
    const { offset } = definition;
    if (!offset) return 0;
    const page = Number(this.#readArgument(definition, node, offset.pageArgument));
    const limit = clampSize(Number(this.#readArgument(definition, node, offset.limitArgument)));
    return Math.max(0, Math.floor(((page - 1) * limit) / offset.itemsPerUnit));
  }

  #readArgument({ defaults }: CostDefinition, node: FieldNode, name: string): unknown {
    const given = node.arguments?.find((argument) => argument.name.value === name)?.value;
    return (given && this.#readValue(given)) ?? defaults[name];
  }

  #argumentsCost({ weightedArguments }: CostDefinition, { arguments: given = [] }: FieldNode): number {
    const costs = given.map(({ name, value }) => {
      const argument = weightedArguments.get(name.value);
      return argument ? costOfInput(argument, this.#readValue(value)) : 0;
    });
    return total(costs);
  }

  #readValue(value: ValueNode): unknown {
    this.hasReadVariable ||= containsVariable(value);
    return valueFromASTUntyped(value, this.#args.variableValues.coerced);
  }
}

function containsVariable(value: ValueNode): boolean {
  if (value.kind === Kind.LIST) return value.values.some(containsVariable);
  if (value.kind === Kind.OBJECT) return value.fields.some((field) => containsVariable(field.value));
  return value.kind === Kind.VARIABLE;
}

/** The weights of the given value of an argument or input field; null weighs nothing. */
function costOfInput(input: GraphQLArgument | GraphQLInputField, value: unknown): number {
  if (value == null) return 0;
  if (Array.isArray(value)) return total(value.map((item) => costOfInput(input, item)));
  const type = getNamedType(input.type);
  if (!isInputObjectType(type)) return weightOf(input);
  const fields = type.getFields();
  const inner = Object.entries(value).map(([name, given]) => {
    const field = fields[name];
    return field ? costOfInput(field, given) : 0;
  });
  return weightOf(input) + total(inner);
}

function clampSize(size: number): number {
  return Math.min(Math.max(size, 1), maxListSize);
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** What the schema and its cost directives state about a field. */
interface CostDefinition extends ListSize {
  field: GraphQLField<unknown, unknown>;
  type: GraphQLNamedOutputType;
  weight: number;
  isList: boolean;
  slicingArguments: readonly string[];
  /** The name of the work that fields of one object share (`@sharedCost`). */
  sharedWork: string | undefined;
  offset: { pageArgument: string; limitArgument: string; itemsPerUnit: number } | undefined;
  /** The default values of the arguments. */
  defaults: Readonly<Record<string, unknown>>;
  /** The arguments whose values can weigh something, by name. */
  weightedArguments: ReadonlyMap<string, GraphQLArgument>;
}

interface ListSize {
  assumedSize?: number;
  slicingArguments?: readonly string[];
  sizedFields?: readonly string[];
}

interface Weight {
  weight: string;
}

const definitions = new WeakMap<GraphQLField<unknown, unknown>, CostDefinition>();

/** Reads the directives of a field once. */
function costDefinitionOf(field: GraphQLField<unknown, unknown>): CostDefinition {
  const definition = definitions.get(field) ?? readDefinition(field);
  definitions.set(field, definition);
  return definition;
}

function readDefinition(field: GraphQLField<unknown, unknown>): CostDefinition {
  const type = getNamedType(field.type);
  const weight = readDirective<Weight>(field, 'cost') ?? readDirective<Weight>(type, 'cost');
  return {
    field,
    type,
    weight: Number(weight?.weight ?? (isCompositeType(type) ? 1 : 0)),
    isList: isListType(getNullableType(field.type)),
    slicingArguments: [],
    ...readDirective<ListSize>(field, 'listSize'),
    sharedWork: readDirective<{ work: string }>(field, 'sharedCost')?.work,
    offset: readDirective(field, 'offsetCost'),
    defaults: Object.fromEntries(field.args.map((argument) => [argument.name, readDefault(argument)])),
    weightedArguments: new Map(field.args.filter((argument) => isWeighted(argument)).map((each) => [each.name, each])),
  };
}

/** Whether the input or a part of it has a weight. */
function isWeighted(input: GraphQLArgument | GraphQLInputField, visited = new Set<unknown>()): boolean {
  if (weightOf(input) !== 0) return true;
  const type = getNamedType(input.type);
  if (!isInputObjectType(type) || visited.has(type)) return false;
  visited.add(type);
  return Object.values(type.getFields()).some((field) => isWeighted(field, visited));
}

/** The weight of an argument or an input field. */
function weightOf(input: GraphQLArgument | GraphQLInputField): number {
  return Number(readDirective<Weight>(input, 'cost')?.weight ?? 0);
}

function readDefault({ default: standard }: GraphQLArgument): unknown {
  if (!standard) return undefined;
  return 'value' in standard ? standard.value : standard.literal && valueFromASTUntyped(standard.literal);
}
