import { randomUUID } from 'node:crypto';
import type { CompiledQuery, QueryResult } from 'kysely';
import { Client, type ClientConfig } from 'pg';
import type { StatementRunner } from '../sql/sql-dialect.ts';
import { Batch, type BatchOptions, type Statement, type StatementNames } from './batch.ts';
import { isUnavailable, translateConnectError, translatePostgresError } from './errors.ts';

/** The server ends a statement after this time. */
const statementTimeoutMs = 10_000;
const lockTimeoutMs = 5_000;
/** A transaction without statements keeps its locks and, as a snapshot, the dead rows of all tables. */
const idleInTransactionMs = 10_000;
const connectTimeoutMs = 5_000;
const keepAliveDelayMs = 5_000;
const closeTimeoutMs = 2_000;
/** If the server sends nothing for this time while a statement waits, the connection is given up. */
const silenceMs = statementTimeoutMs + 2_000;
const watchIntervalMs = 1_000;

export interface PostgresConnectionOptions {
  /** The URL of the database. */
  url: string;
  names: StatementNames;
  onStatement?: ((sql: string) => void) | undefined;
  /** Called with each error of a statement or of the start of a connection. */
  onError: (error: unknown) => void;
  /** For migrations, which take any time. */
  isUnlimited?: boolean;
}

/** The answer to `greeting`. */
export interface ServerFacts {
  version: number;
  encoding: string;
  isReadOnly: boolean;
}

/**
 * The first statement of each connection. A commit must be on disk before it returns, whatever the defaults of the role
 * or the database are.
 */
const greeting = `select current_setting('server_version_num')::int as "version", current_setting('server_encoding') as "encoding",
  pg_is_in_recovery() or current_setting('transaction_read_only')::bool as "isReadOnly",
  case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', false) end as "commit"`;

/**
 * One connection. Statements are sent at once, without waiting for the answers to earlier ones; the server executes them
 * in this order. Each is parsed once per connection.
 */
export class PostgresConnection implements StatementRunner {
  readonly #client: Client;
  readonly #options: PostgresConnectionOptions;
  readonly #watch: NodeJS.Timeout;
  readonly #batchOptions: BatchOptions;
  #isUsable = true;
  #isCorked = false;
  #lastAnswerAt = 0;
  readonly #generation: number;
  /** Of its marks: see `CommitMarks`. */
  readonly id = randomUUID();
  /** The number of statements that wait for their answers. */
  pending = 0;
  facts: ServerFacts = { version: 0, encoding: '', isReadOnly: true };

  private constructor(client: Client, options: PostgresConnectionOptions) {
    this.#client = client;
    this.#options = options;
    this.#generation = options.names.generation;
    this.#batchOptions = {
      prepared: new Map(),
      names: options.names,
      translate: (error) => this.#translate(error),
      onAnswer: (count) => {
        this.pending -= count;
        this.#lastAnswerAt = performance.now();
      },
    };
    this.#watch = setInterval(() => this.#destroyIfSilent(), watchIntervalMs).unref();
    // Statements that wait receive the error, too. Without a listener it would end the process.
    client.on('error', () => this.#stop());
    client.on('end', () => this.#stop());
  }

  /** @throws PostgresUnavailable */
  static async open(options: PostgresConnectionOptions): Promise<PostgresConnection> {
    const connection = new PostgresConnection(new Client(toClientConfig(options)), options);
    try {
      await connection.#client.connect();
      const { rows } = await new Promise<QueryResult<ServerFacts>>((resolve, reject) =>
        connection.#submit([{ sql: greeting, parameters: [], resolve, reject }]),
      );
      if (rows[0]) connection.facts = rows[0];
      return connection;
    } catch (error) {
      connection.destroy();
      const unavailable = translateConnectError(error);
      options.onError(unavailable);
      throw unavailable;
    }
  }

  /** False if the connection is lost, or must be replaced when it is free. */
  get isUsable(): boolean {
    return this.#isUsable && this.#generation === this.#options.names.generation;
  }

  executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    return this.send<Row>(sql, parameters);
  }

  /** Sends a statement on its own. The promise rejects with an error in the terms of `Database`. */
  send<Row>(sql: string, parameters: readonly unknown[] = []): Promise<QueryResult<Row>> {
    return new Promise((resolve, reject) => this.execute([{ sql, parameters, resolve, reject }]));
  }

  /** Sends statements together. After one has failed, the later ones are not executed. */
  execute(statements: readonly Statement[]): void {
    const { onStatement } = this.#options;
    if (onStatement) for (const { sql } of statements) onStatement(sql);
    this.#submit(statements);
  }

  #submit(statements: readonly Statement[]): void {
    if (this.pending === 0) this.#lastAnswerAt = performance.now();
    this.pending += statements.length;
    this.#cork();
    this.#client.query(new Batch(statements, this.#batchOptions));
  }

  async close(): Promise<void> {
    this.#isUsable = false;
    // A server that is silent does not confirm the end. Statements that still wait are given up by `#destroyIfSilent`.
    const givingUp = setInterval(() => {
      if (this.pending === 0) this.destroy();
    }, closeTimeoutMs);
    try {
      await this.#client.end();
    } finally {
      clearInterval(givingUp);
      this.#stop();
    }
  }

  /** Ends the connection without waiting for the server. */
  destroy(): void {
    this.#stop();
    this.#client.connection.stream.destroy();
  }

  /** All messages of one turn leave in one packet. */
  #cork(): void {
    if (this.#isCorked) return;
    const { stream } = this.#client.connection;
    this.#isCorked = true;
    stream.cork();
    const uncork = () => {
      this.#isCorked = false;
      stream.uncork();
    };
    // A commit follows the writes in the microtasks after the next tick, and leaves with them.
    process.nextTick(() => queueMicrotask(() => process.nextTick(uncork)));
  }

  #translate(error: unknown): unknown {
    const translated = translatePostgresError(error);
    if (isUnavailable(translated, 'lost', 'fault')) this.#isUsable = false;
    if (isUnavailable(translated, 'outdated') && this.isUsable) this.#options.names.generation += 1;
    this.#options.onError(translated);
    return translated;
  }

  #destroyIfSilent(): void {
    if (this.#options.isUnlimited || this.pending === 0) return;
    if (performance.now() - this.#lastAnswerAt > silenceMs) this.destroy();
  }

  #stop(): void {
    this.#isUsable = false;
    clearInterval(this.#watch);
  }
}

function toClientConfig({ url, isUnlimited = false }: PostgresConnectionOptions): ClientConfig {
  const limits = {
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
  };
  return {
    connectionString: url,
    pipeline: true,
    application_name: 'postroom',
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(!isUnlimited && limits),
  };
}
