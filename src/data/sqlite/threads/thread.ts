import { Worker } from 'node:worker_threads';
import { contain } from '../../../contain.ts';
import { DatabaseUnavailable } from '../../database.ts';
import { translateError } from '../errors.ts';
import type { ReadCommand, ReaderWorkerData, ReadReply } from './worker.ts';

/** Two threads together may hold this much; a long page of long bodies has 8 MB. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 };

/** A thread that runs one read at a time. */
export class ReaderThread {
  readonly #worker: Worker;
  readonly #stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #exited: Promise<void>;
  #running: PromiseWithResolvers<ReadReply> | undefined;
  #isClosing = false;

  constructor(url: string, onExit: () => void) {
    const workerData: ReaderWorkerData = { url, stop: this.#stop };
    this.#worker = new Worker(new URL('./worker.ts', import.meta.url), { name: 'reader', workerData, resourceLimits });
    this.#worker.unref();
    const settle = contain(
      (reply: ReadReply) => this.#settle(reply),
      (error) => this.#reject(error),
    );
    this.#worker.on('message', settle);
    this.#worker.on('error', (error) => this.#fail(error));
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#fail(new Error('the thread ended'));
        onExit();
        resolve();
      });
    });
  }

  /** @throws the error of the statement as `translateError` returns it; DatabaseUnavailable if the thread ends. */
  run(command: ReadCommand): Promise<ReadReply> {
    const running = Promise.withResolvers<ReadReply>();
    this.#running = running;
    Atomics.store(this.#stop, 0, 0);
    // The process does not end while a read runs.
    this.#worker.ref();
    this.#worker.postMessage(command);
    return running.promise;
  }

  /** Makes the running read fail soon. */
  stop(): void {
    Atomics.store(this.#stop, 0, 1);
  }

  async close(): Promise<void> {
    this.stop();
    this.#isClosing = true;
    // Otherwise the process could end first.
    this.#worker.ref();
    this.#worker.postMessage('close');
    await this.#exited;
  }

  #settle(reply: ReadReply): void {
    if (!this.#isClosing) this.#worker.unref();
    const { error } = reply;
    if (error) return this.#reject(translateError(Object.assign(new Error(error.message), error)));
    this.#running?.resolve(reply);
    this.#running = undefined;
  }

  #fail(cause: Error): void {
    this.#reject(new DatabaseUnavailable(`a thread that reads failed: ${cause.message}`, { cause }));
  }

  #reject(error: unknown): void {
    this.#running?.reject(error);
    this.#running = undefined;
  }
}
