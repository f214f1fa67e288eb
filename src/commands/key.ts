import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import { insertApiKey } from '../data/api-keys.ts';
import { openDatabase } from '../data/open-database.ts';
import { findUserByEmail } from '../data/users.ts';
import { createApiKey } from '../identity/api-key.ts';
import { auditTo } from '../identity/audit.ts';
import { type Scope, scopes } from '../identity/viewer.ts';
import { createLog } from '../log.ts';
import { name as nameRule } from '../resolvers/validation.ts';

const usage = 'usage: postroom key create --name NAME --scopes read,write[,admin] [--owner EMAIL] [--expires DATE]\n';

interface Wanted {
  name: string;
  scopes: Scope[];
  owner: string | undefined;
  expiresAt: number | null;
}

/** `key create …`: creates a key and prints it. It cannot be printed again. */
export async function key([action, ...args]: string[]): Promise<number> {
  const wanted = action === 'create' ? readWanted(args) : usage;
  if (typeof wanted === 'string') {
    process.stderr.write(wanted);
    return 1;
  }
  const { databaseUrl, logLevel } = readConfig();
  const database = await openDatabase(databaseUrl);
  try {
    const owner = wanted.owner === undefined ? undefined : await findUserByEmail(database.db, wanted.owner);
    if (wanted.owner !== undefined && !owner) {
      process.stderr.write(`postroom: there is no account of ${wanted.owner}\n`);
      return 1;
    }
    const { key, prefix, hash } = createApiKey();
    const { name, scopes, expiresAt } = wanted;
    const made = { name, scopes, expiresAt, prefix, hash, ownerId: owner?.id ?? null };
    const { id: keyId } = await database.transaction((db) => insertApiKey(db, made));
    auditTo(createLog(logLevel))({ event: 'apiKeyCreated', keyId, byUserId: null, scopes });
    process.stdout.write(`${key}\n`);
    return 0;
  } finally {
    await database.close();
  }
}

/** The parsed arguments, or an error message for the operator. */
function readWanted(args: string[]): Wanted | string {
  try {
    const option = { type: 'string' } as const;
    const { values } = parseArgs({ args, options: { name: option, scopes: option, owner: option, expires: option } });
    if (values.name === undefined || values.scopes === undefined) return usage;
    const named = values.scopes.toUpperCase().split(',');
    const unknown = named.find((scope) => !scopes.some((known) => known === scope));
    if (unknown !== undefined)
      return `postroom: --scopes names ${unknown}: it is read, write or admin, separated by commas\n`;
    if (nameRule(values.name).length > 0) return 'postroom: --name has 1 to 80 characters, no control characters\n';
    const expiresAt = values.expires === undefined ? null : Date.parse(values.expires);
    if (expiresAt !== null && !(expiresAt > Date.now()))
      return 'postroom: --expires is a date to come, as 2027-01-31\n';
    return {
      name: values.name,
      scopes: scopes.filter((scope) => named.includes(scope)),
      owner: values.owner,
      expiresAt,
    };
  } catch (error) {
    return `postroom: ${error instanceof Error ? error.message : error}\n${usage}`;
  }
}
