import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';

type Value = string | number | null;
type Row = Record<string, unknown>;

interface Answer {
  number: number;
  rows: Row[];
  error?: string;
}

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
  /** The number of the latest statement that the thread has answered. */
  readonly #answered = new Int32Array(new SharedArrayBuffer(4));
  #number = 0;

  constructor() {
    const { port2: port } = this.#channel;
    const worker = new Worker(new URL('direct-postgres-worker.ts', import.meta.url), {
      workerData: { port, answered: this.#answered },
      transferList: [port],
    });
    worker.unref();
  }

  run(url: string, sql: string, values?: readonly Value[]): Row[] {
    this.#number += 1;
    const number = this.#number;
    this.#channel.port1.postMessage({ number, url, sql, values });
    this.#waitForAnswer(number);
    const { rows, error } = this.#takeAnswer(number) ?? { rows: [], error: `No answer to ${sql}` };
    if (error) throw new Error(error);
    return rows;
  }

  #waitForAnswer(number: number): void {
    for (;;) {
      const answered = Atomics.load(this.#answered, 0);
      if (answered >= number || Atomics.wait(this.#answered, 0, answered, 20_000) === 'timed-out') return;
    }
  }

  /** Drops the late answers to statements that were given up. */
  #takeAnswer(number: number): Answer | undefined {
    for (;;) {
      const answer: Answer | undefined = receiveMessageOnPort(this.#channel.port1)?.message;
      if (!answer || answer.number === number) return answer;
    }
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
