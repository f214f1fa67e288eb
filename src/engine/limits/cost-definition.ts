import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedOutputType,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInputObjectType,
  isListType,
  valueFromASTUntyped,
} from 'graphql';
import { readDirective } from '../read-directive.ts';

/** What the schema and its cost directives state about a field. */
export interface CostDefinition extends ListSize {
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
export function costDefinitionOf(field: GraphQLField<unknown, unknown>): CostDefinition {
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
export function weightOf(input: GraphQLArgument | GraphQLInputField): number {
  return Number(readDirective<Weight>(input, 'cost')?.weight ?? 0);
}

function readDefault({ default: standard }: GraphQLArgument): unknown {
  if (!standard) return undefined;
  return 'value' in standard ? standard.value : standard.literal && valueFromASTUntyped(standard.literal);
}
