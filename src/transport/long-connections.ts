import { containEach, type Failing } from '../contain.ts';
import type { StreamTransport } from '../live/live-counts.ts';

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
  /** Closes it as soon as its running operations are answered, so that its client resumes on another server. */
  drain(): void;
  /** Ends it at once; its client is notified of the reason. */
  endByOperator(): void;
}

/** The long connections of this node. */
export class LongConnections {
  readonly #byId = new Map<string, LongConnection>();
  #areDrained = false;

  /** In the order in which they were opened. */
  get byId(): ReadonlyMap<string, LongConnection> {
    return this.#byId;
  }

  add(connection: LongConnection): void {
    this.#byId.set(connection.id, connection);
    // A request that had begun before the server stopped may open a stream after the others were closed.
    if (this.#areDrained) connection.drain();
  }

  delete(connection: LongConnection): void {
    this.#byId.delete(connection.id);
  }

  /** Closes all connections, and from then on each that is added. */
  drainAll(): void {
    this.#areDrained = true;
    containEach(this.#byId.values(), (connection) => connection.drain());
  }
}
