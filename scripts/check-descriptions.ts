import { readFile } from 'node:fs/promises';
import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLNamedType,
  type GraphQLSchema,
  isIntrospectionType,
  isSpecifiedScalarType,
  Source,
} from 'graphql';
import { inRepository } from './repository.ts';

/** On a root field these say no more than the field itself. */
const selfEvident = ['id', 'name', 'input'];

/** The parts of a schema that nothing describes, each by its coordinate: `User.posts(last:)`. */
export function findUndescribed(sdl: string): string[] {
  const schema = buildSchema(new Source(sdl, 'schema.graphql'));
  const types = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type));
  const parts = types.filter((type) => !isSpecifiedScalarType(type)).flatMap((type) => listParts(type, schema));
  return parts.filter(({ description }) => !description?.trim()).map(String);
}

function listParts(type: GraphQLNamedType, schema: GraphQLSchema): { description?: string | null | undefined }[] {
  if ('getValues' in type) return [type, ...type.getValues()];
  if (!('getFields' in type)) return [type];
  const fields = Object.values(type.getFields());
  const args = fields.flatMap((field): readonly GraphQLArgument[] => ('args' in field ? field.args : []));
  return [type, ...fields, ...(isRoot(type, schema) ? args.filter(({ name }) => !selfEvident.includes(name)) : args)];
}

function isRoot(type: GraphQLNamedType, schema: GraphQLSchema): boolean {
  return [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].some((root) => root === type);
}

/** The parts of schema.graphql that lack a description. */
export async function checkDescriptions(): Promise<string[]> {
  const undescribed = findUndescribed(await readFile(inRepository('schema.graphql'), 'utf8'));
  return undescribed.map((part) => `schema.graphql: ${part} has no description`);
}
