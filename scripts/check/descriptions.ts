import { readFile } from 'node:fs/promises';
import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLDirective,
  type GraphQLNamedType,
  type GraphQLSchema,
  isIntrospectionType,
  Source,
} from 'graphql';
import { loadSchema } from '../../src/engine/schema.ts';
import { inRepository } from '../repository.ts';

/** An element of a schema. String() returns its coordinate, such as `User.posts(last:)`. */
interface Element {
  description?: string | null | undefined;
}

/** The coordinates of the elements that have no description. */
export function findUndescribed(schema: GraphQLSchema): string[] {
  return listElements(schema)
    .filter(({ description }) => !description?.trim())
    .map(String);
}

function listElements(schema: GraphQLSchema): Element[] {
  const types = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type));
  return [...types.flatMap(listParts), ...schema.getDirectives().flatMap(listDirective)];
}

function listParts(type: GraphQLNamedType): Element[] {
  if ('getValues' in type) return [type, ...type.getValues()];
  if (!('getFields' in type)) return [type];
  const fields = Object.values(type.getFields());
  const args = fields.flatMap((field): readonly GraphQLArgument[] => ('args' in field ? field.args : []));
  return [type, ...fields, ...args];
}

function listDirective(directive: GraphQLDirective): Element[] {
  return [directive, ...directive.args];
}

/** The resolver of a scalar replaces the description and URL of schema.graphql, so it must repeat them. */
function findChangedScalars(built: GraphQLSchema, written: GraphQLSchema): string[] {
  return Object.values(written.getTypeMap()).flatMap((type) => {
    const served = built.getType(type.name);
    if (!('specifiedByURL' in type) || !served || !('specifiedByURL' in served)) return [];
    const isSame = served.description === type.description && served.specifiedByURL === type.specifiedByURL;
    return isSame
      ? []
      : [`${type.name}: the description or specifiedByURL of its resolver differs from schema.graphql`];
  });
}

/** The elements of the server's schema whose description is missing, or differs from schema.graphql. */
export async function checkDescriptions(): Promise<string[]> {
  const built = loadSchema();
  const written = buildSchema(new Source(await readFile(inRepository('schema.graphql'), 'utf8'), 'schema.graphql'));
  const undescribed = findUndescribed(built).map((element) => `schema.graphql: ${element} has no description`);
  return [...undescribed, ...findChangedScalars(built, written)];
}
