#!/usr/bin/env node
import { explainFailure } from './commands/failure.ts';
import { importFile } from './commands/import.ts';
import { printSchema } from './commands/schema.ts';
import { serve } from './commands/serve.ts';

type Command = (args: string[]) => Promise<number>;

const commands: Record<string, Command> = { serve, import: importFile, schema: printSchema };

const usage = `usage: postroom serve
       postroom import FILE [--strict]   (.ndjson or .ndjson.gz; - reads standard input)
       postroom schema`;

const [name = 'serve', ...args] = process.argv.slice(2);
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;

if (!command) {
  console.error(usage);
  process.exitCode = 1;
} else {
  try {
    process.exitCode = await command(args);
  } catch (error) {
    console.error(`postroom: ${explainFailure(error)}`);
    process.exitCode = 1;
  }
}
