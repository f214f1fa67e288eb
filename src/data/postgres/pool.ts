import type { PostgresConnection } from './connection.ts';
import { PostgresUnavailable } from './errors.ts';

/** The maximum time that a caller waits for a connection. */
const timeoutMs = 5_000;

interface Waiting {
  lend: (connection: PostgresConnection) => void;
  refuse: (error: unknown) => void;
  timer: NodeJS.Timeout;
}

/** Lends each connection to one caller at a time. Lost connections are replaced when they are needed. */
export class ConnectionPool {
  readonly #size: number;
  readonly #open: () => Promise<PostgresConnection>;
  readonly #idle: PostgresConnection[] = [];
  readonly #waiting: Waiting[] = [];
  /** The number of connections that exist or are being opened. */
  #count = 0;
  #isClosed = false;

  constructor(size: number, open: () => Promise<PostgresConnection>) {
    this.#size = size;
    this.#open = open;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** @throws PostgresUnavailable */
  acquire(): Promise<PostgresConnection> {
    if (this.#isClosed) return Promise.reject(closed());
    const { promise, resolve, reject } = Promise.withResolvers<PostgresConnection>();
    const idle = this.#takeIdle();
    if (idle) return Promise.resolve(idle);
    const waiting: Waiting = {
      lend: resolve,
      refuse: reject,
      timer: setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(new PostgresUnavailable('busy', `no connection was free within ${timeoutMs} ms`));
      }, timeoutMs),
    };
    this.#waiting.push(waiting);
    this.#grow();
    return promise;
  }

  release(connection: PostgresConnection): void {
    if (this.#isClosed || !connection.isUsable) {
      this.#count -= 1;
      // The server also ends the transaction, if there is still one.
      connection.destroy();
      this.#grow();
      return;
    }
    this.#lend(connection);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { timer, refuse } of this.#waiting.splice(0)) {
      clearTimeout(timer);
      refuse(closed());
    }
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()));
  }

  #takeIdle(): PostgresConnection | undefined {
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (connection.isUsable) return connection;
      connection.destroy();
      this.#count -= 1;
    }
    return undefined;
  }

  #lend(connection: PostgresConnection): void {
    const next = this.#waiting.shift();
    if (!next) {
      this.#idle.push(connection);
      return;
    }
    clearTimeout(next.timer);
    next.lend(connection);
  }

  /** Opens a connection for a caller that waits. If it cannot be opened, the caller that has waited longest is refused. */
  #grow(): void {
    if (this.#waiting.length === 0 || this.#count >= this.#size || this.#isClosed) return;
    this.#count += 1;
    this.#open().then(
      (connection) => this.release(connection),
      (error: unknown) => {
        this.#count -= 1;
        const refused = this.#waiting.shift();
        if (refused) clearTimeout(refused.timer);
        refused?.refuse(error);
        this.#grow();
      },
    );
  }
}

function closed(): PostgresUnavailable {
  return new PostgresUnavailable('fault', 'the database is closed');
}
