import type { CompiledQuery, QueryResult } from 'kysely';
import { contain } from '../../common/contain.ts';
import type { StatementRunner } from '../sql/sql-dialect.ts';
import type { Statement } from './batch.ts';
import type { PostgresConnection } from './connection.ts';

/** `isEnd`: the statement was the last one of its transaction, COMMIT or ROLLBACK. */
export interface StatementFailure {
  error: unknown;
  isEnd: boolean;
}

/**
 * Resolves when the statements that the work of a transaction has not awaited have been sent: they are sent in microtasks,
 * which run before the next tick.
 */
export function untilNextTick(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/**
 * The statements of one transaction. Those that are sent in one turn travel together, and the last ones together with the
 * commit: in a packet of its own the commit would hold the locks of their rows for longer.
 */
export class PostgresSession implements StatementRunner {
  readonly connection: PostgresConnection;
  /** The error of the first statement that failed. */
  failure: StatementFailure | undefined;
  /** The statements that have not been sent. */
  protected readonly waiting: Statement[] = [];
  #hasEnded = false;
  readonly #sendSoon = contain(
    () => this.sendSoon(),
    (error) => this.discard(error),
  );

  constructor(connection: PostgresConnection) {
    this.connection = connection;
  }

  executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    return this.send<Row>(sql, parameters);
  }

  /** After a statement has failed, PostgreSQL refuses the later ones: they reject with the first error. */
  send<Row>(sql: string, parameters: readonly unknown[] = []): Promise<QueryResult<Row>> {
    if (this.#hasEnded) return Promise.reject(new Error('The transaction has ended.'));
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => {
        this.failure ??= { error, isEnd: sql === 'commit' || sql === 'rollback' };
        reject(this.failure.error);
      };
      if (this.waiting.push({ sql, parameters, resolve, reject: fail }) === 1) process.nextTick(this.#sendSoon);
    });
  }

  /** Sends a statement whose failure is reported by `failure`. */
  sendUnawaited(sql: string): void {
    this.send(sql).catch(() => {});
  }

  /** Sends the last statement. Returns the error of the first statement that failed. */
  async end(sql: 'commit' | 'rollback'): Promise<StatementFailure | undefined> {
    const ended = this.send(sql);
    this.#hasEnded = true;
    this.flush();
    try {
      await ended;
    } catch {
      // The server may have skipped the end, so that the transaction is still open.
      if (this.connection.isUsable) await this.connection.send('rollback').catch(() => {});
    }
    return this.failure;
  }

  /** Sends the statements that wait. */
  flush(): void {
    if (this.waiting.length > 0) this.connection.execute(this.waiting.splice(0));
  }

  /** Rejects the statements that wait, and all later ones. */
  discard(reason: unknown): void {
    this.#hasEnded = true;
    for (const { reject } of this.waiting.splice(0)) reject(reason);
  }

  /** Called when the work of the transaction is done. */
  endWork(): void {}

  /** Called in the next tick after a statement. */
  protected sendSoon(): void {
    this.flush();
  }
}
