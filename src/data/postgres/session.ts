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
 * The statements of one transaction. Those that are sent in one turn travel together, and the last ones together with the
 * commit: in a packet of its own the commit would hold the locks of their rows for longer.
 */
export class PostgresSession implements StatementRunner {
  readonly connection: PostgresConnection;
  /** The error of the first statement that failed. */
  failure: StatementFailure | undefined;
  /**
   * Whether the transaction is one of several that are committed together. After its work is done, the statements that it
   * has not waited for are held until those of the others can follow them.
   */
  readonly #isMember: boolean;
  /** The statements that have not been sent. */
  readonly #waiting: Statement[] = [];
  #isWorkDone = false;
  #hasEnded = false;
  readonly #sendSoon = contain(
    () => (this.#isMember ? this.#flushReads() : this.flush()),
    (error) => this.discard(error),
  );

  constructor(connection: PostgresConnection, { isMember = false } = {}) {
    this.connection = connection;
    this.#isMember = isMember;
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
      if (this.#waiting.push({ sql, parameters, resolve, reject: fail }) === 1) process.nextTick(this.#sendSoon);
    });
  }

  /** Sends a statement whose failure is reported by `failure`. */
  sendUnawaited(sql: string): void {
    this.send(sql).catch(() => {});
  }

  /** Called when the work of the transaction is done. */
  endWork(): void {
    this.#isWorkDone = true;
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
    if (this.#waiting.length > 0) this.connection.execute(this.#waiting.splice(0));
  }

  /** Rejects the statements that wait, and all later ones. */
  discard(reason: unknown): void {
    this.#hasEnded = true;
    for (const { reject } of this.#waiting.splice(0)) reject(reason);
  }

  /** A change that is awaited fails: it could not be undone without the changes of the other members. */
  #flushReads(): void {
    if (this.#isWorkDone) return;
    const change = this.#waiting.find(({ sql }) => !sql.startsWith('select '));
    if (change) this.discard(new Error(`A transaction of a group must not wait for a change: ${change.sql}`));
    else this.flush();
  }
}
