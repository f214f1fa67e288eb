import type { Database } from '../../data/database/database.ts';
import type { OperationReports } from '../../engine/operation-reports.ts';
import type { Bus } from '../../live/bus/bus.ts';
import type { FanOut } from '../../live/fan-out.ts';
import { type Client, type ClientQuestion, type ClientsAnswer, selectClients } from '../../live/inventory/clients.ts';
import type { LocalNode } from '../../live/inventory/inventory.ts';
import type { Load, LoadMeasure } from '../../live/inventory/load.ts';
import type { Refusal } from '../../live/inventory/refusals.ts';
import { mostFollowed, type NodeReport } from '../../live/inventory/server-status.ts';
import type { LongConnection, LongConnections } from '../long-connections.ts';
import type { EventLoopDelay } from '../metrics/event-loop-delay.ts';
import { version } from '../version.ts';
import { Rates } from './rates.ts';

export interface NodeParts {
  longConnections: LongConnections;
  operationReports: OperationReports;
  fanOut: FanOut;
  database: Pick<Database, 'countWaiting'>;
  bus: Pick<Bus, 'waitingCount'>;
  eventLoopDelay: EventLoopDelay;
}

const minuteMs = 60_000;
const maxRooms = 100;

/** The numbers of this node, from the same sources as its metrics. */
export class MeasuredNode implements LocalNode {
  readonly name: string;
  readonly #parts: NodeParts;
  readonly #rates: Rates<'operations' | 'failed' | 'deliveries' | 'lagSeconds' | 'lagged'>;
  readonly #minutes: NodeJS.Timeout;

  constructor(name: string, parts: NodeParts) {
    this.name = name;
    this.#parts = parts;
    this.#rates = new Rates(() => readCounts(parts));
    const { longConnections, operationReports } = parts;
    const beginMinute = () => longConnections.countDeliveries().then(() => operationReports.load.beginMinute());
    this.#minutes = setInterval(beginMinute, minuteMs).unref();
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
    this.#rates.stop();
    clearInterval(this.#minutes);
  }

  #describe(open: LongConnection): Client {
    const { id, viewerId, address, transport, since, subscriptions, bytesWaiting, lagMs } = open;
    return { id, viewerId, address, transport, since, node: this.name, subscriptions, bytesWaiting, lagMs };
  }

  #readStatus(): NodeReport['status'] {
    const { longConnections, fanOut, eventLoopDelay } = this.#parts;
    return {
      name: this.name,
      version,
      nodeVersion: process.version,
      startedAt: Math.round(performance.timeOrigin),
      connections: longConnections.byId.size,
      subscriptions: Object.values(fanOut.counts.open).reduce((sum, count) => sum + count, 0),
      roomsFollowed: fanOut.sizes.feeds,
      operationsPerSecond: this.#rates.perSecond('operations'),
      deliveriesPerSecond: this.#rates.perSecond('deliveries'),
      failedOperationsPerSecond: this.#rates.perSecond('failed'),
      lagMs: 1_000 * this.#rates.ratio('lagSeconds', 'lagged'),
      slowConsumers: fanOut.counts.slowConsumers,
      queues: this.#readQueues(),
      memoryBytes: process.memoryUsage.rss(),
      eventLoopLagMs: 1_000 * eventLoopDelay.readP99Seconds(),
    };
  }

  #readQueues(): NodeReport['status']['queues'] {
    const { database, bus } = this.#parts;
    const depths = { ...database.countWaiting(), bus: bus.waitingCount() };
    return Object.entries(depths).map(([name, depth]) => ({ name, depth }));
  }
}

function readCounts({ operationReports, fanOut: { counts } }: NodeParts) {
  let [all, failed] = [0, 0];
  for (const { code, count } of operationReports.counts()) {
    all += count;
    if (code !== 'OK' && code !== 'CANCELLED') failed += count;
  }
  const { sum, count } = counts.deliveryLag;
  return { operations: all, failed, deliveries: counts.deliveries, lagSeconds: sum, lagged: count };
}
