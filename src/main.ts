#!/usr/bin/env -S node --max-semi-space-size=32
// The same flag as in `npm start`. By default V8's space for young objects grows to more memory and longer pauses. With
// half of this size V8 collects twice as often and copies as much each time: a page of posts takes a tenth more.

import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { tuneCollector } from './commands/collector.ts';

// Halves the time of a cold start. The cache is stored with the packages, because a user who can write there could
// change the program itself anyway.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/postroom', import.meta.url)));

tuneCollector();

type Command = (args: string[]) => Promise<number>;

/** Imported on demand, so that a command loads only the modules that it needs. */
const commands: Record<string, () => Promise<Command>> = {
  serve: async () => (await import('./commands/serve.ts')).serve,
  restart: async () => (await import('./commands/restart.ts')).restart,
  import: async () => (await import('./commands/import.ts')).importFile,
  'grant-admin': async () => (await import('./commands/accounts.ts')).grantAdmin,
  'revoke-admin': async () => (await import('./commands/accounts.ts')).revokeAdmin,
  'create-user': async () => (await import('./commands/accounts.ts')).createUser,
  'set-password': async () => (await import('./commands/accounts.ts')).resetPassword,
  'sign-in-link': async () => (await import('./commands/accounts.ts')).signInLink,
  key: async () => (await import('./commands/key.ts')).key,
  backup: async () => (await import('./commands/backup.ts')).backup,
  restore: async () => (await import('./commands/backup.ts')).restore,
  validate: async () => (await import('./commands/validate.ts')).validate,
  check: async () => (await import('./commands/validate.ts')).validate, // the earlier name
  schema: async () => (await import('./commands/schema.ts')).printSchema,
};

const usage = `usage: postroom serve   (the same without a command; settings are environment variables)
       postroom restart [PID]   (replaces the workers of a server with WORKERS)
       postroom import FILE [--strict]   (.ndjson or .ndjson.gz; - reads standard input)
       postroom grant-admin EMAIL|ID [--yes]
       postroom revoke-admin EMAIL|ID
       postroom create-user EMAIL --name NAME [--admin]   (reads the password as set-password does)
       postroom set-password EMAIL|ID   (reads the password from the terminal, or a line of standard input)
       postroom sign-in-link EMAIL|ID
       postroom key create --name NAME --scopes read,write[,admin] [--owner EMAIL|ID] [--expires DATE]
       postroom backup FILE [--force]
       postroom backup --to DIR --keep N [--every 1h]
       postroom restore FILE [--force]
       postroom validate [--production]
       postroom schema [--json | --possible-types]`;

const [name = 'serve', ...args] = process.argv.slice(2);
const load = Object.hasOwn(commands, name) ? commands[name] : undefined;

if ([name, ...args].some((argument) => argument === '--help' || argument === '-h')) {
  console.log(usage);
} else if (!load) {
  console.error(`postroom: there is no command ${JSON.stringify(name)}\n${usage}`);
  process.exitCode = 1;
} else {
  try {
    const command = await load();
    process.exitCode = await command(args);
  } catch (error) {
    const { explainFailures } = await import('./commands/failure.ts');
    for (const line of explainFailures(error)) console.error(line.startsWith('usage: ') ? line : `postroom: ${line}`);
    process.exitCode = 1;
  }
  // A timer of an extension, or the channel to the parent of a worker, would keep the process.
  process.stdout.write('', () => process.stderr.write('', () => setTimeout(() => process.exit(), 100).unref()));
}
