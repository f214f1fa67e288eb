import { readFileSync } from 'node:fs';
import { type GraphQLObjectType, type GraphQLSchema, isObjectType } from 'graphql';
import { createSchema } from 'graphql-yoga';
import { pageFields } from '../data/lists/pages.ts';
import { columns } from '../data/tables.ts';
import { inventoryFields } from '../live/inventory/server-status.ts';
import { presenceFields } from '../live/presence/presence-state.ts';
import type { Context } from '../resolvers/context.ts';
import { resolvers } from '../resolvers/resolvers.ts';

export const schemaFile = new URL('../../schema.graphql', import.meta.url);

const resolversByType: Readonly<Record<string, object | undefined>> = resolvers;

/**
 * schema.graphql wired to its resolvers.
 * @throws Error where the two disagree: a resolver without a field, or a field that neither a row nor a resolver has.
 */
export function loadSchema(): GraphQLSchema {
  const schema = createSchema<Context>({
    typeDefs: readFileSync(schemaFile, 'utf8'),
    resolvers,
    resolverValidationOptions: {
      requireResolversToMatchSchema: 'error',
      requireResolversForResolveType: 'error',
    },
  });
  assertResolversExist(schema);
  return schema;
}

/** The fields that a row or a page has as properties. Every other field needs a resolver. */
const propertyFields: Record<string, readonly string[]> = {
  ...columns,
  ...pageFields,
  ...inventoryFields,
  ...presenceFields,
};

function assertResolversExist(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    // The type of a mutation's resolver ensures that the payload has the fields of the schema.
    const needsNoResolver = type.name.startsWith('__') || type.name.endsWith('Payload');
    if (isObjectType(type) && !needsNoResolver) assertFields(type, propertyFields[type.name] ?? []);
  }
}

function assertFields(type: GraphQLObjectType, own: readonly string[]): void {
  for (const { name } of Object.values(type.getFields())) {
    // Reads the resolver map, because createSchema sets graphql's default resolver on fields without a resolver.
    const hasResolver = Object.hasOwn(resolversByType[type.name] ?? {}, name);
    if (!hasResolver && !own.includes(name)) throw new Error(`Resolver missing for "${type.name}.${name}"`);
  }
}
