import {
  type ConstDirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
  valueFromASTUntyped,
  visit,
} from 'graphql';

/** Computes the cost of an operation from its coerced variables. */
export type Cost = (variables: Readonly<Record<string, unknown>>) => number;

/** The lists that a field names in `@listSize(sizedFields:)`, with their sizes. */
type Sizes = ReadonlyMap<string, Cost>;

const unknownListSize = 10;
const maxListSize = 1_000;
const mutationWeight = 10;
const noSizes: Sizes = new Map();

/**
 * Compiles the cost of an operation by IBM's cost directives. An object weighs 1, a leaf 0, and a mutation 10 more.
 * `@cost` overrides the weight, and adds the weight of each given argument or input field. A list multiplies by its
 * slicing argument, clamped to 1 … 1,000, so that no cost is negative. Two directives of Postroom are applied as well:
 * `@sharedCost` and `@offsetCost`, described in schema.graphql.
 */
export function compileCost(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Cost {
  const root = schema.getRootType(operation.operation);
  if (!root) return () => 0;
  return new CostCompiler(schema, document).compileSelection(operation.selectionSet, root, noSizes);
}

class CostCompiler {
  readonly #schema: GraphQLSchema;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #compiled = new Map<FieldNode, { parent: GraphQLObjectType; sizes: Sizes; cost: Cost }[]>();

  constructor(schema: GraphQLSchema, document: DocumentNode) {
    this.#schema = schema;
    this.#fragments = new Map(
      document.definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])),
    );
  }

  compileSelection(selectionSet: SelectionSetNode, type: GraphQLObjectType, sizes: Sizes): Cost {
    const nodes = this.#collectFields(selectionSet, type);
    const works = Map.groupBy(nodes, (node) => sharedWorkOf(type.getFields()[node.name.value]) ?? node);
    const compile = (node: FieldNode) => this.#compileField(node, type, sizes);
    return sum([...works.values()].map((sharing) => maximum(sharing.map(compile))));
  }

  #collectFields({ selections }: SelectionSetNode, type: GraphQLObjectType): FieldNode[] {
    return selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection];
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? this.#fragments.get(selection.name.value) : selection;
      if (!fragment || !this.#applies(fragment.typeCondition?.name.value, type)) return [];
      return this.#collectFields(fragment.selectionSet, type);
    });
  }

  #applies(condition: string | undefined, type: GraphQLObjectType): boolean {
    if (condition === undefined || condition === type.name) return true;
    const named = this.#schema.getType(condition);
    return isAbstractType(named) && this.#schema.isSubType(named, type);
  }

  /**
   * Compiles each field once, however often its fragment is spread, so that the memory grows with the document and not
   * with its expanded size.
   */
  #compileField(node: FieldNode, parent: GraphQLObjectType, sizes: Sizes): Cost {
    const known = this.#compiled.get(node) ?? [];
    const same = known.find((one) => one.parent === parent && one.sizes === sizes);
    if (same) return same.cost;
    const cost = this.#compileFieldAnew(node, parent, sizes);
    this.#compiled.set(node, [...known, { parent, sizes, cost }]);
    return cost;
  }

  #compileFieldAnew(node: FieldNode, parent: GraphQLObjectType, sizes: Sizes): Cost {
    const field = parent.getFields()[node.name.value];
    // A separate rule limits introspection.
    if (!field) return constant(1);
    const weight = weightOf(field) + (parent === this.#schema.getMutationType() ? mutationWeight : 0);
    const size = sizeOf(field, node);
    const isSized = listSizeOf(field)?.sizedFields === undefined;
    const length = isList(field)
      ? (sizes.get(node.name.value) ?? (isSized ? size : constant(unknownListSize)))
      : constant(1);
    const own = multiply(length, add(constant(weight), this.#compileChildren(node, field, size)));
    return sum([compileArguments(field, node), compileOffset(field, node), own]);
  }

  /** An abstract type costs as much as its most expensive member. */
  #compileChildren(node: FieldNode, field: GraphQLField<unknown, unknown>, size: Cost): Cost {
    const type = getNamedType(field.type);
    const selectionSet = node.selectionSet;
    if (!selectionSet || !isCompositeType(type)) return constant(0);
    const sized = listSizeOf(field)?.sizedFields;
    const sizes: Sizes = sized ? new Map(sized.map((name) => [name, size])) : noSizes;
    const members = isObjectType(type) ? [type] : this.#schema.getPossibleTypes(type);
    return maximum(members.map((member) => this.compileSelection(selectionSet, member, sizes)));
  }
}

interface ListSize {
  assumedSize?: number;
  slicingArguments?: string[];
  sizedFields?: string[];
}

function listSizeOf(field: GraphQLField<unknown, unknown>): ListSize | undefined {
  return directiveOf(field, 'listSize');
}

/** The name of the work that fields of one object share (`@sharedCost`), if any. */
function sharedWorkOf(field: GraphQLField<unknown, unknown> | undefined): string | undefined {
  return field && directiveOf<{ work: string }>(field, 'sharedCost')?.work;
}

interface OffsetCost {
  pageArgument: string;
  limitArgument: string;
  itemsPerUnit: number;
}

/** The database skips the items before a page one by one. */
function compileOffset(field: GraphQLField<unknown, unknown>, node: FieldNode): Cost {
  const offset = directiveOf<OffsetCost>(field, 'offsetCost');
  if (!offset) return constant(0);
  const { pageArgument, limitArgument, itemsPerUnit } = offset;
  const readPage = readArgument(field, node, pageArgument);
  const readLimit = readArgument(field, node, limitArgument);
  const cost: Cost = (variables) => {
    const items = (Number(readPage(variables)) - 1) * clampSize(Number(readLimit(variables)));
    return Math.max(0, Math.floor(items / itemsPerUnit));
  };
  return isGivenByVariable(node, [pageArgument, limitArgument]) ? cost : constant(cost({}));
}

