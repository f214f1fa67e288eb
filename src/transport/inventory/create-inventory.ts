import type { Config } from '../../config/config.ts';
import type { Database } from '../../data/database/database.ts';
import type { Bus } from '../../live/bus/bus.ts';
import { Inventory } from '../../live/inventory/inventory.ts';
import type { ServerStatus } from '../../live/inventory/server-status.ts';
import type { Presence } from '../../live/presence/presence.ts';
import { StateStreams } from '../../live/states/state-streams.ts';
import { nodeNameOf } from '../../log/log.ts';
import { MeasuredNode, type NodeParts } from './measured-node.ts';

const statusIntervalMs = 1_000;

interface InventorySources extends NodeParts {
  config: Pick<Config, 'nodeName'>;
  database: Database;
  bus: Bus;
  presence: Presence;
  onError: (error: unknown) => void;
}

/** Creates the inventory of this node and the streams of the server's state. */
export function createInventory({ config, onError, ...sources }: InventorySources) {
  const { fanOut, database, bus, presence } = sources;
  const node = new MeasuredNode(nodeNameOf(config), sources);
  const reportPresence = (roomIds: readonly string[]) => presence.report(roomIds);
  const inventory = new Inventory({ node, database, bus, reportPresence, onError });
  const statusStreams = new StateStreams<ServerStatus>({
    fanOut,
    name: 'status',
    read: () => inventory.readStatus(),
    intervalMs: statusIntervalMs,
    onError,
  });
  return { inventory, statusStreams, stop: () => node.stop() };
}
