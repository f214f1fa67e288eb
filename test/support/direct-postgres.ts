import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { DirectDatabase } from './test-database.ts';

type Row = Record<string, unknown>;

/** A connection with the synchronous methods of `DatabaseSync`. */
export class DirectPostgres implements DirectDatabase {
  readonly #worker: Worker;
  readonly #channel = new MessageChannel();
  readonly #flag = new Int32Array(new SharedArrayBuffer(4));

  constructor(url: string) {
    const { port2: port } = this.#channel;
    this.#worker = new Worker(new URL('direct-postgres-worker.ts', import.meta.url), {
      workerData: { url, port, flag: this.#flag },
      transferList: [port],
    });
    this.#worker.unref();
  }

  exec(sql: string): void {
    this.#run(sql.replaceAll('begin immediate', 'begin'));
  }

  prepare(sql: string) {
    let count = 0;
    const text = sql.replaceAll('?', () => {
      count += 1;
      return `$${count}`;
    });
    const all = (...values: unknown[]) => this.#run(text, values);
    return { all, get: (...values: unknown[]) => all(...values)[0], run: all };
  }

  close(): void {
    void this.#worker.terminate();
  }

  #run(sql: string, values?: unknown[]): Row[] {
    Atomics.store(this.#flag, 0, 0);
    this.#channel.port1.postMessage({ sql, values });
    Atomics.wait(this.#flag, 0, 0, 20_000);
    const { rows, error } = receiveMessageOnPort(this.#channel.port1)?.message ?? { error: `No answer to ${sql}` };
    if (error) throw new Error(error);
    return rows;
  }
}
