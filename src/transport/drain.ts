import { setTimeout as wait } from 'node:timers/promises';

/** A connection that lasts until one side closes it: a WebSocket, or an event stream. */
export interface LongConnection {
  /** Closes it as soon as its running operations are answered, so that its client resumes on another server. */
  drain(): void;
}

const batchMs = 100;
/** Reconnecting clients are admitted one after the other anyway: smaller batches would only prolong the drain. */
const minBatch = 50;

/** Moves the clients of a server that stops to other servers. */
export class Drain {
  readonly #connections = new Set<LongConnection>();
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

  begin(): void {
    this.#hasBegun = true;
    this.#begun.resolve();
  }

  add(connection: LongConnection): void {
    this.#connections.add(connection);
    // A request that had begun before the server stopped may open a stream after the others were closed.
    if (this.#isOver) connection.drain();
  }

  delete(connection: LongConnection): void {
    this.#connections.delete(connection);
  }

  /**
   * Closes all connections in batches that take about `seconds` together, so that their clients do not reconnect all at
   * once.
   */
  async closeAll(seconds: number): Promise<void> {
    const maxBatches = Math.max(1, (seconds * 1_000) / batchMs);
    const batchSize = Math.max(minBatch, Math.ceil(this.#connections.size / maxBatches));
    const remaining = [...this.#connections];
    while (remaining.length > 0) {
      for (const connection of remaining.splice(0, batchSize)) connection.drain();
      if (remaining.length > 0) await wait(batchMs);
    }
    this.#isOver = true;
    // Those that were opened during the batches.
    for (const connection of this.#connections) connection.drain();
  }
}
