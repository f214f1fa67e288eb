import { findInboxRooms } from '../data/domain/inbox-rooms.ts';
import { ClientError } from '../errors.ts';
import type { SubscriptionInboxArgs } from '../generated/resolver-types.generated.ts';
import { assertSignedIn } from '../identity/access.ts';
import { maxInboxRooms } from '../live/inbox/inbox-request.ts';
import { filterOf } from './room-event.ts';
import type { Subscribe } from './subscription-source.ts';

/** The maximum number of cursors: clients may send two of one room. */
const maxCursors = 2 * maxInboxRooms;

/** They begin and end rooms, or move the position in the viewer's own log. */
const alwaysSent = ['MemberJoined', 'MemberLeft', 'RoomRead', 'RoomDeleted'];

export const inbox: Subscribe<SubscriptionInboxArgs> = async (_, { after, types }, { viewer, db }, { schema }) => {
  const { user } = assertSignedIn(viewer);
  if (after && after.length > maxCursors) {
    const message = `after has ${after.length} cursors: at most ${maxCursors} are allowed.`;
    throw new ClientError('VALIDATION_ERROR', message, { details: [{ field: 'after', issue: 'too_long' }] });
  }
  const rooms = await findInboxRooms(db, user.id, maxInboxRooms);
  return {
    type: 'inbox',
    userId: user.id,
    rooms,
    after: after ?? undefined,
    project: filterOf({ types }, schema, alwaysSent),
  };
};
