import { readFileSync } from 'node:fs';
import { type GraphQLObjectType, type GraphQLSchema, isAbstractType, isObjectType } from 'graphql';
import { createSchema } from 'graphql-yoga';
import { postColumns, publicUserColumns, roomColumns } from '../data/tables.ts';
import { ClientError } from '../errors.ts';
import type { Context } from '../resolvers/context.ts';
import type { LoadedExtension } from '../resolvers/extensions/extension.ts';
import { resolversOf } from '../resolvers/extensions/resolvers.ts';
import { resolvers } from '../resolvers/resolvers.ts';
import { findProblems } from './extensions/problems.ts';

export const schemaFile = new URL('../../schema.graphql', import.meta.url);

/** The types whose fields are checked at the start, with those that need no resolver. The compiler checks all types. */
const checkedTypes = { Query: [], Mutation: [], User: publicUserColumns, Room: roomColumns, Post: postColumns };

/**
 * schema.graphql wired to its resolvers, with the types of extensions. @throws Error where the two disagree, or AggregateError of
 * ClientErrors for the operator, with all problems of the extensions.
 */
export function loadSchema(extensions: readonly LoadedExtension[] = []): GraphQLSchema {
  const schema = build([]);
  for (const [type, columns] of Object.entries(checkedTypes)) {
    const answered = [...columns, ...Object.keys(resolvers[type as keyof typeof checkedTypes])];
    const fields = Object.keys((schema.getType(type) as GraphQLObjectType).getFields());
    const missing = fields.find((field) => !answered.includes(field));
    if (missing) throw new Error(`Resolver missing for "${type}.${missing}"`);
  }
  if (extensions.length === 0) return schema;
  try {
    const problems = findProblems(extensions, schema).map((problem) => new ClientError('VALIDATION_ERROR', problem));
    if (problems.length > 0) throw new AggregateError(problems);
    return build(extensions);
  } catch (error) {
    if (error instanceof AggregateError) throw error;
    // Nothing has checked the types of what was imported.
    throw new ClientError('VALIDATION_ERROR', `EXTENSIONS: ${error instanceof Error ? error.message : error}`);
  }
}

/** The object types of each interface and union, for the cache of Apollo Client. */
export function findPossibleTypes(schema: GraphQLSchema): Record<string, string[]> {
  const types = Object.values(schema.getTypeMap()).filter(isAbstractType);
  return Object.fromEntries(types.map((type) => [type.name, schema.getPossibleTypes(type).map(({ name }) => name)]));
}

/** The events of an extension are values of the enum for filters. */
function typesOf({ sdl, events = {} }: LoadedExtension): string[] {
  const names = Object.keys(events);
  return names.length === 0 ? [sdl] : [sdl, `extend enum RoomEventType { ${names.join(' ')} }`];
}

function build(extensions: readonly LoadedExtension[]): GraphQLSchema {
  const schema = createSchema<Context>({
    typeDefs: [readFileSync(schemaFile, 'utf8'), ...extensions.flatMap(typesOf)],
    resolvers: [resolvers, ...extensions.map(resolversOf)],
    resolverValidationOptions: {
      requireResolversToMatchSchema: 'error',
      requireResolversForResolveType: 'error',
    },
  });
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) describeFields(type);
  return schema;
}

/** A field without a description has that of the interface. */
function describeFields(type: GraphQLObjectType): void {
  for (const field of Object.values(type.getFields()))
    for (const { [field.name]: promised } of type.getInterfaces().map((each) => each.getFields()))
      field.description ??= promised?.description;
}
