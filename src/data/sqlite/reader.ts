import {
  type CompiledQuery,
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from 'kysely';
import { yieldWhenDue } from '../../event-loop.ts';

/**
 * SQLite for the connection that reads. Between statements it yields to the event loop, however many statements wait.
 */
export class SqliteReaderDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;

  constructor(config: SqliteDialectConfig) {
    super(config);
    this.#config = config;
  }

  override createDriver(): Driver {
    return new SqliteReaderDriver(this.#config);
  }

  override createAdapter(): DialectAdapter {
    return new SqliteReaderAdapter();
  }
}

class SqliteReaderDriver extends SqliteDriver {
  #connection: DatabaseConnection | undefined;

  override async acquireConnection(): Promise<DatabaseConnection> {
    this.#connection ??= new YieldingConnection(await super.acquireConnection());
    return this.#connection;
  }
}

class YieldingConnection implements DatabaseConnection {
  readonly #connection: DatabaseConnection;

  constructor(connection: DatabaseConnection) {
    this.#connection = connection;
  }

  /** Yields right before a statement runs, so that the time of all earlier statements of the turn is counted. */
  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const turn = yieldWhenDue();
    if (turn) await turn;
    return this.#connection.executeQuery(query);
  }

  streamQuery<Row>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<Row>> {
    return this.#connection.streamQuery(query, chunkSize);
  }
}

class SqliteReaderAdapter extends SqliteAdapter {
  /**
   * The single connection serves any number of callers, because each statement is synchronous. Otherwise Kysely would
   * lock it and wake all waiting callers after each statement; with thousands of callers that takes longer than the
   * statements.
   */
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}
