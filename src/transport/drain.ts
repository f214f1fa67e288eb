import { setTimeout as wait } from 'node:timers/promises';
import { containEach } from '../contain.ts';
import type { LongConnections } from './long-connections.ts';

const batchMs = 100;
/** Reconnecting clients are admitted one after the other anyway: smaller batches would only prolong the drain. */
const minBatch = 50;

/** Moves the clients of long connections to other servers when this node stops. */
export class Drain {
  readonly #connections: LongConnections;
  readonly #begun = Promise.withResolvers<void>();
  #hasBegun = false;

  constructor(connections: LongConnections) {
    this.#connections = connections;
  }

  /** From then on the server is not ready, and every answer closes its keep-alive connection. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  begin(): void {
    this.#hasBegun = true;
    this.#begun.resolve();
  }

  /**
   * Closes all connections in batches that take about `seconds` together, so that their clients do not reconnect all at
   * once.
   */
  async closeAll(seconds: number): Promise<void> {
    const maxBatches = Math.max(1, (seconds * 1_000) / batchMs);
    const remaining = [...this.#connections.byId.values()];
    const batchSize = Math.max(minBatch, Math.ceil(remaining.length / maxBatches));
    while (remaining.length > 0) {
      containEach(remaining.splice(0, batchSize), (connection) => connection.drain());
      if (remaining.length > 0) await wait(batchMs);
    }
    // Others were opened during the batches.
    this.#connections.drainAll();
  }
}
