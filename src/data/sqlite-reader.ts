import { type DatabaseConnection, type Driver, SqliteDialect, type SqliteDialectConfig, SqliteDriver } from 'kysely';
import { yieldWhenDue } from '../event-loop.ts';

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
}

class SqliteReaderDriver extends SqliteDriver {
  /** Before each statement, or the first of a transaction. */
  override async acquireConnection(): Promise<DatabaseConnection> {
    await yieldWhenDue();
    return super.acquireConnection();
  }
}
