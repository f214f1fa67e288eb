import {
  type ASTNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  TypeInfo,
  type ValidatedExecutionArgs,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { type Annotated, readDirective } from '../read-directive.ts';
import { addIfDeprecated } from './deprecated-elements.ts';

/** How long an answer may be cached, in seconds, and whether shared caches may store it. */
export interface CachePolicy {
  maxAge: number;
  isPublic: boolean;
}

/** The arguments of one `@cacheControl` directive. */
interface CacheHint {
  maxAge?: number;
  scope?: 'PUBLIC' | 'PRIVATE';
}

/** Facts about the fields that an operation selects anywhere. */
export interface SelectedFields {
  cachePolicy: CachePolicy;
  /**
   * Whether it selects `Room.cursor` or `User.cursor`. Such an operation must not read data that is older than the cursor. A query and an
   * event therefore read everything from one snapshot of the database, and a mutation takes the positions of rooms from
   * a snapshot before its changes.
   */
  hasCursor: boolean;
  /** Whether it selects `Post.body`. Otherwise posts are read without their bodies, which have up to 80 kB each. */
  hasPostBody: boolean;
  /** The coordinates of the deprecated elements that the document uses: fields, arguments, input fields, enum values. */
  deprecated: ReadonlySet<string>;
}

/** Visits the operation and each of its fragments once, however often a fragment is spread. */
export function inspectFields({ schema, operation, fragmentDefinitions }: ValidatedExecutionArgs): SelectedFields {
  const hints: (CacheHint | undefined)[] = [];
  const names = new Set<string>();
  const deprecated = new Set<string>();
  const nodes = new Set<ASTNode>([operation]);
  for (const node of nodes) {
    const typeInfo = new TypeInfo(schema);
    const addTypeHint = () => void hints.push(findHint(getNamedType(typeInfo.getType()) ?? {}));
    const visitor = visitWithTypeInfo(typeInfo, {
      Field() {
        const [parent, field] = [typeInfo.getParentType(), typeInfo.getFieldDef()];
        if (!parent || !field) return;
        names.add(`${parent.name}.${field.name}`);
        hints.push(findFieldHint(schema, parent, field));
        addIfDeprecated(field, deprecated);
      },
      Argument: () => addIfDeprecated(typeInfo.getArgument(), deprecated),
      ObjectField({ name }) {
        const type = getNamedType(typeInfo.getParentInputType());
        if (isInputObjectType(type)) addIfDeprecated(type.getFields()[name.value], deprecated);
      },
      EnumValue: () => addIfDeprecated(typeInfo.getEnumValue(), deprecated),
      InlineFragment: addTypeHint,
      FragmentDefinition: addTypeHint,
      FragmentSpread({ name }) {
        const fragment: FragmentDefinitionNode | undefined = fragmentDefinitions[name.value];
        // A set is iterated in the order of insertion, and includes what is added meanwhile.
        if (fragment) nodes.add(fragment);
      },
    });
    visit(node, visitor);
  }
  return {
    cachePolicy: restrict(hints.filter((hint) => hint !== undefined)),
    hasCursor: names.has('Room.cursor') || names.has('User.cursor'),
    hasPostBody: names.has('Post.body'),
    deprecated,
  };
}

/** The most restrictive of all hints that apply to an operation. */
function restrict(hints: readonly CacheHint[]): CachePolicy {
  const maxAges = hints.flatMap(({ maxAge }) => maxAge ?? []);
  return {
    // An answer without any hint is not cacheable.
    maxAge: maxAges.length === 0 ? 0 : Math.min(...maxAges),
    isPublic: hints.every(({ scope }) => scope !== 'PRIVATE'),
  };
}

/** A field's own hint takes precedence over the hint of its type. A root field without either is not cacheable. */
function findFieldHint(
  schema: GraphQLSchema,
  parent: GraphQLNamedType,
  field: GraphQLField<unknown, unknown>,
): CacheHint | undefined {
  if (field.name.startsWith('__')) return undefined;
  const hint = findHint(field) ?? findHint(getNamedType(field.type));
  return hint ?? (parent === schema.getQueryType() ? { maxAge: 0 } : undefined);
}

/** The hint of a field or of a type. */
function findHint(element: Annotated): CacheHint | undefined {
  return readDirective<CacheHint>(element, 'cacheControl');
}
