import type { CompiledQuery, QueryResult } from 'kysely';
import { LimitedQueue, type QueueLimits, type Requester, requestQueueLimits } from '../../common/limited-queue.ts';
import type { StatementRunner } from '../sql/sql-dialect.ts';
import type { PostgresConnection } from './connection.ts';
import { isUnavailable, PostgresUnavailable } from './errors.ts';

/**
 * The maximum numbers of connections. With two of the bus a node has 20, so that the server's default limit of 100 allows
 * four nodes, a rolling restart and an administrator. More connections do not make a server faster.
 */
const sizes = { reads: 3, longReads: 2, checks: 1, transactions: 7, snapshots: 3, snapshotsDuringWrites: 2 };
const maxWaiting = 10_000;
/** The maximum time that a caller waits for a connection. */
const timeoutMs = 5_000;

export type PostgresConnections = ReturnType<typeof createConnections>;

/** Each use has connections of its own, so that none waits for another. */
export function createConnections(connect: () => Promise<PostgresConnection>) {
  return {
    reads: new SharedConnections(sizes.reads, connect),
    longReads: new ConnectionPool(sizes.longReads, connect, { ...requestQueueLimits, maxRunningPerCaller: 1 }),
    checks: new SharedConnections(sizes.checks, connect),
    transactions: new ConnectionPool(sizes.transactions, connect),
    snapshots: new ConnectionPool(sizes.snapshots, connect),
    snapshotsDuringWrites: new ConnectionPool(sizes.snapshotsDuringWrites, connect),
  };
}

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

/**
 * A few connections for any number of single reads, which are sent without waiting for each other. A read that fails with
 * its connection is sent once more, on another one.
 */
class SharedConnections implements StatementRunner {
  readonly #size: number;
  readonly #open: () => Promise<PostgresConnection>;
  readonly #connections: PostgresConnection[] = [];
  #opening: Promise<PostgresConnection> | undefined;
  #isClosed = false;

  constructor(size: number, open: () => Promise<PostgresConnection>) {
    this.#size = size;
    this.#open = open;
  }

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return repeatLost(async () => (this.#choose() ?? (await this.#connect())).executeQuery<Row>(query));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#connections.splice(0).map((connection) => connection.close()));
  }

  /** The connection on which the fewest statements wait. While all of them are busy, another one is opened. */
  #choose(): PostgresConnection | undefined {
    let chosen: PostgresConnection | undefined;
    for (const connection of this.#connections) {
      if (!connection.isUsable) continue;
      if (chosen === undefined || connection.pending < chosen.pending) chosen = connection;
      if (chosen.pending === 0) return chosen;
    }
    if (chosen) this.#connect().catch(() => {});
    return chosen;
  }

  /** All callers wait for the same connection. @throws PostgresUnavailable */
  async #connect(): Promise<PostgresConnection> {
    if (this.#isClosed) throw new PostgresUnavailable('busy', 'the database is closed');
    this.#removeUnusable();
    const [first] = this.#connections;
    if (first && this.#connections.length >= this.#size) return first;
    this.#opening ??= this.#add().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #add(): Promise<PostgresConnection> {
    const connection = await this.#open();
    if (this.#isClosed) await connection.close();
    else this.#connections.push(connection);
    return connection;
  }

  /** A connection that must be replaced still gives the answers that others wait for. */
  #removeUnusable(): void {
    for (const connection of this.#connections.filter(({ isUsable }) => !isUsable)) {
      this.#connections.splice(this.#connections.indexOf(connection), 1);
      connection.close().catch(() => {});
    }
  }
}

/** Sends a read once more, on another connection, if it has failed with its connection. */
export async function repeatLost<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (isUnavailable(error, 'lost', 'outdated')) return send();
    throw error;
  }
}
