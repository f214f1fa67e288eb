import { DirectiveLocation, type GraphQLSchema, resolveSchemaCoordinate } from 'graphql';

/** Whether the schema has the element with this coordinate. */
export function hasElement(schema: GraphQLSchema, coordinate: string): boolean {
  try {
    return resolveSchemaCoordinate(schema, coordinate) !== undefined;
  } catch {
    // The element that would contain it does not exist.
    return false;
  }
}

const documentLocations: ReadonlySet<DirectiveLocation> = new Set([
  DirectiveLocation.QUERY,
  DirectiveLocation.MUTATION,
  DirectiveLocation.SUBSCRIPTION,
  DirectiveLocation.FIELD,
  DirectiveLocation.FRAGMENT_DEFINITION,
  DirectiveLocation.FRAGMENT_SPREAD,
  DirectiveLocation.INLINE_FRAGMENT,
  DirectiveLocation.VARIABLE_DEFINITION,
]);

/** False for a directive that only a schema can use, such as `@cost`, and for its arguments. */
export function isForDocuments(schema: GraphQLSchema, coordinate: string): boolean {
  const [, name] = /^@(\w+)/.exec(coordinate) ?? [];
  if (name === undefined) return true;
  return schema.getDirective(name)?.locations.some((location) => documentLocations.has(location)) ?? false;
}
