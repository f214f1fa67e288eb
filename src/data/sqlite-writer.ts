import { setTimeout as sleep } from 'node:timers/promises';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from 'kysely';

const retryMs = 1;
const busyCode = 5;

interface WriterConfig extends SqliteDialectConfig {
  /** How long to wait for another process that writes, before it is an error. */
  timeoutMs: number;
}

/** SQLite for the connection that writes. Its own `busy_timeout` is 0: it waits for its turn without holding up the process. */
export class SqliteWriterDialect extends SqliteDialect {
  readonly #config: WriterConfig;

  constructor(config: WriterConfig) {
    super(config);
    this.#config = config;
  }

  override createDriver(): Driver {
    return new SqliteWriterDriver(this.#config);
  }
}

class SqliteWriterDriver extends SqliteDriver {
  readonly #timeoutMs: number;

  constructor({ timeoutMs, ...config }: WriterConfig) {
    super(config);
    this.#timeoutMs = timeoutMs;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const deadline = performance.now() + this.#timeoutMs;
    while (!(await tryBegin(connection, performance.now() > deadline))) await sleep(retryMs);
  }
}

async function tryBegin(connection: DatabaseConnection, isLastTry: boolean): Promise<boolean> {
  try {
    // A transaction that begins by reading could not wait for its turn to write.
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
    return true;
  } catch (error) {
    if (isLastTry || !isBusy(error)) throw error;
    return false;
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === busyCode;
}
