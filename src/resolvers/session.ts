import type { UserRow } from '../data/tables.ts';
import { findUser, findUserByEmail, insertUser, setPassword } from '../data/users.ts';
import { ClientError } from '../errors.ts';
import { assertLiving, assertSignedIn } from '../identity/access.ts';
import { hashPassword, isPassword } from '../identity/session/passwords.ts';
import type { Session } from '../identity/session/session.ts';
import type { Viewer } from '../identity/viewer.ts';
import { changeAccount } from './changes.ts';
import { refuseDuplicate } from './conflicts.ts';
import type { Context } from './context.ts';
import type { MutationResolvers } from './resolver-types.generated.ts';
import { email, InputCheck, name, password } from './validation.ts';

export const sessionMutations: MutationResolvers = {
  async signUp(_, { input }, context) {
    const check = new InputCheck();
    check.required('name', input.name, name);
    check.required('email', input.email, email);
    check.required('password', input.password, password);
    check.assertValid();
    context.services.signInLimit.chargeSignUp(context.address);
    const passwordHash = await hashPassword(input.password);
    const user = await refuseDuplicate('This e-mail is taken.', () =>
      context.change((db) => insertUser(db, { name: input.name, email: input.email, passwordHash })),
    );
    context.services.audit({ event: 'signedUp', userId: user.id });
    return startSession(context, user);
  },
  async signIn(_, { input }, context) {
    const { signInLimit } = context.services;
    signInLimit.chargeAttempt(input.email, context.address);
    const user = await findUserByEmail(context.db, input.email);
    const isRight = await isPassword(input.password, user?.passwordHash);
    if (!user || !isRight) {
      context.services.audit({ event: 'signInRefused', userId: user?.id ?? null, address: context.address });
      throw new ClientError('UNAUTHENTICATED', 'The e-mail or the password is wrong.');
    }
    signInLimit.refundAccount(input.email);
    context.services.audit({ event: 'signedIn', userId: user.id });
    return startSession(context, user);
  },
  async renewSession(_, __, context) {
    const viewer = assertSignedIn(context.viewer);
    const sessionId = assertSession(viewer);
    const user = assertLiving(viewer, await findUser(context.db, viewer.user.id));
    return startSession(context, user, sessionId);
  },
  async changePassword(_, { input }, context) {
    const viewer = assertSignedIn(context.viewer);
    const sessionId = assertSession(viewer);
    // Read again, because the viewer was read when the socket was opened.
    const { id, email, passwordHash: present } = assertLiving(viewer, await findUser(context.db, viewer.user.id));
    const { signInLimit } = context.services;
    signInLimit.chargeAttempt(email ?? id, context.address);
    const isRight = await isPassword(input.currentPassword, present);
    if (!isRight) throw new ClientError('FORBIDDEN', 'The current password is wrong.');
    signInLimit.refundAccount(email ?? id);
    const check = new InputCheck();
    check.required('newPassword', input.newPassword, password);
    check.assertValid();
    const passwordHash = await hashPassword(input.newPassword);
    const user = await changeAccount(context, async (db, { announce }, { user }) => {
      const sessionsFrom = await setPassword(db, user, passwordHash, sessionId);
      announce({ type: 'passwordChanged', userId: user.id, sessionsFrom, keptSession: sessionId });
      return { ...user, sessionsFrom };
    });
    context.services.audit({ event: 'passwordChanged', userId: user.id });
    return startSession(context, user, sessionId);
  },
};

/** API keys and an issuer's tokens are renewed by their issuer, not here. */
function assertSession({ credential }: Viewer): string {
  if (credential.kind !== 'session') throw new ClientError('FORBIDDEN', 'Only a session is renewed or changed here.');
  return credential.id;
}

async function startSession(context: Context, user: UserRow, sessionId?: string): Promise<Session> {
  const { viewer, ...session } = await context.services.sessions.start(user, sessionId);
  context.admit(viewer);
  return session;
}
