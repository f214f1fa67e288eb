import { assertAdmin } from '../identity/access.ts';
import type { ServerStatus } from '../live/inventory/server-status.ts';
import type { QueryResolvers, RoomFollowersResolvers } from './resolver-types.generated.ts';
import type { SubscriptionField } from './subscription-source.ts';

export const RoomFollowers: RoomFollowersResolvers = {
  room: async ({ roomId }, _, { loaders }) => (await loaders.room.load(roomId)) ?? null,
};

export const serverStatusQueries: QueryResolvers = {
  serverStatus(_, __, { viewer, services }) {
    assertAdmin(viewer);
    return services.inventory.readStatus();
  },
};

export const serverStatusChanged: SubscriptionField<object, ServerStatus> = {
  async subscribe(_, __, { viewer }) {
    assertAdmin(viewer);
    return { type: 'serverStatus' };
  },
  resolve: (status) => status,
};
