import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { toName } from '../common/names.ts';
import { BadSetting } from '../config/bad-setting.ts';
import { revokeAdminKeysOf } from '../data/domain/api-keys.ts';
import { countPostsOf } from '../data/domain/posts.ts';
import { insertUser, setPassword, setRole } from '../data/domain/users.ts';
import type { UserRow } from '../data/tables.ts';
import { ClientError } from '../errors.ts';
import { Passwords } from '../identity/session/passwords.ts';
import { Sessions } from '../identity/session/session.ts';
import { readGivenKeys, readStoredKeys } from '../identity/session/session-key.ts';
import { refuseDuplicate } from '../resolvers/rules/conflicts.ts';
import * as rules from '../resolvers/rules/validation.ts';
import { WrongArguments } from './failure.ts';
import { findNameProblems } from './key.ts';
import { changeNamedAccount, runAsOperator } from './operator.ts';

const dayMs = 24 * 3_600_000;

/** `create-user EMAIL --name NAME [--admin]`: creates an account with a password. Returns 0 when done. */
export async function createUser(args: string[]): Promise<number> {
  const options = { name: { type: 'string', default: '' }, admin: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const [email, ...more] = positionals;
  if (!email || more.length > 0) throw new WrongArguments('create-user EMAIL --name NAME [--admin]');
  const problems = findNameProblems(values.name || undefined);
  if (rules.email(email).length > 0)
    problems.push(`EMAIL must have the form ada@example.org and at most 254 characters (got ${JSON.stringify(email)})`);
  if (problems.length > 0) throw new ClientError('VALIDATION_ERROR', problems.join('; '));
  const name = toName(values.name);
  const role = values.admin ? 'ADMIN' : 'MEMBER';
  return runAsOperator(async ({ database, audit }) => {
    const passwordHash = await readPasswordHash();
    const create = () => database.transaction((db) => insertUser(db, { name, email, role, passwordHash }));
    const { id } = await refuseDuplicate(`the e-mail address ${email} is taken`, create);
    audit({ event: 'signedUp', userId: id, byUserId: null });
    if (role === 'ADMIN') audit({ event: 'roleChanged', userId: id, role });
    return `${name} (${id}) has an account with the role ${role}.`;
  });
}

/** `set-password EMAIL|ID`: sets the account's password, which revokes all its sessions. Returns 0 when done. */
export function resetPassword(args: string[]): Promise<number> {
  return changeNamedAccount(args, 'set-password EMAIL|ID', async ({ audit }, found, locked) => {
    assertHasPassword(found);
    const passwordHash = await readPasswordHash();
    const { id, name } = await locked((db, account) => setPassword(db, account.id, passwordHash));
    audit({ event: 'passwordChanged', userId: id, byUserId: null });
    return `${name} (${id}) has a new password, and all earlier sessions are revoked.`;
  });
}

/** `sign-in-link EMAIL|ID`: prints the token of a link that signs the account in once. Returns 0 when done. */
export function signInLink(args: string[]): Promise<number> {
  return changeNamedAccount(args, 'sign-in-link EMAIL|ID', async ({ config, database, audit }, account) => {
    assertHasPassword(account);
    const keys = readGivenKeys(config) ?? readStoredKeys(database);
    if (!keys) throw new BadSetting('SESSION_KEY', '', 'must be the key of the server: none is stored here');
    const link = await new Sessions(keys, config.sessionHours).createLink(account);
    audit({ event: 'signInLinkCreated', userId: account.id, byUserId: null });
    return link;
  });
}

/**
 * `grant-admin EMAIL|ID [--yes]`: makes the account an admin. E-mail addresses are not verified, so the account may belong to
 * a stranger: the command describes it, and changes nothing unless its id or `--yes` is given. Returns 0 when done.
 */
export function grantAdmin(args: string[]): Promise<number> {
  const [named = '', ...rest] = args.filter((arg) => arg !== '--yes');
  const usage = 'grant-admin EMAIL|ID [--yes]';
  return changeNamedAccount([named, ...rest], usage, async ({ database, audit }, { id, name, createdAt }, locked) => {
    const days = Math.floor((Date.now() - createdAt) / dayMs);
    const created = new Date(createdAt).toISOString();
    const posts = await countPostsOf(database.db, id);
    process.stdout.write(`${name} (${id}): created at ${created}; age in days: ${days}; posts: ${posts}\n`);
    if (!args.includes('--yes') && named !== id)
      throw new ClientError('CONFLICT', 'the e-mail address is not verified; if this is the account, add --yes');
    await locked((db) => setRole(db, id, 'ADMIN'));
    audit({ event: 'roleChanged', userId: id, role: 'ADMIN' });
    return `${name} (${id}) is an admin.`;
  });
}

/** `revoke-admin EMAIL|ID`: makes the account a MEMBER, and revokes its keys with the scope ADMIN. Returns 0 when done. */
export function revokeAdmin(args: string[]): Promise<number> {
  return changeNamedAccount(args, 'revoke-admin EMAIL|ID', async ({ audit }, { id, name }, locked) => {
    const revoked = await locked(async (db) => {
      await setRole(db, id, 'MEMBER');
      return revokeAdminKeysOf(db, id);
    });
    audit({ event: 'roleChanged', userId: id, role: 'MEMBER' });
    for (const keyId of revoked) audit({ event: 'apiKeyRevoked', keyId, byUserId: null });
    return `${name} (${id}) is no longer an admin.`;
  });
}

/** Only an account with a password has sessions. @throws ClientError CONFLICT for one of an issuer, an API key or an import. */
function assertHasPassword({ id, passwordHash }: UserRow): void {
  if (passwordHash !== null) return;
  const kind = 'it is that of an OAuth issuer, an API key or an import';
  throw new ClientError('CONFLICT', `the account ${id} does not sign in with a password: ${kind}`);
}

async function readPasswordHash(): Promise<string> {
  return new Passwords().hash(await readPassword(), { caller: '' });
}

/** Reads a line of standard input; at a terminal two equal ones, which are not shown. @throws ClientError. */
async function readPassword(): Promise<string> {
  const { stdin, stderr } = process;
  // In the mode of a terminal, readline shows what is typed only on its own output.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  using input = createInterface({ input: stdin, output, terminal: stdin.isTTY, historySize: 0 });
  const lines = input[Symbol.asyncIterator]();
  const read = async (prompt: string): Promise<string> => {
    if (stdin.isTTY) stderr.write(prompt);
    const { value = '' } = await lines.next();
    if (stdin.isTTY) stderr.write('\n');
    return value;
  };
  const password = await read('New password: ');
  if (rules.password(password).length > 0)
    throw new ClientError('VALIDATION_ERROR', 'the password must have 8 to 200 characters, and no NUL character');
  if (stdin.isTTY && (await read('Repeat it: ')) !== password)
    throw new ClientError('VALIDATION_ERROR', 'the two passwords differ');
  return password;
}
