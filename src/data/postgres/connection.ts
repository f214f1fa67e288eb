import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import { Client, type ClientConfig, type QueryResult as PgResult, types } from 'pg';
import { PostgresUnavailable, translateError } from './errors.ts';
import type { StatementNames } from './statement-names.ts';

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

export interface ConnectionOptions {
  /** The URL of the database. */
  url: string;
  names: StatementNames;
  onStatement?: ((sql: string) => void) | undefined;
  /** Called with each error of a statement or of the start of a connection. */
  onError: (error: unknown) => void;
  /** For migrations, which take any time. */
  isUnlimited?: boolean;
}

/** What a server says about itself to a new connection. */
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
export class PostgresConnection implements DatabaseConnection {
  readonly #client: Client;
  readonly #options: ConnectionOptions;
  readonly #watch: NodeJS.Timeout;
  #isUsable = true;
  #isCorked = false;
  #lastAnswerAt = 0;
  readonly #generation: number;
  /** The number of statements that wait for their answers. */
  pending = 0;
  facts: ServerFacts = { version: 0, encoding: '', isReadOnly: true };

  private constructor(client: Client, options: ConnectionOptions) {
    this.#client = client;
    this.#options = options;
    this.#generation = options.names.generation;
    this.#watch = setInterval(() => this.#destroyIfSilent(), watchIntervalMs).unref();
    // Statements that wait receive the error, too. Without a listener it would end the process.
    client.on('error', () => this.#stop());
    client.on('end', () => this.#stop());
  }

  /** @throws PostgresUnavailable, or the error of the client. */
  static async open(options: ConnectionOptions): Promise<PostgresConnection> {
    const connection = new PostgresConnection(new Client(toClientConfig(options)), options);
    try {
      await connection.#client.connect();
      const { rows } = await connection.#submit<ServerFacts>(greeting);
      if (rows[0]) connection.facts = rows[0];
      return connection;
    } catch (error) {
      connection.destroy();
      const translated = translateError(error);
      options.onError(translated);
      throw translated;
    }
  }

  /** False if the connection is lost, or must be replaced when it is free. */
  get isUsable(): boolean {
    return this.#isUsable && this.#generation === this.#options.names.generation;
  }

  executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    return this.send<Row>(sql, parameters);
  }

  streamQuery(): never {
    throw new Error('Streaming is not supported.');
  }

  /** Sends a statement now. The promise rejects with an error in the terms of `Database`. */
  send<Row>(sql: string, parameters: readonly unknown[] = []): Promise<QueryResult<Row>> {
    this.#options.onStatement?.(sql);
    return this.#submit(sql, parameters);
  }

  #submit<Row>(sql: string, parameters: readonly unknown[] = []): Promise<QueryResult<Row>> {
    this.#cork();
    if (this.pending === 0) this.#lastAnswerAt = performance.now();
    this.pending += 1;
    return new Promise((resolve, reject) => {
      const query = {
        name: this.#options.names.nameOf(sql),
        text: sql,
        values: parameters.map(withoutNul),
        queryMode: 'extended',
      };
      this.#client.query<object>(query, (error: Error | null, result: PgResult<object>) => {
        this.pending -= 1;
        this.#lastAnswerAt = performance.now();
        if (error) reject(this.#translate(error));
        else resolve(toResult<Row>(result));
      });
    });
  }

  async close(): Promise<void> {
    this.#isUsable = false;
    // A server that is silent does not confirm the end. Statements that still wait are given up by `#destroyIfSilent`.
    const late = setInterval(() => {
      if (this.pending === 0) this.destroy();
    }, closeTimeoutMs);
    try {
      await this.#client.end();
    } finally {
      clearInterval(late);
      this.#stop();
    }
  }

  /** Ends the connection without waiting for the server. */
  destroy(): void {
    this.#stop();
    this.#client.connection.stream.destroy();
  }

  /**
   * All statements of one tick leave in one packet, and a commit, which is sent one tick after the last statements of
   * its transaction, leaves with them: in a packet of its own it would hold the locks of their rows for longer.
   */
  #cork(): void {
    if (this.#isCorked) return;
    const { stream } = this.#client.connection;
    this.#isCorked = true;
    stream.cork();
    const uncork = () => {
      this.#isCorked = false;
      stream.uncork();
    };
    // The commit is sent in a microtask of the next tick.
    process.nextTick(() => queueMicrotask(() => process.nextTick(uncork)));
  }

  #translate(error: unknown): unknown {
    const translated = translateError(error);
    const kind = translated instanceof PostgresUnavailable ? translated.kind : undefined;
    if (kind === 'lost' || kind === 'fault') this.#isUsable = false;
    if (kind === 'outdated' && this.isUsable) this.#options.names.generation += 1;
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

function toClientConfig({ url, isUnlimited = false }: ConnectionOptions): ClientConfig {
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
    types: { getTypeParser: getParser },
    ...(!isUnlimited && limits),
  };
}

/** Times and counts are below 2^53. */
const getParser: typeof types.getTypeParser = (type: number, format?: unknown) =>
  type === types.builtins.INT8 ? Number : types.getTypeParser(type, format as 'text');

/**
 * PostgreSQL refuses NUL in a text. New text with NUL is refused before (`isStorable`), so only an id from a client can
 * have one: it must find nothing, as does this noncharacter.
 */
function withoutNul(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uffff') : value;
}

function toResult<Row>({ rows, command, rowCount }: PgResult<object>): QueryResult<Row> {
  const isChange = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE';
  return { rows: rows as Row[], ...(isChange && { numAffectedRows: BigInt(rowCount ?? 0) }) };
}
