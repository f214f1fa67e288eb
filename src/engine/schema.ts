import { readFileSync } from 'node:fs';
import { type GraphQLSchema, isObjectType } from 'graphql';
import { createSchema } from 'graphql-yoga';
import { apiKeyColumns, invitationColumns, postColumns, publicUserColumns, roomColumns } from '../data/tables.ts';
import type { Context } from '../resolvers/context.ts';
import { resolvers } from '../resolvers/resolvers.ts';

export const schemaFile = new URL('../../schema.graphql', import.meta.url);

/** The types whose fields are checked at the start, with those that need no resolver. The compiler checks all types. */
const checkedTypes: Partial<Record<keyof typeof resolvers, readonly string[]>> = {
  Query: [],
  Mutation: [],
  User: publicUserColumns,
  Room: roomColumns,
  Post: postColumns,
  ApiKey: apiKeyColumns,
  Invitation: invitationColumns,
};

/** schema.graphql wired to its resolvers. @throws Error where the two disagree. */
export function loadSchema(): GraphQLSchema {
  const schema = createSchema<Context>({
    typeDefs: readFileSync(schemaFile, 'utf8'),
    resolvers,
    resolverValidationOptions: {
      requireResolversToMatchSchema: 'error',
      requireResolversForResolveType: 'error',
    },
  });
  for (const [name, columns] of Object.entries(checkedTypes)) {
    const type = schema.getType(name);
    const answered = [...columns, ...Object.keys(resolvers[name as keyof typeof resolvers])];
    const missing = isObjectType(type) && Object.keys(type.getFields()).find((field) => !answered.includes(field));
    if (missing) throw new Error(`Resolver missing for "${name}.${missing}"`);
  }
  return schema;
}
