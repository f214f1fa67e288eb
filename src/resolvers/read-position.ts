import { advanceReadPosition, findLatestTime, findPostTime } from '../data/read-positions.ts';
import { invalidInput } from '../errors.ts';
import { assertMember } from '../identity/access.ts';
import type { MutationResolvers } from './resolver-types.generated.ts';
import { changeInRoom } from './rules/changes.ts';

export const readPositionMutations: MutationResolvers = {
  markRead: (_, { input: { room: id, post } }, context) =>
    // It does not change the room's row, so it need not wait for those who do.
    changeInRoom(context, { id, sharesCommit: false }, async (db, { announce }, { user }, { room, isMember }) => {
      assertMember(isMember);
      const readUpTo = await (post == null ? findLatestTime(db, room.id) : findPostTime(db, room.id, post));
      if (readUpTo === undefined) throw invalidInput([{ field: 'post', issue: 'invalid' }]);
      const position = { roomId: room.id, userId: user.id, readUpTo };
      if (await advanceReadPosition(db, position)) announce({ type: 'roomRead', ...position });
      return { room };
    }),
};
