import { deleteMute, insertMute } from '../data/domain/memberships.ts';
import { findUser } from '../data/domain/users.ts';
import type { MutationResolvers } from '../generated/resolver-types.generated.ts';
import { assertAdmin, assertUser } from '../identity/access.ts';
import { changeInRoom } from './rules/changes.ts';
import { assertInput, problemIf } from './rules/input-check.ts';

export const muteMutations = {
  async muteUser(_, { input }, context) {
    assertAdmin(context.viewer);
    const { until = null } = input;
    assertInput(problemIf(until !== null && until <= Date.now(), 'until', 'out_of_range'));
    // Exclusive: when the mutation is answered, no post is being written that does not know of it.
    const place = { id: input.room, lock: 'exclusive' } as const;
    return changeInRoom(context, place, async (db, { write, announce, afterCommit }, viewer, { room }) => {
      assertAdmin(viewer);
      const user = assertUser(await findUser(db, input.user, 'share'));
      const [roomId, userId] = [room.id, user.id];
      write(until === null ? deleteMute(db, { roomId, userId }) : insertMute(db, { roomId, userId, until }));
      const shown = until === null ? null : new Date(until).toISOString();
      const byUserId = viewer.user.id;
      afterCommit(() => context.services.audit({ event: 'userMuted', userId, roomId, until: shown, byUserId }));
      if (until !== null) announce({ type: 'userMuted', roomId, userId });
      return { user, room, until };
    });
  },
} satisfies MutationResolvers;
