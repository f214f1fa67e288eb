import { Thread } from './thread.ts';
import type { ReadCommand, ReaderWorkerData, ReadReply } from './worker.ts';

/** Two threads together may hold this much; a long page of long bodies has 8 MB. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 };
const program = new URL('./worker.ts', import.meta.url);

/** A thread that runs one read at a time. */
export class ReaderThread extends Thread<ReadCommand, ReadReply> {
  readonly #stop: Int32Array;

  constructor(url: string, onExit: () => void) {
    const stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const workerData: ReaderWorkerData = { url, stop };
    super(program, { name: 'reader', workerData, resourceLimits }, onExit);
    this.#stop = stop;
  }

  override run(command: ReadCommand | 'close'): Promise<ReadReply> {
    Atomics.store(this.#stop, 0, command === 'close' ? 1 : 0);
    return super.run(command);
  }

  /** Makes the running read fail soon. */
  stop(): void {
    Atomics.store(this.#stop, 0, 1);
  }
}
