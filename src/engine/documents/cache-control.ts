import {
  type DirectiveNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getDirectiveValues,
  getNamedType,
} from 'graphql';

/** How long an answer may be cached, in seconds, and whether shared caches may store it. */
export interface CachePolicy {
  maxAge: number;
  isPublic: boolean;
}

/** The arguments of one `@cacheControl` directive. */
export interface CacheHint {
  maxAge?: number;
  scope?: 'PUBLIC' | 'PRIVATE';
}

/** The most restrictive of all hints that apply to an operation. */
export function restrict(hints: readonly CacheHint[]): CachePolicy {
  const maxAges = hints.flatMap(({ maxAge }) => maxAge ?? []);
  return {
    // An answer without any hint is not cacheable.
    maxAge: maxAges.length === 0 ? 0 : Math.min(...maxAges),
    isPublic: hints.every(({ scope }) => scope !== 'PRIVATE'),
  };
}

/** A field's own hint takes precedence over the hint of its type. A root field without either is not cacheable. */
export function findFieldHint(
  schema: GraphQLSchema,
  parent: GraphQLObjectType | GraphQLNamedType,
  field: GraphQLField<unknown, unknown>,
): CacheHint | undefined {
  if (field.name.startsWith('__')) return undefined;
  const hint = findHint(schema, field) ?? findHint(schema, getNamedType(field.type));
  return hint ?? (parent === schema.getQueryType() ? { maxAge: 0 } : undefined);
}

interface Annotated {
  astNode?: { readonly directives?: readonly DirectiveNode[] | undefined } | null | undefined;
}

/** The hint of a field or of a type. */
export function findHint(schema: GraphQLSchema, { astNode }: Annotated): CacheHint | undefined {
  const directive = schema.getDirective('cacheControl');
  return directive && astNode ? getDirectiveValues(directive, astNode) : undefined;
}
