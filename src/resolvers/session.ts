import type { UserRow } from '../data/tables.ts';
import { findUser, findUserByEmail, insertUser } from '../data/users.ts';
import type { Context } from '../engine/context.ts';
import { ClientError } from '../errors.ts';
import { assertLiving, assertSignedIn } from '../identity/access.ts';
import { hashPassword, isPassword } from '../identity/passwords.ts';
import type { Session } from '../identity/session.ts';
import { refuseDuplicate } from './conflicts.ts';
import type { MutationResolvers } from './resolver-types.generated.ts';
import { email, InputCheck, name, password } from './validation.ts';

export const sessionMutations: MutationResolvers = {
  async signUp(_, { input }, context) {
    const check = new InputCheck();
    check.required('name', input.name, name);
    check.required('email', input.email, email);
    check.required('password', input.password, password);
    check.assertValid();
    const passwordHash = await hashPassword(input.password);
    const user = await refuseDuplicate(context, 'This e-mail is taken.', () =>
      context.change((db) => insertUser(db, { name: input.name, email: input.email, passwordHash })),
    );
    return startSession(context, user);
  },
  async signIn(_, { input }, context) {
    const user = await findUserByEmail(context.db, input.email);
    const isRight = await isPassword(input.password, user?.passwordHash);
    if (!user || !isRight) throw new ClientError('UNAUTHENTICATED', 'The e-mail or the password is wrong.');
    return startSession(context, user);
  },
  async renewSession(_, __, context) {
    const { user } = assertSignedIn(context.viewer);
    return startSession(context, assertLiving(await findUser(context.db, user.id)));
  },
};

async function startSession(context: Context, user: UserRow): Promise<Session> {
  const session = await context.services.sessions.start(user);
  context.admit(session);
  return session;
}
