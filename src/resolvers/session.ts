import { toName } from '../common/names.ts';
import { endSessions, findAccountByEmail, insertUser, setPassword } from '../data/domain/users.ts';
import type { UserRow } from '../data/tables.ts';
import { ClientError } from '../errors.ts';
import type { MutationResolvers } from '../generated/resolver-types.generated.ts';
import { assertSignedIn } from '../identity/access.ts';
import type { Viewer } from '../identity/viewer.ts';
import type { Context } from './context.ts';
import { acceptInvitation, findInvitationOrThrow } from './invitation.ts';
import { changeAccount, findOwnAccountOrThrow } from './rules/changes.ts';
import { refuseDuplicate } from './rules/conflicts.ts';
import { assertInput, required } from './rules/input-check.ts';
import { toUser } from './rules/rows.ts';
import * as rules from './rules/validation.ts';

export const sessionMutations = {
  async signUp(_, { input }, context) {
    const { signUp, signInLimit, passwords, audit } = context.services;
    // First, so that a refusal costs nothing and is the same for every input.
    if (signUp === 'closed')
      throw new ClientError('FORBIDDEN', 'Sign-up is closed: ask the operator of this server for an account.');
    assertInput(
      required('name', input.name, rules.name),
      required('email', input.email, rules.email),
      required('password', input.password, rules.password),
    );
    await signInLimit.chargeAddress(context.address);
    const needsInvitation = signUp === 'invited' || input.invitation != null;
    const invitation = needsInvitation ? await findInvitationOrThrow(context, input.invitation) : undefined;
    const passwordHash = await passwords.hash(input.password, context.requester);
    const user = await refuseDuplicate('This e-mail is taken.', () =>
      context.change((db, record) => {
        const create = () => insertUser(db, { name: toName(input.name), email: input.email, passwordHash });
        return invitation ? acceptInvitation(db, record, invitation, create) : create();
      }),
    );
    audit({ event: 'signedUp', userId: user.id, ...(invitation && { invitationId: invitation.id }) });
    return startSession(context, user);
  },
  async signIn(_, { input }, context) {
    await context.services.signInLimit.chargeAttempt(input.email, context.address);
    const user = await findAccountByEmail(context.db, input.email);
    const isRight = await verifyPassword(context, input.email, { given: input.password, stored: user?.passwordHash });
    if (!user || !isRight) {
      context.services.audit({ event: 'signInRefused', userId: user?.id ?? null, address: context.address });
      throw new ClientError('UNAUTHENTICATED', 'The e-mail or the password is wrong.');
    }
    context.services.audit({ event: 'signedIn', userId: user.id });
    return startSession(context, user);
  },
  async signInWithLink(_, { input }, context) {
    const { signInLimit, sessions, audit } = context.services;
    await signInLimit.chargeAddress(context.address);
    const link = await sessions.readLink(input.token);
    const refusal = () => {
      audit({ event: 'signInRefused', userId: link?.userId ?? null, address: context.address });
      return new ClientError('UNAUTHENTICATED', 'The sign-in link is wrong, has expired, or was used or revoked.');
    };
    if (!link) throw refusal();
    const account = await context.change(async (db, { announce }) => {
      // One statement checks and ends the generation: of several uses at the same time one succeeds, on any node.
      const ended = await endSessions(db, link.userId, link.sessionsFrom);
      if (!ended) throw refusal();
      announce({ type: 'passwordChanged', userId: ended.id, sessionsFrom: ended.sessionsFrom });
      return ended;
    });
    audit({ event: 'signedInWithLink', userId: account.id });
    return startSession(context, account);
  },
  async renewSession(_, __, context) {
    const viewer = assertSignedIn(context.viewer);
    const sessionId = assertSession(viewer);
    return startSession(context, await findOwnAccountOrThrow(context.db, viewer), sessionId);
  },
  async changePassword(_, { input }, context) {
    const viewer = assertSignedIn(context.viewer);
    assertSession(viewer);
    const { id, email, passwordHash: stored } = await findOwnAccountOrThrow(context.db, viewer);
    await context.services.signInLimit.chargeAttempt(email ?? id, context.address);
    const isRight = await verifyPassword(context, email ?? id, { given: input.currentPassword, stored });
    if (!isRight) throw new ClientError('FORBIDDEN', 'The current password is wrong.');
    assertInput(required('newPassword', input.newPassword, rules.password));
    const passwordHash = await context.services.passwords.hash(input.newPassword, context.requester);
    // If another request has changed the password since it was verified, it has revoked this session.
    const account = await changeAccount(context, async (db, { announce }) => {
      const changed = await setPassword(db, id, passwordHash);
      announce({ type: 'passwordChanged', userId: id, sessionsFrom: changed.sessionsFrom });
      return changed;
    });
    context.services.audit({ event: 'passwordChanged', userId: id });
    return startSession(context, account);
  },
} satisfies MutationResolvers;

/** Refunds the attempt that was charged to the account, unless the password is wrong: also if it could not be verified. */
async function verifyPassword(
  { services: { passwords, signInLimit }, requester }: Context,
  account: string,
  { given, stored }: { given: string; stored: string | null | undefined },
): Promise<boolean> {
  const verified = passwords.verify(given, stored, requester);
  const isWrong = await verified.then(
    (isRight) => !isRight,
    () => false,
  );
  if (!isWrong) await signInLimit.refundAccount(account);
  return verified;
}

/** API keys are not renewed, and an issuer's tokens are renewed by the issuer. */
function assertSession({ credential }: Viewer): string {
  if (credential.kind === 'session') return credential.id;
  throw new ClientError('FORBIDDEN', 'This operation requires a session, not an API key or the token of an issuer.');
}

async function startSession(context: Context, account: UserRow, sessionId?: string) {
  const { accessToken, viewer } = await context.services.sessions.start(account, sessionId);
  context.addSignedInViewer(viewer);
  return { accessToken, expiresAt: viewer.expiresAt, user: toUser(account, context) };
}
