import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import { openDatabase } from '../data/open-database.ts';
import { findAccountByEmail } from '../data/users.ts';
import { createApiKey } from '../identity/api-key/api-key.ts';
import { auditTo } from '../identity/audit.ts';
import { type Scope, scopes } from '../identity/viewer.ts';
import { createLog } from '../log.ts';
import { name as nameRule } from '../resolvers/rules/validation.ts';

const usage = 'usage: postroom key create --name NAME --scopes read,write[,admin] [--owner EMAIL] [--expires DATE]\n';

interface KeyOptions {
  name: string;
  scopes: Scope[];
  owner: string | undefined;
  expiresAt: number | null;
}

/** `key create …`: creates a key and prints it. It cannot be printed again. */
export async function key([action, ...args]: string[]): Promise<number> {
  const options = action === 'create' ? readOptions(args) : usage;
  if (typeof options === 'string') {
    process.stderr.write(options);
    return 1;
  }
  const { databaseUrl, logLevel } = readConfig();
  const database = await openDatabase(databaseUrl);
  try {
    const { name, scopes, owner: email, expiresAt } = options;
    const created = await database.transaction(async (db) => {
      const owner = email === undefined ? null : await findAccountByEmail(db, email, 'exclusive');
      return owner === undefined
        ? undefined
        : createApiKey(db, { name, scopes, expiresAt, ownerId: owner?.id ?? null });
    });
    if (!created) {
      process.stderr.write(`postroom: there is no account with the e-mail ${email}\n`);
      return 1;
    }
    const { key, apiKey } = created;
    auditTo(createLog(logLevel))({ event: 'apiKeyCreated', keyId: apiKey.id, byUserId: null, scopes });
    process.stdout.write(`${key}\n`);
    return 0;
  } finally {
    await database.close();
  }
}

/** The parsed arguments, or an error message for the operator. */
function readOptions(args: string[]): KeyOptions | string {
  try {
    const option = { type: 'string' } as const;
    const { values } = parseArgs({ args, options: { name: option, scopes: option, owner: option, expires: option } });
    if (values.name === undefined || values.scopes === undefined) return usage;
    const named = values.scopes.toUpperCase().split(',');
    const unknown = named.find((scope) => !scopes.some((known) => known === scope));
    if (unknown !== undefined)
      return `postroom: --scopes must be read, write or admin, separated by commas (got "${unknown}")\n`;
    if (nameRule(values.name).length > 0)
      return 'postroom: --name must have 1 to 80 characters, and no control characters\n';
    const expiresAt = values.expires === undefined ? null : Date.parse(values.expires);
    if (expiresAt !== null && !(expiresAt > Date.now()))
      return 'postroom: --expires must be a date in the future, such as 2027-01-31\n';
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
