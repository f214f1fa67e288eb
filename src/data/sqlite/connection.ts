import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { CompiledQuery, type DatabaseConnection, type QueryResult } from 'kysely';
import { LRUCache } from 'lru-cache';
import { yieldWhenDue } from '../../event-loop.ts';
import { translateError } from './errors.ts';

const busyTimeoutMs = 5_000;
const maxStatements = 500;

export interface ConnectionOptions {
  mode: 'read' | 'write';
  /** Called with every error of a statement. */
  onError: (error: unknown) => void;
}

interface Statement {
  statement: StatementSync;
  columns: string[];
}

/** One connection of node:sqlite. It prepares each statement once. */
export class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync;
  readonly #options: ConnectionOptions;
  readonly #statements = new LRUCache<string, Statement>({ max: maxStatements });
  #failure: { error: unknown } | undefined;

  constructor(url: string, options: ConnectionOptions) {
    this.#database = new DatabaseSync(url, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
    this.#options = options;
    this.#database.exec(
      'pragma journal_mode = wal; pragma synchronous = full; pragma secure_delete = on; pragma cache_size = -16000; pragma temp_store = memory',
    );
    // The writer waits for other processes by itself (`SqliteWriter`), because `busy_timeout` would block this process.
    this.#database.exec(options.mode === 'read' ? 'pragma query_only = on' : 'pragma busy_timeout = 0');
  }

  get isTransaction(): boolean {
    return this.#database.isTransaction;
  }

  async beginTransaction(begin: CompiledQuery): Promise<void> {
    this.#failure = undefined;
    await this.executeQuery(begin);
  }

  /** @throws the error of the first failed statement, which the caller may not have awaited. */
  async commitTransaction(): Promise<void> {
    if (this.#failure) throw this.#failure.error;
    await this.executeQuery(CompiledQuery.raw('commit'));
  }

  /**
   * A read yields to the event loop right before it runs, so that the time of all earlier statements of the turn is
   * counted. A write does not, because others wait for the end of its transaction.
   */
  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#options.mode === 'read') {
      const turn = yieldWhenDue();
      if (turn) await turn;
    }
    try {
      return this.#run(sql, parameters as readonly SQLInputValue[]) as QueryResult<Row>;
    } catch (error) {
      const translated = translateError(error);
      this.#failure ??= { error: translated };
      this.#options.onError(translated);
      throw translated;
    }
  }

  streamQuery(): never {
    throw new Error('Streaming is not supported.');
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #run(sql: string, parameters: readonly SQLInputValue[]): QueryResult<unknown> {
    const prepared = this.#prepare(sql);
    if (prepared.columns.length > 0) return { rows: readRows(prepared, parameters) };
    return { rows: [], numAffectedRows: BigInt(prepared.statement.run(...parameters).changes) };
  }

  #prepare(sql: string): Statement {
    const cached = this.#statements.get(sql);
    if (cached) return cached;
    const statement = this.#database.prepare(sql);
    // The row objects of node:sqlite are dictionaries, which are slow to create and slower to read.
    statement.setReturnArrays(true);
    const prepared = { statement, columns: columnsOf(statement) };
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

function readRows(prepared: Statement, parameters: readonly SQLInputValue[]): Record<string, unknown>[] {
  const rows = prepared.statement.all(...parameters) as unknown as unknown[][];
  return rows.map((values) => {
    // SQLite compiles a statement again, with other columns, after a migration has changed the table.
    if (values.length !== prepared.columns.length) prepared.columns = columnsOf(prepared.statement);
    return toObject(prepared.columns, values);
  });
}

function columnsOf(statement: StatementSync): string[] {
  return statement.columns().map(({ name }) => name);
}

function toObject(columns: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (let index = 0; index < columns.length; index += 1) row[columns[index] ?? ''] = values[index];
  return row;
}
