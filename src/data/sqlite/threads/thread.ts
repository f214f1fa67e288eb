import { Worker, type WorkerOptions } from 'node:worker_threads';
import { contain } from '../../../common/contain.ts';
import { DatabaseUnavailable } from '../../database/database.ts';
import { translateSqliteError } from '../errors.ts';

/** The answer to a command. */
export interface ThreadReply {
  error?: { message: string; errcode?: number };
}

/** A thread that runs commands one after the other, and ends after the command `close`. */
export class Thread<Command, Reply extends ThreadReply> {
  readonly #worker: Worker;
  readonly #waiting: PromiseWithResolvers<Reply>[] = [];

  constructor(program: URL, options: WorkerOptions, onExit: () => void) {
    this.#worker = new Worker(program, options);
    this.#worker.unref();
    const settle = contain(
      (reply: Reply) => this.#settle(reply),
      (error) => this.#waiting.shift()?.reject(error),
    );
    this.#worker.on('message', settle);
    this.#worker.on('error', (error) => this.#failAll(error));
    this.#worker.on('exit', () => {
      onExit();
      this.#failAll(new Error('it ended'));
    });
  }

  /** @throws the error of the command as `translateSqliteError` returns it; DatabaseUnavailable if the thread ends. */
  run(command: Command | 'close'): Promise<Reply> {
    const answer = Promise.withResolvers<Reply>();
    this.#waiting.push(answer);
    // The process does not end while a command runs.
    this.#worker.ref();
    this.#worker.postMessage(command);
    return answer.promise;
  }

  async close(): Promise<void> {
    // Without a reply: the thread ends.
    await this.run('close').catch(() => {});
  }

  #settle(reply: Reply): void {
    if (this.#waiting.length === 1) this.#worker.unref();
    const { error } = reply;
    if (error) throw translateSqliteError(Object.assign(new Error(error.message), error));
    this.#waiting.shift()?.resolve(reply);
  }

  #failAll(cause: Error): void {
    const failure = new DatabaseUnavailable(`a thread of the database failed: ${cause.message}`, { cause });
    for (const answer of this.#waiting.splice(0)) answer.reject(failure);
  }
}
