import type { CompiledQuery, QueryResult } from 'kysely';
import type { StatementRunner } from '../sql/sql-dialect.ts';
import type { PostgresConnection } from './connection.ts';
import { isUnavailable, PostgresUnavailable } from './errors.ts';

/**
 * A few connections for any number of single reads, which are sent without waiting for each other. A read that fails with
 * its connection is sent once more, on another one.
 */
export class SharedConnections implements StatementRunner {
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
