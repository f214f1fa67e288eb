import { ClientError } from '../errors.ts';
import type {
  ConnectionFilter,
  MutationResolvers,
  QueryResolvers,
  Resolvers,
  Transport,
} from '../generated/resolver-types.generated.ts';
import { assertAdmin } from '../identity/access.ts';
import { type ClientFilter, findClientPage } from '../live/inventory/clients.ts';
import { type StreamTransport, streamTransports } from '../live/live-counts.ts';
import { findOwnAccountOrThrow } from './rules/changes.ts';
import { assertInput, optional } from './rules/input-check.ts';
import { findLivingUser } from './rules/rows.ts';
import * as rules from './rules/validation.ts';
import type { Subscribe } from './subscription-source.ts';

const transports: Record<StreamTransport, Transport> = { sse: 'SSE', multipart: 'MULTIPART', websocket: 'WEBSOCKET' };

export const inventoryResolvers = {
  Client: {
    viewer: ({ viewerId }, _, { loaders }) => (viewerId === null ? null : findLivingUser(loaders, viewerId)),
    transport: ({ transport }) => transports[transport],
  },
  RoomFollowers: {
    room: async ({ roomId }, _, { loaders }) => (await loaders.room.load(roomId)) ?? null,
  },
} satisfies Pick<Resolvers, 'Client' | 'RoomFollowers'>;

export const serverStatusChanged: Subscribe<object> = async (_, __, { viewer }) => {
  assertAdmin(viewer);
  return { type: 'serverStatus' };
};

export const inventoryQueries = {
  serverStatus(_, __, { viewer, services }) {
    assertAdmin(viewer);
    return services.inventory.readStatus();
  },
  connections(_, { filter, ...page }, { viewer, services }) {
    assertAdmin(viewer);
    return findClientPage(services.inventory, toClientFilter(filter ?? {}), page);
  },
} satisfies QueryResolvers;

export const inventoryMutations = {
  async endConnection(_, { input: { id } }, context) {
    const viewer = assertAdmin(context.viewer);
    const { role } = await findOwnAccountOrThrow(context.db, viewer);
    assertAdmin({ ...viewer, user: { ...viewer.user, role } });
    const ended = await context.services.inventory.endClient(id);
    if (!ended) throw new ClientError('NOT_FOUND', 'There is no such connection.');
    const { viewerId: userId, address } = ended;
    context.services.audit({ event: 'connectionEnded', connectionId: id, userId, address, byUserId: viewer.user.id });
    return { id };
  },
} satisfies MutationResolvers;

/** @throws ClientError VALIDATION_ERROR. */
function toClientFilter({ viewer, transport, address }: ConnectionFilter): ClientFilter {
  assertInput(
    optional('filter.viewer', viewer, rules.clientText),
    optional('filter.address', address, rules.clientText),
  );
  const found = streamTransports.find((name) => transports[name] === transport);
  return { viewerId: viewer, address, transport: found };
}
