import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { CompiledQuery, QueryResult } from 'kysely';
import { LRUCache } from 'lru-cache';
import { nextTurnWhenDue } from '../../common/event-loop.ts';
import { toComposed } from '../../common/names.ts';
import { TracelessError } from '../../common/stack-traces.ts';
import { findRowReader, type RowReader } from '../sql/row-reader.ts';
import type { StatementRunner } from '../sql/sql-dialect.ts';
import { translateSqliteError } from './errors.ts';
import type { ReadCommand } from './threads/worker.ts';

const busyTimeoutMs = 5_000;
const maxStatements = 500;

const pragmas = {
  read: 'pragma query_only = on',
  // These would block the event loop: the wait for other processes (see `SqliteWriter`), and the checkpoints of the
  // write-ahead log (see `WriteAheadLog`).
  write: 'pragma busy_timeout = 0; pragma wal_autocheckpoint = 0',
};

export interface SqliteConnectionOptions {
  mode: 'read' | 'write';
  /** Called with every error of a statement. */
  onError: (error: unknown) => void;
  /** Called with the text of each statement. */
  onStatement?: ((sql: string) => void) | undefined;
}

interface Statement {
  statement: StatementSync;
  columnCount: number;
  toRow: RowReader;
}

/** One connection of node:sqlite. It prepares each statement once. */
export class SqliteConnection implements StatementRunner {
  readonly #database: DatabaseSync;
  readonly #options: SqliteConnectionOptions;
  readonly #statements = new LRUCache<string, Statement>({ max: maxStatements });
  /** The work that the running statement may still do, in rows. */
  #rowsLeft = Number.POSITIVE_INFINITY;

  constructor(url: string, options: SqliteConnectionOptions) {
    this.#database = new DatabaseSync(url, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
    this.#options = options;
    this.#database.exec(
      'pragma journal_mode = wal; pragma synchronous = normal; pragma secure_delete = on; pragma cache_size = -16000; pragma temp_store = memory',
    );
    this.#database.exec(pragmas[options.mode]);
    this.#database.function('may_read', (rows) => this.#spend(Number(rows)));
    this.#database.function('to_composed', (text) => toComposed(String(text)));
  }

  get isTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /**
   * A read yields to the event loop right before it runs, so that the time of all earlier statements of the turn is
   * counted. A write does not, because others wait for the end of its transaction.
   */
  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#options.mode === 'read') {
      const turn = nextTurnWhenDue();
      if (turn) await turn;
    }
    return this.execute(sql, parameters as readonly SQLInputValue[]) as QueryResult<Row>;
  }

  execute(sql: string, parameters: readonly SQLInputValue[] = []): QueryResult<unknown> {
    this.#options.onStatement?.(sql);
    try {
      return this.#run(sql, parameters);
    } catch (error) {
      const translated = translateSqliteError(error);
      this.#options.onError(translated);
      throw translated;
    }
  }

  /** Undefined if the statement was stopped, because it would do more work than reading `maxRows`. */
  executeWithin(maxRows: number, { sql, parameters }: ReadCommand): QueryResult<unknown> | undefined {
    this.#rowsLeft = maxRows;
    try {
      return this.execute(sql, parameters);
    } catch (error) {
      if (error === tooMuchWork) return undefined;
      throw error;
    } finally {
      this.#rowsLeft = Number.POSITIVE_INFINITY;
    }
  }

  /**
   * Never fails, because that would hide the original error. After some errors (a full disk) SQLite has already rolled
   * back.
   */
  rollback(): void {
    try {
      if (this.isTransaction) this.execute('rollback');
    } catch {
      // `onError` has received it.
    }
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #spend(rows: number): number {
    this.#rowsLeft -= rows;
    if (this.#rowsLeft < 0) throw tooMuchWork;
    return 1;
  }

  #run(sql: string, parameters: readonly SQLInputValue[]): QueryResult<unknown> {
    const prepared = this.#prepare(sql);
    if (prepared.columnCount > 0) return { rows: readRows(prepared, parameters) };
    return { rows: [], numAffectedRows: BigInt(prepared.statement.run(...parameters).changes) };
  }

  #prepare(sql: string): Statement {
    const cached = this.#statements.get(sql);
    if (cached) return cached;
    const statement = this.#database.prepare(sql);
    // The row objects of node:sqlite are dictionaries, which are slow to create and slower to read.
    statement.setReturnArrays(true);
    const prepared = { statement, ...inspectColumns(statement) };
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

const tooMuchWork = new TracelessError('The statement does too much work for the event loop.');

function readRows(prepared: Statement, parameters: readonly SQLInputValue[]): Record<string, unknown>[] {
  const rows = prepared.statement.all(...parameters) as unknown as unknown[][];
  // SQLite compiles a statement again, with other columns, after a migration has changed the table.
  if (rows[0] && rows[0].length !== prepared.columnCount) Object.assign(prepared, inspectColumns(prepared.statement));
  return rows.map(prepared.toRow);
}

function inspectColumns(statement: StatementSync): Omit<Statement, 'statement'> {
  const columns = statement.columns();
  return { columnCount: columns.length, toRow: findRowReader(columns) };
}
