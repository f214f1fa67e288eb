import {
  type GraphQLInputType,
  type GraphQLNamedInputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInputType,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';

/** A variable whose type contains deprecated elements. */
export interface DeprecatedInput {
  name: string;
  type: GraphQLNamedInputType;
}

/** The variables that could use deprecated elements: input fields and enum values. */
export function findDeprecatedInputs(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[] = [],
): DeprecatedInput[] {
  return definitions.flatMap(({ variable, type: node }) => {
    const type = typeFromAST(schema, node);
    const isRelevant = isInputType(type) && containsDeprecated(getNamedType(type));
    return isRelevant ? { name: variable.name.value, type: getNamedType(type) } : [];
  });
}

function containsDeprecated(type: GraphQLNamedInputType): boolean {
  const types = new Set([type]);
  // A set is iterated in the order of insertion, and includes what is added meanwhile.
  for (const { elements, used } of types.values().map(inspect)) {
    if (elements.some(isDeprecated)) return true;
    for (const each of used) types.add(each);
  }
  return false;
}

function inspect(type: GraphQLNamedInputType): { elements: readonly Deprecable[]; used: GraphQLNamedInputType[] } {
  if (isEnumType(type)) return { elements: type.getValues(), used: [] };
  const elements = isInputObjectType(type) ? Object.values(type.getFields()) : [];
  return { elements, used: elements.map((field) => getNamedType(field.type)) };
}

interface Deprecable {
  deprecationReason?: string | null | undefined;
}

function isDeprecated(element: Deprecable | null | undefined): boolean {
  return typeof element?.deprecationReason === 'string';
}

/** Adds the coordinates of the deprecated elements in a value that has been coerced to its type without errors. */
export function addDeprecated(value: unknown, type: GraphQLInputType, coordinates: Set<string>): void {
  const named = getNamedType(type);
  if (Array.isArray(value)) for (const item of value) addDeprecated(item, named, coordinates);
  else if (isEnumType(named)) addIfDeprecated(named.getValue(String(value)), coordinates);
  else if (isInputObjectType(named) && typeof value === 'object' && value !== null) {
    for (const [name, own] of Object.entries(value)) {
      const field = named.getFields()[name];
      addIfDeprecated(field, coordinates);
      if (field) addDeprecated(own, field.type, coordinates);
    }
  }
}

/** String() of an element of a schema returns its coordinate, such as `Query.posts(order:)`. */
export function addIfDeprecated(element: Deprecable | null | undefined, coordinates: Set<string>): void {
  if (isDeprecated(element)) coordinates.add(String(element));
}
