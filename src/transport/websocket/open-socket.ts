import type { LongConnection } from '../long-connections.ts';
import type { Connection } from './connection.ts';

/** The close code for a connection that an operator ends: clients of graphql-ws do not connect again by themselves. */
const endedByOperator = 1008;

/** A WebSocket, as the inventory and the drain see it. */
export class OpenSocket implements LongConnection {
  readonly id: string;
  readonly since: number;
  readonly transport = 'websocket';
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
    ({ id: this.id, since: this.since } = connection.identity);
  }

  get address(): string {
    return this.#connection.address;
  }

  get viewerId(): string | null {
    return this.#connection.credentials.viewer?.user.id ?? null;
  }

  get subscriptions(): number {
    return this.#connection.operations.values().reduce((count, { isStream }) => count + Number(isStream), 0);
  }

  get bytesWaiting(): number {
    return this.#connection.socket.writableLength;
  }

  get lagMs(): number {
    return this.#connection.writer.lagMs;
  }

  fail(error: unknown): void {
    this.#connection.fail(error);
  }

  drain(): void {
    this.#connection.drain();
  }

  endByOperator(): void {
    this.#connection.end(endedByOperator, 'Ended by an operator');
  }
}
