import { readFileSync } from 'node:fs';
import { schemaFile } from '../engine/schema.ts';

/** Prints the schema. */
export async function printSchema(): Promise<number> {
  process.stdout.write(readFileSync(schemaFile, 'utf8'));
  return 0;
}
