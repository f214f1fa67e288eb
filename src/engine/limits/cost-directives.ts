import {
  type ConstDirectiveNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  valueFromASTUntyped,
} from 'graphql';

/** The facts of a field's definition that its cost depends on. */
export interface CostDirectives {
  weight: number;
  isList: boolean;
  listSize: { assumedSize?: number; slicingArguments?: string[]; sizedFields?: string[] };
  /** The name of the work that fields of one object share (`@sharedCost`). */
  sharedWork: string | undefined;
  offset: { pageArgument: string; limitArgument: string; itemsPerUnit: number } | undefined;
  /** The default values of the arguments. */
  defaults: Readonly<Record<string, unknown>>;
}

const byField = new WeakMap<GraphQLField<unknown, unknown>, CostDirectives>();

/** The directives of schema.graphql are read once for each field. */
export function costDirectivesOf(field: GraphQLField<unknown, unknown>): CostDirectives {
  const known = byField.get(field) ?? readDirectives(field);
  byField.set(field, known);
  return known;
}

function readDirectives(field: GraphQLField<unknown, unknown>): CostDirectives {
  const type = getNamedType(field.type);
  const weight = readDirective<Weight>(field, 'cost') ?? readDirective<Weight>(type, 'cost');
  return {
    weight: Number(weight?.weight ?? (isCompositeType(type) ? 1 : 0)),
    isList: isListType(getNullableType(field.type)),
    listSize: readDirective(field, 'listSize') ?? {},
    sharedWork: readDirective<{ work: string }>(field, 'sharedCost')?.work,
    offset: readDirective(field, 'offsetCost'),
    defaults: Object.fromEntries(field.args.map((argument) => [argument.name, readDefault(argument)])),
  };
}

interface Weight {
  weight: string;
}

/** The weight of an argument or an input field. */
export function weightOf(input: GraphQLArgument | GraphQLInputField): number {
  return Number(readDirective<Weight>(input, 'cost')?.weight ?? 0);
}

function readDefault({ default: standard }: GraphQLArgument): unknown {
  if (!standard) return undefined;
  return 'value' in standard ? standard.value : standard.literal && valueFromASTUntyped(standard.literal);
}

interface Annotated {
  astNode?: { readonly directives?: readonly ConstDirectiveNode[] | undefined } | null | undefined;
}

function readDirective<Arguments>({ astNode }: Annotated, name: string): Arguments | undefined {
  const directive = astNode?.directives?.find((node) => node.name.value === name);
  if (!directive) return undefined;
  const given = directive.arguments ?? [];
  return Object.fromEntries(given.map((node) => [node.name.value, valueFromASTUntyped(node.value)])) as Arguments;
}
