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

/** `create-user EMAIL --name NAME [--admin]`: creates an account with a password. Returns 0 when done. */
export async function createUser(args: string[]): Promise<number> {
  const words = args.filter((arg) => arg !== '--admin');
  const [, name] = words.splice(words.indexOf('--name'), 2);
  const [email, ...more] = words;
  if (!name || !email || more.length > 0) throw new WrongArguments('create-user EMAIL --name NAME [--admin]');
  const problems = findNameProblems(name);
  if (emailRule(email).length > 0)
    problems.push(`EMAIL must have the form ada@example.org and at most 254 characters (got ${JSON.stringify(email)})`);
  if (problems.length > 0) throw new ClientError('VALIDATION_ERROR', problems.join('; '));
  return createAccount({ name: toName(name), email, role: args.includes('--admin') ? 'ADMIN' : 'MEMBER' });
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
