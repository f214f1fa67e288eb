import { version } from '../common/version.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../data/database/database.ts';
import type { OperationReports } from '../engine/operation-reports.ts';
import type { Bus } from '../live/bus/bus.ts';
import type { FanOut } from '../live/fan-out.ts';
import { type Client, type ClientQuestion, type ClientsAnswer, selectClients } from '../live/inventory/clients.ts';
import { Inventory, type LocalNode } from '../live/inventory/inventory.ts';
import type { Load, LoadMeasure } from '../live/inventory/load.ts';
import type { Refusal } from '../live/inventory/refusals.ts';
import { mostFollowed, type NodeReport, type ServerStatus } from '../live/inventory/server-status.ts';
import type { Presence } from '../live/presence/presence.ts';
import { StateStreams } from '../live/states/state-streams.ts';
import { nodeNameOf } from '../log/log.ts';
import type { LongConnection, LongConnections } from './long-connections.ts';
import type { EventLoopDelay } from './metrics/event-loop-delay.ts';

interface NodeParts {
  longConnections: LongConnections;
  operationReports: OperationReports;
  fanOut: FanOut;
  database: Database;
  bus: Bus;
  eventLoopDelay: EventLoopDelay;
}

interface InventorySources extends NodeParts {
  config: Pick<Config, 'nodeName'>;
  presence: Presence;
  onError: (error: unknown) => void;
}

const statusIntervalMs = 1_000;
const sampleMs = 1_000;
const minuteMs = 60_000;
const maxRooms = 100;

/** Creates the inventory of this node and the streams of the server's state. */
export function createInventory({ config, presence, onError, ...parts }: InventorySources) {
  const { fanOut, database, bus } = parts;
  const node = new MeasuredNode(nodeNameOf(config), parts);
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

/** The numbers of this node, from the same sources as its metrics. */
class MeasuredNode implements LocalNode {
  readonly name: string;
  readonly #parts: NodeParts;
  /** Each reader gets the rates between these two: those of the last full second. */
  #previous: Sample;
  #latest: Sample;
  readonly #timers: readonly NodeJS.Timeout[];

  constructor(name: string, parts: NodeParts) {
    this.name = name;
    this.#parts = parts;
    this.#latest = readSample(parts);
    this.#previous = this.#latest;
    const sample = () => {
      this.#previous = this.#latest;
      this.#latest = readSample(parts);
    };
    const { longConnections, operationReports } = parts;
    const beginMinute = () => longConnections.countDeliveries().then(() => operationReports.load.beginMinute());
    this.#timers = [setInterval(sample, sampleMs).unref(), setInterval(beginMinute, minuteMs).unref()];
  }

  readReport(): NodeReport {
    const { operationReports, fanOut } = this.#parts;
    return {
      status: this.#readStatus(),
      errors: operationReports.errors(),
      rooms: mostFollowed(fanOut.groups.followers(), maxRooms),
    };
  }

  findClients(question: ClientQuestion): ClientsAnswer {
    return selectClients(this.#parts.longConnections.byId.values(), question, (open) => this.#describe(open));
  }

  async readLoad(measure: LoadMeasure): Promise<Load[]> {
    await this.#parts.longConnections.countDeliveries();
    return this.#parts.operationReports.load.find(measure);
  }

  findRefusals(requestId: string | null): Refusal[] {
    return this.#parts.operationReports.refusals.find(requestId, this.name);
  }

  endClient(id: string): Client | undefined {
    const open = this.#parts.longConnections.byId.get(id);
    if (!open) return undefined;
    const client = this.#describe(open);
    open.endByOperator();
    return client;
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  #describe(open: LongConnection): Client {
    const { id, viewerId, address, transport, since, subscriptions, bytesWaiting, lagMs } = open;
    return { id, viewerId, address, transport, since, node: this.name, subscriptions, bytesWaiting, lagMs };
  }

  #readStatus(): NodeReport['status'] {
    const { longConnections, fanOut, eventLoopDelay, database, bus } = this.#parts;
    const depths = { ...database.countWaiting(), bus: bus.waitingCount() };
    const increase = (name: keyof Sample) => this.#latest[name] - this.#previous[name];
    const seconds = increase('at') / 1_000 || 1;
    return {
      name: this.name,
      version,
      nodeVersion: process.version,
      startedAt: Math.round(performance.timeOrigin),
      connections: longConnections.byId.size,
      subscriptions: Object.values(fanOut.counts.open).reduce((sum, count) => sum + count, 0),
      roomsFollowed: fanOut.sizes.feeds,
      operationsPerSecond: increase('operations') / seconds,
      deliveriesPerSecond: increase('deliveries') / seconds,
      failedOperationsPerSecond: increase('failed') / seconds,
      lagMs: (1_000 * increase('lagSeconds')) / (increase('lagged') || 1),
      slowConsumers: fanOut.counts.slowConsumers,
      queues: Object.entries(depths).map(([name, depth]) => ({ name, depth })),
      memoryBytes: process.memoryUsage.rss(),
      eventLoopLagMs: 1_000 * eventLoopDelay.readP99Seconds(),
    };
  }
}

type Sample = ReturnType<typeof readSample>;

/** Counts that only increase. `at`: by performance.now(), because the timer may be late. */
function readSample({ operationReports, fanOut: { counts } }: NodeParts) {
  let [operations, failed] = [0, 0];
  for (const { code, count } of operationReports.counts()) {
    operations += count;
    if (code !== 'OK' && code !== 'CANCELLED') failed += count;
  }
  const { sum, count } = counts.deliveryLag;
  const { deliveries } = counts;
  return { at: performance.now(), operations, failed, deliveries, lagSeconds: sum, lagged: count };
}
