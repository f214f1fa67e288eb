import {
  type ASTNode,
  type DirectiveNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getDirectiveValues,
  getNamedType,
  type OperationDefinitionNode,
  TypeInfo,
  type ValidatedExecutionArgs,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** How long an answer may be cached, in seconds, and whether shared caches may store it. */
export interface CachePolicy {
  maxAge: number;
  isPublic: boolean;
}

/** The arguments of one `@cacheControl` directive. */
interface Hint {
  maxAge?: number;
  scope?: 'PUBLIC' | 'PRIVATE';
}

const known = new WeakMap<OperationDefinitionNode, CachePolicy>();

/** The most restrictive of all `@cacheControl` hints that apply to an operation. It is computed once per operation. */
export function findCachePolicy(args: ValidatedExecutionArgs): CachePolicy {
  const policy = known.get(args.operation) ?? restrict(collectHints(args));
  known.set(args.operation, policy);
  return policy;
}

function restrict(hints: readonly Hint[]): CachePolicy {
  const maxAges = hints.flatMap(({ maxAge }) => maxAge ?? []);
  return {
    // An answer without any hint is not cacheable.
    maxAge: maxAges.length === 0 ? 0 : Math.min(...maxAges),
    isPublic: hints.every(({ scope }) => scope !== 'PRIVATE'),
  };
}

/** Visits the operation and each of its fragments once, however often a fragment is spread. */
function collectHints({ schema, operation, fragmentDefinitions }: ValidatedExecutionArgs): Hint[] {
  const hints: Hint[] = [];
  const spread = new Set<FragmentDefinitionNode>();
  const look = (node: ASTNode) => {
    const typeInfo = new TypeInfo(schema);
    const visitor = visitWithTypeInfo(typeInfo, {
      Field: () => void hints.push(...hintsOfField(schema, typeInfo)),
      InlineFragment: () => void hints.push(...hintsOf(schema, getNamedType(typeInfo.getType()))),
      FragmentDefinition: () => void hints.push(...hintsOf(schema, getNamedType(typeInfo.getType()))),
      FragmentSpread({ name }) {
        const fragment = fragmentDefinitions[name.value];
        if (fragment) spread.add(fragment);
      },
    });
    visit(node, visitor);
  };
  look(operation);
  for (const fragment of spread) look(fragment);
  return hints;
}

/** A field's own hint takes precedence over the hint of its type. A root field without either is not cacheable. */
function hintsOfField(schema: GraphQLSchema, typeInfo: TypeInfo): Hint[] {
  const field = typeInfo.getFieldDef();
  if (!field || field.name.startsWith('__')) return [];
  const own = hintsOf(schema, field);
  const hints = own.length > 0 ? own : hintsOf(schema, getNamedType(field.type));
  return hints.length === 0 && typeInfo.getParentType() === schema.getQueryType() ? [{ maxAge: 0 }] : hints;
}

interface Annotated {
  astNode?: { readonly directives?: readonly DirectiveNode[] | undefined } | null | undefined;
}

function hintsOf(schema: GraphQLSchema, place: Annotated | undefined): Hint[] {
  const directive = schema.getDirective('cacheControl');
  const values = directive && place?.astNode ? getDirectiveValues(directive, place.astNode) : undefined;
  return values ? [values] : [];
}
