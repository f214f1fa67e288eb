import { parseArgs } from 'node:util';
import { toName } from '../common/names.ts';
import { ClientError } from '../errors.ts';
import { createApiKey } from '../identity/api-key.ts';
import { scopes } from '../identity/viewer.ts';
import { name as nameRule } from '../resolvers/rules/validation.ts';
import { WrongArguments } from './failure.ts';
import { findNamedAccount, runAsOperator } from './operator.ts';

const usage = 'key create --name NAME --scopes read,write[,admin] [--owner EMAIL|ID] [--expires DATE]';

/** `key create …`: creates a key and prints it. It cannot be printed again. */
export async function key([action, ...args]: string[]): Promise<number> {
  if (action !== 'create') throw new WrongArguments(usage);
  const { name, scopes, owner: account, expiresAt } = readOptions(args);
  return runAsOperator(async ({ database, audit }) => {
    const { key, apiKey } = await database.transaction(async (db) => {
      const owner = account === undefined ? null : await findNamedAccount(db, account, 'exclusive');
      return createApiKey(db, { name, scopes, expiresAt, ownerId: owner?.id ?? null });
    });
    audit({ event: 'apiKeyCreated', keyId: apiKey.id, byUserId: null, scopes });
    return key;
  });
}

const option = { type: 'string' } as const;
const known = { name: option, scopes: option, owner: option, expires: option };

/** @throws AggregateError with all problems of the arguments. */
function readOptions(args: string[]) {
  // Not strict, because a strict parser stops at the first problem.
  const { values, tokens } = parseArgs({
    args: completeOptions(args),
    options: known,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const unknown = tokens.flatMap((token) => {
    if (token.kind === 'positional') return token.value;
    return token.kind === 'option' && !Object.hasOwn(known, token.name) ? token.rawName : [];
  });
  const problems = unknown.length > 0 ? [`key create takes no ${unknown.join(' ')}`] : [];
  const read = (name: keyof typeof known) => {
    const value = values[name];
    if (value === '') problems.push(`--${name} has no value`);
    return typeof value === 'string' ? value : undefined;
  };
  const [name, scopeNames, owner, expires] = [read('name'), read('scopes'), read('owner'), read('expires')];
  problems.push(...findNameProblems(name), ...findScopeProblems(scopeNames), ...findExpiryProblems(expires));
  if (problems.length > 0 || name === undefined || scopeNames === undefined) {
    const errors = problems.map((problem) => new ClientError('VALIDATION_ERROR', problem));
    throw new AggregateError([...errors, new WrongArguments(usage)]);
  }
  const named = scopeNames.toUpperCase().split(',');
  const expiresAt = expires === undefined ? null : Date.parse(expires);
  const granted = scopes.filter((scope) => named.includes(scope));
  return { name: toName(name), scopes: granted, owner, expiresAt };
}

/** Gives an empty value to an option without a value, because parseArgs would take the next option for its value. */
function completeOptions(args: string[]): string[] {
  const options = Object.keys(known).map((name) => `--${name}`);
  return args.map((arg, index) => {
    const isWithoutValue = options.includes(arg) && (args[index + 1] ?? '--').startsWith('--');
    return isWithoutValue ? `${arg}=` : arg;
  });
}

export function findNameProblems(name: string | undefined): string[] {
  if (name === undefined) return ['--name is missing'];
  if (name === '' || nameRule(name).length === 0) return [];
  return [`--name must have 1 to 80 characters, and no control or invisible characters (got ${JSON.stringify(name)})`];
}

function findScopeProblems(names: string | undefined): string[] {
  if (names === undefined) return ['--scopes is missing'];
  const unknown = names.split(',').filter((name) => !scopes.some((scope) => scope === name.toUpperCase()));
  if (names === '' || unknown.length === 0) return [];
  const got = unknown.map((name) => JSON.stringify(name)).join(', ');
  return [`--scopes must be read, write or admin, separated by commas (got ${got})`];
}

function findExpiryProblems(expires: string | undefined): string[] {
  if (expires === undefined || expires === '' || Date.parse(expires) > Date.now()) return [];
  return [`--expires must be a date in the future, such as 2027-01-31 (got ${JSON.stringify(expires)})`];
}