function weightOf(field: GraphQLField<unknown, unknown>): number {
  const own =
    directiveOf<{ weight: string }>(field, 'cost') ?? directiveOf<{ weight: string }>(getNamedType(field.type), 'cost');
  return own ? Number(own.weight) : isCompositeType(getNamedType(field.type)) ? 1 : 0;
}

type Input = GraphQLArgument | GraphQLInputField;

/** Weighs the given value of an argument or input field; null weighs nothing. */
type Weigh = (value: unknown) => number;

function compileArguments(field: GraphQLField<unknown, unknown>, node: FieldNode): Cost {
  return sum(
    (node.arguments ?? []).map(({ name, value }) => {
      const argument = field.args.find((one) => one.name === name.value);
      const weigh = argument && compileWeight(argument);
      if (!weigh) return constant(0);
      const cost: Cost = (variables) => weigh(valueFromASTUntyped(value, variables));
      return hasVariables(value) ? cost : constant(cost({}));
    }),
  );
}

/** Undefined if neither the input nor its fields have a weight. A recursive input type is not entered again. */
function compileWeight(input: Input, above: readonly Input[] = []): Weigh | undefined {
  const own = Number(directiveOf<{ weight: string }>(input, 'cost')?.weight ?? 0);
  const type = getNamedType(input.type);
  const fields = isInputObjectType(type) && !above.includes(input) ? Object.values(type.getFields()) : [];
  const inner = fields.flatMap((field) => {
    const weigh = compileWeight(field, [...above, input]);
    return weigh ? [{ name: field.name, weigh }] : [];
  });
  if (own === 0 && inner.length === 0) return undefined;
  const weigh: Weigh = (value) => {
    if (value == null) return 0;
    if (Array.isArray(value)) return total(value.map(weigh));
    const given = value as Record<string, unknown>;
    return own + total(inner.map((field) => field.weigh(given[field.name])));
  };
  return weigh;
}

function hasVariables(node: ValueNode): boolean {
  let has = false;
  visit(node, {
    Variable() {
      has = true;
    },
  });
  return has;
}

interface Annotated {
  astNode?: { readonly directives?: readonly ConstDirectiveNode[] | undefined } | null | undefined;
}

function directiveOf<Arguments>({ astNode }: Annotated, name: string): Arguments | undefined {
  const directive = astNode?.directives?.find((node) => node.name.value === name);
  if (!directive) return undefined;
  const given = directive.arguments ?? [];
  return Object.fromEntries(given.map((node) => [node.name.value, valueFromASTUntyped(node.value)])) as Arguments;
}

/** The largest slicing argument, from a literal, a variable or a default. */
function sizeOf(field: GraphQLField<unknown, unknown>, node: FieldNode): Cost {
  const { slicingArguments = [], assumedSize = unknownListSize } = listSizeOf(field) ?? {};
  const readers = slicingArguments.map((name) => readArgument(field, node, name));
  const size: Cost = (variables) => {
    const given = readers.map((read) => read(variables)).filter((value) => typeof value === 'number');
    const largest = given.length > 0 ? Math.max(...given) : assumedSize;
    return clampSize(largest);
  };
  return isGivenByVariable(node, slicingArguments) ? size : constant(size({}));
}

function clampSize(size: number): number {
  return Math.min(Math.max(size, 1), maxListSize);
}

function isGivenByVariable(node: FieldNode, names: readonly string[]): boolean {
  return (node.arguments ?? []).some(({ name, value }) => value.kind === Kind.VARIABLE && names.includes(name.value));
}

function readArgument(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  name: string,
): (variables: Readonly<Record<string, unknown>>) => unknown {
  const fallback = field.args.find((argument) => argument.name === name)?.default;
  const standard =
    fallback && 'value' in fallback ? fallback.value : fallback?.literal && valueFromASTUntyped(fallback.literal);
  const given = node.arguments?.find((argument) => argument.name.value === name)?.value;
  if (!given) return () => standard;
  if (given.kind !== Kind.VARIABLE) {
    const value = valueFromASTUntyped(given);
    return () => value ?? standard;
  }
  return (variables) => variables[given.name.value] ?? standard;
}

function isList({ type }: GraphQLField<unknown, unknown>): boolean {
  return isListType(isNonNullType(type) ? type.ofType : type);
}

const constants = new WeakMap<Cost, number>();

function constant(value: number): Cost {
  const cost = () => value;
  constants.set(cost, value);
  return cost;
}

function sum(costs: readonly Cost[]): Cost {
  return fold(costs, total);
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function maximum(costs: readonly Cost[]): Cost {
  return fold(costs, (values) => Math.max(0, ...values));
}

function add(left: Cost, right: Cost): Cost {
  return sum([left, right]);
}

function multiply(left: Cost, right: Cost): Cost {
  return fold([left, right], ([first = 0, second = 0]) => first * second);
}

/** Constant if all its parts are constant, so that only operations with sizes in variables are computed per request. */
function fold(costs: readonly Cost[], combine: (values: number[]) => number): Cost {
  const [first] = costs;
  if (first && costs.length === 1) return first;
  if (costs.every((cost) => constants.has(cost)))
    return constant(combine(costs.map((cost) => constants.get(cost) ?? 0)));
  return (variables) => combine(costs.map((cost) => cost(variables)));
}
