import {
  type ASTNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInputType,
  TypeInfo,
  typeFromAST,
  type ValidatedExecutionArgs,
  type VariableDefinitionNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { type Annotated, readDirective } from '../read-directive.ts';

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

/** A variable whose type contains deprecated elements. */
interface DeprecatedInput {
  name: string;
  type: GraphQLNamedInputType;
}

/** Facts about the fields that an operation selects anywhere. */
export interface SelectedFields {
  cachePolicy: CachePolicy;
  /**
   * Whether it selects `Room.cursor` or `User.cursor`. Such an operation must not read data that is older than the cursor. An event
   * therefore reads everything from one snapshot of the database; a query and a mutation take their cursors from a snapshot that
   * is older than all other reads.
   */
  hasCursor: boolean;
  /** Whether it selects `Post.body`. Otherwise posts are read without their bodies, which have up to 80 kB each. */
  hasPostBody: boolean;
  /** The coordinates of the deprecated elements that the document uses: fields, arguments, input fields, enum values. */
  deprecated: ReadonlySet<string>;
  deprecatedInputs: readonly DeprecatedInput[];
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
    deprecatedInputs: findDeprecatedInputs(schema, operation.variableDefinitions),
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

/** The coordinates of the deprecated elements that an execution uses. `variables` are those of a successful `bind`. */
export function findDeprecated(
  { deprecated, deprecatedInputs }: SelectedFields,
  variables: Readonly<Record<string, unknown>> = {},
): ReadonlySet<string> {
  if (deprecatedInputs.length === 0) return deprecated;
  const coordinates = new Set(deprecated);
  for (const { name, type } of deprecatedInputs) addDeprecated(variables[name], type, coordinates);
  return coordinates;
}

/** The variables that could use deprecated elements: input fields and enum values. */
function findDeprecatedInputs(
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
function addDeprecated(value: unknown, type: GraphQLInputType, coordinates: Set<string>): void {
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
function addIfDeprecated(element: Deprecable | null | undefined, coordinates: Set<string>): void {
  if (isDeprecated(element)) coordinates.add(String(element));
}
