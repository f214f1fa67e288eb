import {
  BreakingChangeType,
  buildASTSchema,
  DangerousChangeType,
  type DocumentNode,
  findSchemaChanges,
  type GraphQLSchema,
  isAbstractType,
  isInputObjectType,
  OperationTypeNode,
} from 'graphql';
import { hasElement, isForDocuments } from './elements.ts';
import { dropRemoved } from './removed-elements.ts';

/** A change that clients can notice, and the coordinate of the element, such as `Query.posts(order:)`. */
export interface SchemaChange {
  coordinate: string;
  description: string;
}

/** The changes that break documents or the code of clients, except removals of elements that `released` deprecates. */
export function findBreakingChanges(released: DocumentNode, current: GraphQLSchema): SchemaChange[] {
  const promised = dropRemoved(released, current);
  const found = findSchemaChanges(promised, current).filter(({ type }) => type in BreakingChangeType);
  return [
    ...found.flatMap(({ description }) => locate(description, promised, current)),
    ...findRemovedOperations(promised, current),
    ...findNewOneOfs(promised, current),
  ];
}

/**
 * The changes that documents survive, but maybe not the code of clients: for example a `switch` over the values of an
 * enum, or over the types of an interface.
 */
export function findDangerousChanges(released: DocumentNode, current: GraphQLSchema): SchemaChange[] {
  const schema = toSchema(released);
  const found = findSchemaChanges(schema, current).filter(({ type }) => type in DangerousChangeType && !isOfType(type));
  return [
    ...found.flatMap(({ description }) => locate(description, schema, current)),
    ...findNewPossibleTypes(schema, current),
  ];
}

function toSchema(document: DocumentNode): GraphQLSchema {
  return buildASTSchema(document, { assumeValid: true });
}

/** findNewPossibleTypes finds these changes, and also new types that implement an interface. */
function isOfType(change: string): boolean {
  return (
    change === DangerousChangeType.TYPE_ADDED_TO_UNION || change === DangerousChangeType.IMPLEMENTED_INTERFACE_ADDED
  );
}

/** A change has only a description. Its first word that is a coordinate names the element. */
function locate(description: string, released: GraphQLSchema, current: GraphQLSchema): SchemaChange[] {
  const words = description.match(/@?\w+(\.\w+)?(\(\w+:\))?/g) ?? [];
  const coordinate = words.find((word) => hasElement(released, word) || hasElement(current, word));
  if (coordinate === undefined) throw new Error(`The change names no element of the schema: ${description}`);
  return isForDocuments(released, coordinate) ? [{ coordinate, description }] : [];
}

function findNewPossibleTypes(released: GraphQLSchema, current: GraphQLSchema): SchemaChange[] {
  return Object.values(released.getTypeMap()).flatMap((type) => {
    const now = current.getType(type.name);
    if (!isAbstractType(type) || !isAbstractType(now)) return [];
    const earlier = new Set(released.getPossibleTypes(type).map(({ name }) => name));
    const added = current.getPossibleTypes(now).filter(({ name }) => !earlier.has(name));
    return added.map(({ name }) => ({ coordinate: name, description: `${name} was added to the types of ${type}.` }));
  });
}

function findRemovedOperations(released: GraphQLSchema, current: GraphQLSchema): SchemaChange[] {
  return Object.values(OperationTypeNode).flatMap((operation) => {
    const type = released.getRootType(operation);
    if (!type || current.getRootType(operation)) return [];
    return [{ coordinate: type.name, description: `${type} is no longer the type of a ${operation}.` }];
  });
}

function findNewOneOfs(released: GraphQLSchema, current: GraphQLSchema): SchemaChange[] {
  return Object.values(released.getTypeMap()).flatMap((type) => {
    const now = current.getType(type.name);
    const isNew = isInputObjectType(type) && isInputObjectType(now) && now.isOneOf && !type.isOneOf;
    return isNew ? [{ coordinate: type.name, description: `${type} accepts exactly one of its fields.` }] : [];
  });
}
