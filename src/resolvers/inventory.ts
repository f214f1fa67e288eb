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
import type { Context } from './context.ts';
import { findOwnAccountOrThrow } from './rules/changes.ts';
import { assertInput, optional } from './rules/input-check.ts';
import { findLivingUser } from './rules/rows.ts';
import * as rules from './rules/validation.ts';
import type { Subscribe } from './subscription-source.ts';

const transports: Record<StreamTransport, Transport> = { sse: 'SSE', multipart: 'MULTIPART', websocket: 'WEBSOCKET' };
const measures = { OPERATIONS: 'operations', DELIVERIES: 'deliveries', REFUSALS: 'refusals' } as const;

const findViewer = ({ viewerId }: { viewerId: string | null }, _: object, { loaders }: Pick<Context, 'loaders'>) =>
  viewerId === null ? null : findLivingUser(loaders, viewerId);

export const inventoryResolvers = {
  Client: {
    viewer: findViewer,
    transport: ({ transport }) => transports[transport],
  },
  RoomFollowers: {
    room: async ({ roomId }, _, { loaders }) => (await loaders.room.load(roomId)) ?? null,
  },
  Load: {
    users: (loads) => loads.filter(({ kind }) => kind === 'user'),
    addresses: (loads) => loads.filter(({ kind }) => kind === 'address'),
  },
  UserLoad: { user: ({ by }, _, { loaders }) => findLivingUser(loaders, by) },
  AddressLoad: { address: ({ by }) => by },
  Refusal: { viewer: findViewer },
} satisfies Pick<Resolvers, 'Client' | 'RoomFollowers' | 'Load' | 'UserLoad' | 'AddressLoad' | 'Refusal'>;

export const serverStatusChanged: Subscribe<object> = async (_, __, { viewer }) => {
  assertAdmin(viewer);
  return { type: 'serverStatus' };
};

export const inventoryQueries = {
  serverStatus(_, __, { viewer, services }) {
    assertAdmin(viewer);
    return services.inventory.readStatus();
  },
  load(_, { order }, { viewer, services }) {
    assertAdmin(viewer);
    return services.inventory.readLoad(measures[order ?? 'OPERATIONS']);
  },
  refusals(_, { requestId }, { viewer, services }) {
    assertAdmin(viewer);
    assertInput(optional('requestId', requestId, rules.clientText));
    return services.inventory.findRefusals(requestId ?? null);
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
