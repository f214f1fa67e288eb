import { findMute } from '../data/domain/memberships.ts';
import type { PublicUser } from '../data/tables.ts';
import type {
  MutationResolvers,
  RoomPresenceResolvers,
  SubscriptionRoomPresenceArgs,
} from '../generated/resolver-types.generated.ts';
import { assertMayPost, assertNotMuted, assertSignedIn } from '../identity/access.ts';
import { accountIdOf, keyIdOf } from '../identity/viewer.ts';
import { firstByName, maxTyping, maxUsers } from '../live/presence/presence-state.ts';
import type { Context } from './context.ts';
import { findLivingUser, loadRoom } from './rules/rows.ts';
import { findVisibleRoomOrThrow, mutedUsersOf } from './rules/visible-rows.ts';
import type { Subscribe } from './subscription-source.ts';

export const RoomPresence = {
  room: ({ roomId }, _, { loaders }) => loadRoom(loaders, roomId),
  users: ({ users }, _, context) => findFirst(users, maxUsers, context),
  typing: ({ typing }, _, context) => findFirst(typing, maxTyping, context),
} satisfies RoomPresenceResolvers;

export const roomPresence: Subscribe<SubscriptionRoomPresenceArgs> = async (_, { room: id, visible }, context) => {
  const { id: roomId } = await findVisibleRoomOrThrow(id, context);
  const { viewer, address, viewerScope } = context;
  const keyId = viewer ? keyIdOf(viewer.credential) : undefined;
  const presentViewer = { user: viewer && toNamed(viewer.user), keyId, address, viewerScope };
  return { type: 'presence', roomId, presentViewer: (visible ?? true) ? presentViewer : null };
};

export const presenceMutations = {
  async setTyping(_, { input }, context) {
    const viewer = assertSignedIn(context.viewer);
    const { user } = viewer;
    const room = await findVisibleRoomOrThrow(input.room, context);
    const { presence } = context.services;
    assertMayPost(room, await context.loaders.isMember(user.id, room.id));
    if (input.typing) {
      assertNotMuted(await findMute(context.db, { roomId: room.id }, mutedUsersOf(viewer)));
      const typist = { ...toNamed(user), accountId: accountIdOf(viewer) };
      await presence.startTyping(room.id, typist, context.viewerScope);
    } else presence.stopTyping(room.id, user.id);
    return { room };
  },
} satisfies MutationResolvers;

/** The names are read again, because users may have changed them since they entered. */
async function findFirst(ids: readonly string[], limit: number, { loaders }: Context): Promise<PublicUser[]> {
  const users = await Promise.all(ids.map((id) => findLivingUser(loaders, id)));
  const living = users.filter((user) => user !== null);
  return firstByName(living, limit);
}

function toNamed({ id, name }: PublicUser) {
  return { id, name };
}
