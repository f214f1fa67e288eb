import { type GraphQLField, type GraphQLNamedType, type GraphQLSchema, getNamedType } from 'graphql';
import { type Annotated, readDirective } from '../read-directive.ts';

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
  parent: GraphQLNamedType,
  field: GraphQLField<unknown, unknown>,
): CacheHint | undefined {
  if (field.name.startsWith('__')) return undefined;
  const hint = findHint(field) ?? findHint(getNamedType(field.type));
  return hint ?? (parent === schema.getQueryType() ? { maxAge: 0 } : undefined);
}

/** The hint of a field or of a type. */
export function findHint(element: Annotated): CacheHint | undefined {
  return readDirective<CacheHint>(element, 'cacheControl');
}
