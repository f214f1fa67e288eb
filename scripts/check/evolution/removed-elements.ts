import {
  type ASTNode,
  type ASTVisitFn,
  buildASTSchema,
  type DocumentNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  type InputValueDefinitionNode,
  isAbstractType,
  isTypeDefinitionNode,
  OperationTypeNode,
  visit,
} from 'graphql';
import { hasElement } from './elements.ts';

/**
 * The released schema without the deprecated elements that `current` has removed, and without the types that only these
 * used. What is left must not break.
 */
export function dropRemoved(released: DocumentNode, current: GraphQLSchema): GraphQLSchema {
  const drop: ASTVisitFn<Deprecable> = (node, _key, _parent, _path, ancestors) =>
    isDeprecated(node) && !hasElement(current, coordinateOf(node, ancestors)) ? null : undefined;
  const remaining = visit(released, { FieldDefinition: drop, InputValueDefinition: drop, EnumValueDefinition: drop });
  const reachable = listReachable(build(remaining));
  const isUsed = (node: ASTNode) => !isTypeDefinitionNode(node) || reachable.has(node.name.value);
  return build({ ...remaining, definitions: remaining.definitions.filter(isUsed) });
}

type Deprecable = FieldDefinitionNode | InputValueDefinitionNode | EnumValueDefinitionNode;

function isDeprecated({ directives }: Deprecable): boolean {
  return directives?.some(({ name }) => name.value === 'deprecated') ?? false;
}

function coordinateOf(node: Deprecable, ancestors: readonly (ASTNode | readonly ASTNode[])[]): string {
  const parents = ancestors.flatMap((ancestor) => ('name' in ancestor && ancestor.name ? ancestor.name.value : []));
  const [type, member, argument] = [...parents, node.name.value];
  return argument === undefined ? `${type}.${member}` : `${type}.${member}(${argument}:)`;
}

/** Without validation: a type whose fields were all removed is empty until it is removed itself. */
function build(document: DocumentNode): GraphQLSchema {
  return buildASTSchema(document, { assumeValid: true, assumeValidSDL: true });
}

/** The names of the types that a document can use. */
function listReachable(schema: GraphQLSchema): Set<string> {
  const types = new Set<GraphQLNamedType>();
  const add = (type: GraphQLNamedType | null | undefined) => type && types.add(type);
  for (const operation of Object.values(OperationTypeNode)) add(schema.getRootType(operation));
  for (const { args } of schema.getDirectives()) for (const { type } of args) add(getNamedType(type));
  // A set is iterated in the order of insertion, and includes what is added meanwhile.
  for (const type of types) for (const used of listUsed(schema, type)) add(used);
  return new Set(types.values().map(({ name }) => name));
}

function listUsed(schema: GraphQLSchema, type: GraphQLNamedType): GraphQLNamedType[] {
  const fields: readonly Field[] = 'getFields' in type ? Object.values(type.getFields()) : [];
  return [
    ...fields
      .flatMap(({ type: own, args = [] }) => [own, ...args.map((arg) => arg.type)])
      .map((used) => getNamedType(used)),
    ...('getInterfaces' in type ? type.getInterfaces() : []),
    ...(isAbstractType(type) ? schema.getPossibleTypes(type) : []),
  ];
}

interface Field {
  type: GraphQLType;
  /** Undefined in an input type. */
  args?: readonly { type: GraphQLType }[];
}
