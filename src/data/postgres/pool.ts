import { LimitedQueue, type QueueLimits, type Requester } from '../../common/limited-queue.ts';
import type { PostgresConnection } from './connection.ts';
import { PostgresUnavailable } from './errors.ts';

const maxWaiting = 10_000;
/** The maximum time that a caller waits for a connection. */
const timeoutMs = 5_000;

/** Lends each connection to one caller at a time. Lost connections are replaced when they are needed. */
export class ConnectionPool {
  readonly #queue: LimitedQueue;
  readonly #open: () => Promise<PostgresConnection>;
  readonly #idle: PostgresConnection[] = [];
  #isClosed = false;

  constructor(maxRunning: number, open: () => Promise<PostgresConnection>, limits: Partial<QueueLimits> = {}) {
    const refusal = () => new PostgresUnavailable('busy', `no connection was free within ${timeoutMs} ms`);
    this.#queue = new LimitedQueue({ maxRunning, maxWaiting, timeoutMs, refusal, ...limits });
    this.#open = open;
  }

  get waitingCount(): number {
    return this.#queue.size;
  }

  /** Runs work with a connection. @throws PostgresUnavailable, the reason of the cancellation, or any error of `work`. */
  run<T>(work: (connection: PostgresConnection) => Promise<T>, requester?: Requester): Promise<T> {
    return this.#queue.run(async () => {
      if (this.#isClosed) throw new PostgresUnavailable('fault', 'the database is closed');
      const connection = this.#takeIdle() ?? (await this.#open());
      try {
        return await work(connection);
      } finally {
        // The server also ends the transaction, if there is still one.
        if (this.#isClosed || !connection.isUsable) connection.destroy();
        else this.#idle.push(connection);
      }
    }, requester);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()));
  }

  #takeIdle(): PostgresConnection | undefined {
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (connection.isUsable) return connection;
      connection.destroy();
    }
    return undefined;
  }
}
