import {
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  SqliteAdapter,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from 'kysely';
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

  override createAdapter(): DialectAdapter {
    return new SqliteReaderAdapter();
  }
}

class SqliteReaderDriver extends SqliteDriver {
  /** Before each statement, or the first of a transaction. */
  override async acquireConnection(): Promise<DatabaseConnection> {
    await yieldWhenDue();
    return super.acquireConnection();
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
