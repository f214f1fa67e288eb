import { readFileSync } from 'node:fs';
import { type GraphQLObjectType, type GraphQLSchema, isObjectType } from 'graphql';
import { createSchema } from 'graphql-yoga';
import { columns } from '../data/tables.ts';
import { resolvers } from '../resolvers/resolvers.ts';
import type { Context } from './context.ts';

export const schemaFile = new URL('../../schema.graphql', import.meta.url);

/**
 * schema.graphql wired to its resolvers.
 * @throws Error where the two disagree: a resolver without a field, or a field that neither a row nor a resolver answers.
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
  assertAnswered(schema);
  return schema;
}

/** Roots answer by resolvers alone; things with a table by their columns too. */
function assertAnswered(schema: GraphQLSchema): void {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  for (const root of roots) if (root) assertFields(root, []);
  for (const [name, own] of Object.entries(columns)) {
    const type = schema.getType(name);
    if (isObjectType(type)) assertFields(type, own);
  }
}

function assertFields(type: GraphQLObjectType, columnNames: readonly string[]): void {
  for (const field of Object.values(type.getFields())) {
    if (columnNames.includes(field.name)) continue;
    // createSchema puts graphql's own default where the resolvers name none.
    const own = (resolvers as Record<string, Record<string, unknown> | undefined>)[type.name]?.[field.name];
    if (own === undefined) throw new Error(`Resolver missing for "${type.name}.${field.name}"`);
  }
}
