import { readFileSync } from 'node:fs';
import { type GraphQLSchema, introspectionFromSchema, printSchema as printTypes } from 'graphql';
import { readConfig } from '../config/config.ts';
import { loadExtensions } from '../engine/extensions/load.ts';
import { findPossibleTypes, loadSchema, schemaFile } from '../engine/schema.ts';
import { ClientError } from '../errors.ts';
import { WrongArguments } from './failure.ts';

const possibleTypesFile = new URL('../../possible-types.json', import.meta.url);

/** The text in each format. */
const formats: Record<string, (schema: GraphQLSchema, isExtended: boolean) => string> = {
  // With the directives of its fields, which another schema loses.
  '': (schema, isExtended) => (isExtended ? `${printTypes(schema)}\n` : readFileSync(schemaFile, 'utf8')),
  '--json': (schema) => `${JSON.stringify(introspectionFromSchema(schema), null, 2)}\n`,
  '--possible-types': (schema, isExtended) =>
    isExtended ? `${JSON.stringify(findPossibleTypes(schema), null, 2)}\n` : readFileSync(possibleTypesFile, 'utf8'),
};

/**
 * `schema [--json | --possible-types]`: prints the schema, with that of the extensions, the result of its introspection, or the object types of each
 * interface. Returns 0.
 */
export async function printSchema([format = '', ...rest]: string[]): Promise<number> {
  const textOf = Object.hasOwn(formats, format) && rest.length === 0 ? formats[format] : undefined;
  if (!textOf) {
    const given = [format, ...rest].join(' ');
    const refusal = new ClientError('VALIDATION_ERROR', `schema does not accept "${given}"`);
    throw new AggregateError([refusal, new WrongArguments('schema [--json | --possible-types]')]);
  }
  const extensions = await loadExtensions(readConfig().extensions);
  // A reader, such as `head`, may not want the whole text.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  process.stdout.write(textOf(loadSchema(extensions), extensions.length > 0));
  return 0;
}
