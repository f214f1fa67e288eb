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

/** SQLite for a connection that reads: however many statements wait for it, others have their turn of the event loop between them. */
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

  /** Right before the statement runs: of many that were asked for in one turn, each sees the time that those before it took. */
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
   * Its one connection serves any number of statements, each of which is synchronous. Kysely would lock it otherwise, and wake
   * all who wait each time one is done: for thousands that takes longer than their statements.
   */
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}
