import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import type { PostgresConnection } from './connection.ts';

/** The statements of one transaction. */
export class Session implements DatabaseConnection {
  readonly connection: PostgresConnection;
  /** The error of the first statement that failed. */
  failure: { error: unknown; isEnd: boolean } | undefined;
  #hasEnded = false;

  constructor(connection: PostgresConnection) {
    this.connection = connection;
  }

  executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    return this.send<Row>(sql, parameters);
  }

  streamQuery(): never {
    throw new Error('Streaming is not supported.');
  }

  /** After a statement has failed, PostgreSQL refuses the later ones: they reject with the first error. */
  async send<Row>(sql: string, parameters: readonly unknown[] = []): Promise<QueryResult<Row>> {
    if (this.#hasEnded) throw new Error('The transaction has ended.');
    try {
      return await this.connection.send<Row>(sql, parameters);
    } catch (error) {
      this.failure ??= { error, isEnd: sql === 'commit' || sql === 'rollback' };
      throw this.failure.error;
    }
  }

  /** Sends a statement whose failure is reported by `failure`. */
  sendUnawaited(sql: string): void {
    this.send(sql).catch(() => {});
  }

  /** Sends the last statement. Returns the error of the first statement that failed. */
  async end(sql: 'commit' | 'rollback'): Promise<Session['failure']> {
    const ended = this.send(sql).catch(() => {});
    this.#hasEnded = true;
    await ended;
    return this.failure;
  }
}
