import { setTimeout as wait } from 'node:timers/promises';
import { containEach, type Failing } from '../common/contain.ts';
import { yieldWhenDue } from '../common/event-loop.ts';
import type { RecentLoad } from '../live/inventory/load.ts';
import type { StreamTransport } from '../live/live-counts.ts';

const batchMs = 100;
/** Reconnecting clients are admitted one after the other anyway: smaller batches would only prolong the drain. */
const minBatch = 50;

/**
 * The maximum number of bytes that wait on the socket of a live subscriber; above it, the subscriber is no longer live.
 */
export const maxBufferedBytes = 256 * 1024;

/** A connection that lasts until one side closes it: a WebSocket, or a stream over HTTP. */
export interface LongConnection extends Failing {
  readonly id: string;
  /** When it was opened, in milliseconds since 1970. */
  readonly since: number;
  readonly transport: StreamTransport;
  readonly address: string;
  readonly viewerId: string | null;
  /** The number of open subscriptions. */
  readonly subscriptions: number;
  readonly bytesWaiting: number;
  /** From the time of its latest live event to the write; 0 before the first. */
  readonly lagMs: number;
  /** The live events that were written to it and are not in the load yet. */
  deliveries: number;
  /** Closes it as soon as its running operations are answered, so that its client resumes on another server. */
  drain(): void;
  /** Ends it at once; its client is notified of the reason. */
  endByOperator(): void;
}

/** The long connections of this node. */
export class LongConnections {
  /** In the order in which they were opened. */
  readonly byId = new Map<string, LongConnection>();
  readonly #load: RecentLoad;
  #areDrained = false;

  constructor(load: RecentLoad) {
    this.#load = load;
  }

  add(connection: LongConnection): void {
    this.byId.set(connection.id, connection);
    // A request that had begun before the server stopped may open a stream after the others were closed.
    if (this.#areDrained) connection.drain();
  }

  delete(connection: LongConnection): void {
    this.byId.delete(connection.id);
    this.#countDeliveries(connection);
  }

  /** Adds the deliveries so far to the load. */
  async countDeliveries(): Promise<void> {
    for (const connection of this.byId.values()) {
      await yieldWhenDue();
      this.#countDeliveries(connection);
    }
  }

  /**
   * Moves the clients to other servers: closes all connections in batches that take about `seconds` together, so that
   * their clients do not reconnect all at once, and from then on each connection that is added.
   */
  async drain(seconds: number): Promise<void> {
    const maxBatches = Math.max(1, (seconds * 1_000) / batchMs);
    const remaining = [...this.byId.values()];
    const batchSize = Math.max(minBatch, Math.ceil(remaining.length / maxBatches));
    while (remaining.length > 0) {
      containEach(remaining.splice(0, batchSize), (connection) => connection.drain());
      if (remaining.length > 0) await wait(batchMs);
    }
    this.#areDrained = true;
    // Others were opened during the batches.
    containEach(this.byId.values(), (connection) => connection.drain());
  }

  #countDeliveries(connection: LongConnection): void {
    const { viewerId, address, deliveries } = connection;
    if (deliveries > 0) this.#load.count(viewerId, address, { deliveries });
    connection.deliveries = 0;
  }
}
