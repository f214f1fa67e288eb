import {
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  type SelectModifierNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  Transaction,
} from 'kysely';
import { DirectExecutor } from '../sql/direct-executor.ts';
import type { Tables } from '../tables.ts';
import type { SqliteConnection } from './connection.ts';

/** Kysely's SQLite with connections of node:sqlite. */
export class SqliteDialect implements Dialect {
  readonly #driver: Driver;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  createDriver(): Driver {
    return this.#driver;
  }

  createAdapter(): DialectAdapter {
    return adapter;
  }

  createQueryCompiler(): SqliteQueryCompiler {
    return queryCompiler;
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new SqliteIntrospector(db);
  }
}

/** The drivers below share out the connections. Kysely would let only one caller at a time have any. */
class ConcurrentAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/** SQLite has no row locks: a transaction that writes has the whole database for itself. */
class QueryCompilerWithoutRowLocks extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    const isLock = node.modifier === 'SkipLocked' || node.modifier?.startsWith('For');
    if (!isLock) super.visitSelectModifier(node);
  }
}

const adapter = new ConcurrentAdapter();
const queryCompiler = new QueryCompilerWithoutRowLocks();

/** Kysely's query builder on one connection. It neither begins nor ends a transaction. */
export function toTransaction(connection: DatabaseConnection): Transaction<Tables> {
  const executor = new DirectExecutor(queryCompiler, adapter, connection);
  return new Transaction<Tables>({ config: { dialect }, dialect, driver, executor });
}

/** Lends each connection to one caller at a time; further callers wait. */
export class PoolDriver implements Driver {
  readonly #idle: SqliteConnection[];
  readonly #waiting: ((connection: SqliteConnection) => void)[] = [];

  constructor(connections: readonly SqliteConnection[]) {
    this.#idle = [...connections];
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteConnection> {
    return this.#idle.pop() ?? new Promise((lend) => this.#waiting.push(lend));
  }

  async releaseConnection(connection: SqliteConnection): Promise<void> {
    const next = this.#waiting.shift();
    if (next) next(connection);
    else this.#idle.push(connection);
  }

  async beginTransaction(connection: SqliteConnection): Promise<void> {
    connection.execute('begin');
  }

  async commitTransaction(connection: SqliteConnection): Promise<void> {
    connection.execute('commit');
  }

  async rollbackTransaction(connection: SqliteConnection): Promise<void> {
    connection.rollback();
  }

  /** The connections are closed by `openSqlite`, because Kysely does not close those that it has not used. */
  async destroy(): Promise<void> {}
}

const driver = new PoolDriver([]);
const dialect = new SqliteDialect(driver);
