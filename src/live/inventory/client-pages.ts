import type { KeyRange } from '../../data/lists/key-ranges.ts';
import {
  type Connection,
  type ConnectionArguments,
  createConnection,
  type Edge,
  encodeKey,
} from '../../data/lists/pages.ts';
import { type Client, type ClientFilter, keyOf } from './client.ts';
import type { Inventory } from './inventory.ts';

export type ClientEdge = Edge<Client>;

export interface ClientConnection extends Connection<ClientEdge> {
  total: () => Promise<number>;
}

/** A page of the clients of all nodes. @throws ClientError VALIDATION_ERROR if an argument is invalid. */
export function findClientPage(
  inventory: Pick<Inventory, 'findClients'>,
  filter: ClientFilter,
  args: Pick<ConnectionArguments, 'first' | 'after'>,
): ClientConnection {
  const read = async (range: KeyRange) => {
    const { clients } = await inventory.findClients({ filter, range });
    return clients.map((node) => ({ cursor: encodeKey(keyOf(node)), node }));
  };
  return {
    ...createConnection({ read }, args),
    total: async () => (await inventory.findClients({ filter, range: { limit: 1 } })).total,
  };
}
