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

/** How long an answer may be used again, in seconds, and whether by anyone. */
export interface CachePolicy {
  maxAge: number;
  isPublic: boolean;
}

/** What `@cacheControl` says in one place. */
interface Hint {
  maxAge?: number;
  scope?: 'PUBLIC' | 'PRIVATE';
}

const known = new WeakMap<OperationDefinitionNode, CachePolicy>();

/** What `@cacheControl` says of all that an operation selects: the most restrictive wins. Worked out once a document. */
export function findCachePolicy(args: ValidatedExecutionArgs): CachePolicy {
  const policy = known.get(args.operation) ?? restrict(collectHints(args));
  known.set(args.operation, policy);
  return policy;
}

function restrict(hints: readonly Hint[]): CachePolicy {
  const maxAges = hints.flatMap(({ maxAge }) => maxAge ?? []);
  return {
    // What nothing is said of is as old as it is asked for.
    maxAge: maxAges.length === 0 ? 0 : Math.min(...maxAges),
    isPublic: hints.every(({ scope }) => scope !== 'PRIVATE'),
  };
}

/** The operation and each of its fragments is looked at once, whatever spreads it. */
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

/** A field's own hint counts before its type's; a root field without either is not kept at all. */
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
