import { readFileSync } from 'node:fs';
import { introspectionFromSchema } from 'graphql';
import { loadSchema, schemaFile } from '../engine/schema.ts';
import { ClientError } from '../errors.ts';
import { WrongArguments } from './failure.ts';

const possibleTypesFile = new URL('../../possible-types.json', import.meta.url);

/** The text in each format. */
const formats: Record<string, () => string> = {
  '': () => readFileSync(schemaFile, 'utf8'),
  '--json': () => `${JSON.stringify(introspectionFromSchema(loadSchema()), null, 2)}\n`,
  '--possible-types': () => readFileSync(possibleTypesFile, 'utf8'),
};

/**
 * `schema [--json | --possible-types]`: prints the schema, the result of its introspection, or the object types of each
 * interface. Returns 0.
 */
export async function printSchema([format = '', ...rest]: string[]): Promise<number> {
  const textOf = Object.hasOwn(formats, format) && rest.length === 0 ? formats[format] : undefined;
  if (!textOf) {
    const given = [format, ...rest].join(' ');
    const refusal = new ClientError('VALIDATION_ERROR', `schema does not accept "${given}"`);
    throw new AggregateError([refusal, new WrongArguments('schema [--json | --possible-types]')]);
  }
  // A reader, such as `head`, may not want the whole text.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  process.stdout.write(textOf());
  return 0;
}
