import { randomBytes } from 'node:crypto';
import type { ChangeRecord } from '../changes/commit-change.ts';
import type { Db } from '../data/database/database.ts';
import {
  countUse,
  deleteInvitation,
  findInvitations,
  findOpenInvitation,
  insertInvitation,
} from '../data/domain/invitations.ts';
import { membershipEvent } from '../data/domain/memberships.ts';
import { findRoom } from '../data/domain/rooms.ts';
import type { InvitationRow, UserRow } from '../data/tables.ts';
import { ClientError } from '../errors.ts';
import type { InvitationResolvers, MutationResolvers } from '../generated/resolver-types.generated.ts';
import { assertMayChangeRoom } from '../identity/access.ts';
import { hashKey } from '../identity/api-key.ts';
import type { Context } from './context.ts';
import { changeInRoom } from './rules/changes.ts';
import { assertInput, problemIf } from './rules/input-check.ts';
import { findLivingUser, loadRoom } from './rules/rows.ts';

/** The maximum number of invitations to a room; the list has one page. */
export const maxInvitations = 100;
const maxUses = 1_000;
const dayMs = 24 * 60 * 60 * 1_000;
const defaultMs = 7 * dayMs;
const maxMs = 90 * dayMs;
/** As many random bits as a UUID has. */
const codeBytes = 16;

export const Invitation = {
  room: ({ roomId }, _, { loaders }) => loadRoom(loaders, roomId),
  createdBy: ({ creatorId }, _, { loaders }) => findLivingUser(loaders, creatorId),
} satisfies InvitationResolvers;

export const invitationMutations = {
  // Exclusive: the number of invitations must not change meanwhile.
  createInvitation: (_, { input }, context) =>
    changeInRoom(context, { id: input.room, lock: 'exclusive' }, async (db, { afterCommit }, viewer, { room }) => {
      assertMayChangeRoom(viewer, room);
      const now = Date.now();
      const { uses = 1 } = input;
      const expiresAt = input.expiresAt ?? now + defaultMs;
      assertInput(
        problemIf(uses < 1 || uses > maxUses, 'uses', 'out_of_range'),
        problemIf(expiresAt <= now || expiresAt > now + maxMs, 'expiresAt', 'out_of_range'),
      );
      const roomId = room.id;
      if ((await findInvitations(db, roomId, maxInvitations)).length === maxInvitations)
        throw new ClientError('CONFLICT', `At most ${maxInvitations} invitations to a room; revoke one first.`);
      const code = randomBytes(codeBytes).toString('base64url');
      const byUserId = viewer.user.id;
      const row = { roomId, hash: hashKey(code), uses, creatorId: byUserId, expiresAt };
      const invitation = await insertInvitation(db, row);
      afterCommit(() =>
        context.services.audit({ event: 'invitationCreated', invitationId: invitation.id, roomId, byUserId }),
      );
      return { code, invitation };
    }),
  revokeInvitation: (_, { input }, context) =>
    changeInRoom(context, { id: input.room, sharesCommit: false }, async (db, { afterCommit }, viewer, { room }) => {
      assertMayChangeRoom(viewer, room);
      const [roomId, byUserId] = [room.id, viewer.user.id];
      const invitation = await deleteInvitation(db, roomId, input.id);
      if (!invitation) throw new ClientError('NOT_FOUND', 'There is no such invitation to this room.');
      afterCommit(() =>
        context.services.audit({ event: 'invitationRevoked', invitationId: invitation.id, roomId, byUserId }),
      );
      return { invitation };
    }),
} satisfies MutationResolvers;

/** Finds the open invitation of a code. @throws ClientError FORBIDDEN. */
export async function findInvitationOrThrow({ db }: Context, code: string | null | undefined): Promise<InvitationRow> {
  const invitation = code == null ? undefined : await findOpenInvitation(db, hashKey(code));
  if (!invitation) throw refused();
  return invitation;
}

/**
 * Uses an invitation for a new account, which joins the room. `createUser` runs with the lock of the room. @throws
 * ClientError FORBIDDEN if the invitation is no longer open.
 */
export async function acceptInvitation(
  db: Db,
  { append }: ChangeRecord,
  { id, roomId }: InvitationRow,
  createUser: () => Promise<UserRow>,
): Promise<UserRow> {
  const room = await findRoom(db, roomId, 'share');
  if (!room || !(await countUse(db, id))) throw refused();
  const user = await createUser();
  void append(membershipEvent('MemberJoined', room, user, user.id));
  return user;
}

/** The same for every reason, so that nobody learns which codes exist. */
function refused(): ClientError {
  return new ClientError('FORBIDDEN', 'The invitation is missing or wrong, has expired, or was used up or revoked.');
}
