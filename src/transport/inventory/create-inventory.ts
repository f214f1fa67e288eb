import type { Config } from '../../config.ts';
import type { Database } from '../../data/database.ts';
import type { OperationReports } from '../../engine/operation-reports.ts';
import type { Bus } from '../../live/bus/bus.ts';
import type { FanOut } from '../../live/fan-out.ts';
import type { GroupCosts } from '../../live/groups/group-costs.ts';
import { Inventory } from '../../live/inventory/inventory.ts';
import { StatusStreams } from '../../live/inventory/status-streams.ts';
import type { StreamTransport } from '../../live/live-counts.ts';
import type { Presence } from '../../live/presence/presence.ts';
import { nodeNameOf } from '../../log.ts';
import type { LongConnections } from '../long-connections.ts';
import type { EventLoopDelay } from '../metrics/event-loop-delay.ts';
import { MeasuredNode } from './measured-node.ts';

interface InventorySources {
  config: Pick<Config, 'nodeName'>;
  longConnections: LongConnections;
  operationReports: OperationReports;
  fanOut: FanOut;
  database: Database;
  bus: Bus;
  presence: Presence;
  groupCosts: GroupCosts;
  eventLoopDelay: EventLoopDelay;
  onError: (error: unknown) => void;
}

interface OpenInventory {
  inventory: Inventory;
  statusStreams: StatusStreams;
  /** The number of open subscriptions over a transport, of all kinds. */
  countSubscriptions: (transport: StreamTransport) => number;
  stop: () => void;
}

/** Creates the inventory of this node and the streams of the server's state. */
export function createInventory({ config, groupCosts, onError, ...sources }: InventorySources): OpenInventory {
  const { fanOut, database, bus, presence } = sources;
  const countSubscriptions = (transport: StreamTransport) =>
    fanOut.countOpen(transport) + presence.countOpen(transport) + statusStreams.countOpen(transport);
  const countAll = () => fanOut.sizes.subscribers + presence.size + statusStreams.size;
  const node = new MeasuredNode(nodeNameOf(config), { ...sources, countSubscriptions: countAll });
  const reportPresence = (roomIds: readonly string[]) => presence.report(roomIds);
  const inventory = new Inventory({ node, database, bus, reportPresence, onError });
  const statusStreams = new StatusStreams({ inventory, costs: groupCosts, counts: fanOut.counts, onError });
  return { inventory, statusStreams, countSubscriptions, stop: () => node.stop() };
}
