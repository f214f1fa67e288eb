import { findUserByEmail, insertUser } from '../data/users.ts';
import { ClientError } from '../errors.ts';
import { assertSignedIn } from '../identity/access.ts';
import { hashPassword, isPassword } from '../identity/passwords.ts';
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
    return context.services.sessions.start(user);
  },
  async signIn(_, { input }, { db, services }) {
    const user = await findUserByEmail(db, input.email);
    const isRight = await isPassword(input.password, user?.passwordHash);
    if (!user || !isRight) throw new ClientError('UNAUTHENTICATED', 'The e-mail or the password is wrong.');
    return services.sessions.start(user);
  },
  renewSession: (_, __, { viewer, services }) => services.sessions.start(assertSignedIn(viewer).user),
};
