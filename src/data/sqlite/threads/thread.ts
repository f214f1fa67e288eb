import { Worker, type WorkerOptions } from 'node:worker_threads';
import { contain } from '../../../common/contain.ts';
import { DatabaseUnavailable } from '../../database/database.ts';
import { translateSqliteError } from '../errors.ts';
import type { ThreadReply } from './command-worker.ts';

/** A thread that runs commands one after the other, and ends after the command `close`. */
export class Thread<Command, Result> {
  readonly #worker: Worker;
  readonly #waiting: PromiseWithResolvers<Result>[] = [];

  constructor(program: URL, options: WorkerOptions, onExit: () => void) {
    this.#worker = new Worker(program, options);
    this.#worker.unref();
    const settle = contain<[ThreadReply<Result>]>(
      (reply) => this.#settle(reply),
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
  run(command: Command | 'close'): Promise<Result> {
    const answer = Promise.withResolvers<Result>();
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

  #settle(reply: ThreadReply<Result>): void {
    if (this.#waiting.length === 1) this.#worker.unref();
    if ('error' in reply) throw translateSqliteError(Object.assign(new Error(reply.error.message), reply.error));
    this.#waiting.shift()?.resolve(reply.result);
  }

  #failAll(cause: Error): void {
    const failure = new DatabaseUnavailable(`a thread of the database failed: ${cause.message}`, { cause });
    for (const answer of this.#waiting.splice(0)) answer.reject(failure);
  }
}
