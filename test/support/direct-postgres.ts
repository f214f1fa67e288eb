import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';

type Value = string | number | null;
type Row = Record<string, unknown>;

/** The part of `DatabaseSync` that tests use. */
export interface DirectDatabase {
  exec(sql: string): void;
  prepare(sql: string): {
    all(...parameters: Value[]): Row[];
    get(...parameters: Value[]): Row | undefined;
    run(...parameters: Value[]): unknown;
  };
  close(): void;
}

/** The thread that runs the statements, while the thread of the tests waits. */
class StatementThread {
  readonly #channel = new MessageChannel();
  readonly #flag = new Int32Array(new SharedArrayBuffer(4));

  constructor() {
    const { port2: port } = this.#channel;
    const worker = new Worker(new URL('direct-postgres-worker.ts', import.meta.url), {
      workerData: { port, flag: this.#flag },
      transferList: [port],
    });
    worker.unref();
  }

  run(url: string, sql: string, values?: readonly Value[]): Row[] {
    Atomics.store(this.#flag, 0, 0);
    this.#channel.port1.postMessage({ url, sql, values });
    Atomics.wait(this.#flag, 0, 0, 20_000);
    const { rows, error } = receiveMessageOnPort(this.#channel.port1)?.message ?? { error: `No answer to ${sql}` };
    if (error) throw new Error(error);
    return rows;
  }
}

let thread: StatementThread | undefined;

/** A database with the synchronous methods of `DatabaseSync`. */
export class DirectPostgres implements DirectDatabase {
  readonly #url: string;
  readonly #thread: StatementThread;

  constructor(url: string, thread: StatementThread) {
    this.#url = url;
    this.#thread = thread;
  }

  static open(url: string): DirectPostgres {
    thread ??= new StatementThread();
    return new DirectPostgres(url, thread);
  }

  exec(sql: string): void {
    this.#thread.run(this.#url, sql.replaceAll('begin immediate', 'begin'));
  }

  prepare(sql: string) {
    let count = 0;
    const text = sql.replaceAll('?', () => {
      count += 1;
      return `$${count}`;
    });
    const all = (...values: Value[]) => this.#thread.run(this.#url, text, values);
    return { all, get: (...values: Value[]) => all(...values)[0], run: all };
  }

  /** Rolls back what was not committed, as closing does. */
  close(): void {
    this.#thread.run(this.#url, 'rollback');
  }
}
