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

function containsDeprecated(type: GraphQLNamedInputType, visited = new Set<GraphQLNamedInputType>()): boolean {
  if (isEnumType(type)) return type.getValues().some(isDeprecated);
  if (!isInputObjectType(type) || visited.has(type)) return false;
  visited.add(type);
  const fields = Object.values(type.getFields());
  return fields.some((field) => isDeprecated(field) || containsDeprecated(getNamedType(field.type), visited));
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
