import { setTimeout as wait } from 'node:timers/promises';
import type { StreamTransport } from '../live/live-counts.ts';

/** A connection that lasts until one side closes it: a WebSocket, or a stream over HTTP. */
export interface LongConnection {
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
  /** Closes it as soon as its running operations are answered, so that its client resumes on another server. */
  drain(): void;
  /** Ends it at once; its client is notified of the reason. */
  endByOperator(): void;
}

const batchMs = 100;
/** Reconnecting clients are admitted one after the other anyway: smaller batches would only prolong the drain. */
const minBatch = 50;

/** The long connections of this node. Moves their clients to other servers when it stops. */
export class Drain {
  readonly #connections = new Map<string, LongConnection>();
  readonly #begun = Promise.withResolvers<void>();
  #hasBegun = false;
  #isOver = false;

  /** From then on the server is not ready, and every answer closes its keep-alive connection. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  /** The connections by id, in the order in which they were opened. */
  get connections(): ReadonlyMap<string, LongConnection> {
    return this.#connections;
  }

  begin(): void {
    this.#hasBegun = true;
    this.#begun.resolve();
  }

  add(connection: LongConnection): void {
    this.#connections.set(connection.id, connection);
    // A request that had begun before the server stopped may open a stream after the others were closed.
    if (this.#isOver) connection.drain();
  }

  delete(connection: LongConnection): void {
    this.#connections.delete(connection.id);
  }

  /**
   * Closes all connections in batches that take about `seconds` together, so that their clients do not reconnect all at
   * once.
   */
  async closeAll(seconds: number): Promise<void> {
    const maxBatches = Math.max(1, (seconds * 1_000) / batchMs);
    const batchSize = Math.max(minBatch, Math.ceil(this.#connections.size / maxBatches));
    const remaining = [...this.#connections.values()];
    while (remaining.length > 0) {
      for (const connection of remaining.splice(0, batchSize)) connection.drain();
      if (remaining.length > 0) await wait(batchMs);
    }
    this.#isOver = true;
    // Those that were opened during the batches.
    for (const connection of this.#connections.values()) connection.drain();
  }
}
