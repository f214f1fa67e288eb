import { parseArgs } from 'node:util';
import { toName } from '../common/names.ts';
import { insertUser, type NewUser } from '../data/domain/users.ts';
import { ClientError } from '../errors.ts';
import { Passwords } from '../identity/session/passwords.ts';
import { refuseDuplicate } from '../resolvers/rules/conflicts.ts';
import { email as emailRule } from '../resolvers/rules/validation.ts';
import { changeAsOperator } from './account.ts';
import { WrongArguments } from './failure.ts';
import { findNameProblems } from './key.ts';
import { readPassword } from './set-password.ts';

const options = { name: { type: 'string' }, admin: { type: 'boolean' } } as const;

/** `create-user EMAIL --name NAME [--admin]`: creates an account with a password. Returns 0 when done. */
export async function createUser(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const [email, ...more] = positionals;
  if (!email || more.length > 0) throw new WrongArguments('create-user EMAIL --name NAME [--admin]');
  const { name = '', admin = false } = values;
  const problems = findNameProblems(name || undefined);
  if (emailRule(email).length > 0)
    problems.push(`EMAIL must have the form ada@example.org and at most 254 characters (got ${JSON.stringify(email)})`);
  if (problems.length > 0) throw new ClientError('VALIDATION_ERROR', problems.join('; '));
  return createAccount({ name: toName(name), email, role: admin ? 'ADMIN' : 'MEMBER' });
}

function createAccount(account: NewUser): Promise<number> {
  return changeAsOperator(async () => {
    const passwordHash = await new Passwords().hash(await readPassword(), { caller: '' });
    return async (db) => {
      const create = () => insertUser(db, { ...account, passwordHash });
      const { id, name, role } = await refuseDuplicate(`the e-mail address ${account.email} is taken`, create);
      const granted = role === 'ADMIN' ? [{ event: 'roleChanged', userId: id, role } as const] : [];
      const line = `${name} (${id}) has an account with the role ${role}.`;
      return { events: [{ event: 'signedUp', userId: id, byUserId: null }, ...granted], line };
    };
  });
}
