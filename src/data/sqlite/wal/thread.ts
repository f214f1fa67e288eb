import { Worker } from 'node:worker_threads';
import { contain } from '../../../contain.ts';
import { DatabaseUnavailable } from '../../database.ts';
import { translateError } from '../errors.ts';
import type { CheckpointCommand, CheckpointReply, CheckpointWorkerData } from './worker.ts';

/** The thread that runs checkpoints, one after the other. */
export class CheckpointThread {
  readonly #worker: Worker;
  readonly #waiting: PromiseWithResolvers<CheckpointReply>[] = [];

  constructor({ url, log, index, descriptor }: CheckpointWorkerData, onExit: () => void) {
    const workerData: CheckpointWorkerData = { url, log, index, descriptor };
    this.#worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData });
    this.#worker.unref();
    const settle = contain(
      (reply: CheckpointReply) => this.#settle(reply),
      (error) => this.#waiting.shift()?.reject(error),
    );
    this.#worker.on('message', settle);
    this.#worker.on('error', (error) => this.#failAll(error));
    this.#worker.on('exit', () => {
      this.#failAll(new Error('the thread ended'));
      onExit();
    });
  }

  /** @throws DatabaseUnavailable */
  send(command: CheckpointCommand): Promise<CheckpointReply> {
    const answer = Promise.withResolvers<CheckpointReply>();
    this.#waiting.push(answer);
    // The process does not end while a command runs.
    this.#worker.ref();
    this.#worker.postMessage(command);
    return answer.promise;
  }

  async close(): Promise<void> {
    await this.send('close').catch(() => {});
  }

  #settle(reply: CheckpointReply): void {
    if (this.#waiting.length === 1) this.#worker.unref();
    if (reply.error) throw toUnavailable(reply.error);
    this.#waiting.shift()?.resolve(reply);
  }

  #failAll(error: Error): void {
    for (const answer of this.#waiting.splice(0)) answer.reject(toUnavailable(error));
  }
}

function toUnavailable(error: { message: string }): unknown {
  const translated = translateError(Object.assign(new Error(error.message), error));
  if (translated instanceof DatabaseUnavailable) return translated;
  return new DatabaseUnavailable(`a checkpoint failed: ${error.message}`, { cause: translated });
}
