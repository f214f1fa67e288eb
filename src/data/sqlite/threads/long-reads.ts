import type { QueryResult } from 'kysely';
import { LimitedQueue, requestQueueLimits } from '../../../common/limited-queue.ts';
import type { ReadContext } from '../../database/database.ts';
import { findRowReader } from '../../sql/row-reader.ts';
import { SqliteBusy } from '../errors.ts';
import type { SqliteHealth } from '../health.ts';
import type { WriteAheadLog } from '../wal/write-ahead-log.ts';
import { Thread } from './thread.ts';
import type { ReadCommand, ReaderWorkerData, ReadResult } from './worker.ts';

const threadCount = 2;
/** Two threads together may hold this much; a long page of long bodies has 8 MB. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 };
const program = new URL('./worker.ts', import.meta.url);

interface ReadThread {
  thread: Thread<ReadCommand, ReadResult>;
  /** Its first element is 1 while the running read must stop. */
  stop: Int32Array;
  isRunning: boolean;
}

interface LongReadParts {
  url: string;
  health: SqliteHealth;
  log: Pick<WriteAheadLog, 'pause'>;
  /** Called when a read is over: others may wait for the end of all reads. */
  onDone: () => void;
}

/** Runs the reads that would block the event loop, in threads. A caller has one of them running. */
export class LongReads {
  readonly #parts: LongReadParts;
  readonly #queue = new LimitedQueue({
    ...requestQueueLimits,
    maxRunning: threadCount,
    maxRunningPerCaller: 1,
    refusal: tooManyReads,
  });
  /** They are started when they are needed. */
  readonly #threads = new Set<ReadThread>();
  #isClosed = false;

  constructor(parts: LongReadParts) {
    this.#parts = parts;
  }

  get waitingCount(): number {
    return this.#queue.size;
  }

  /** @throws SqliteBusy if too many wait, or it waits for too long; DatabaseUnavailable, or the cancellation's reason. */
  async run(command: ReadCommand, context: ReadContext): Promise<QueryResult<unknown>> {
    const wait = context.span?.startChild('wait for a thread', 'internal');
    const read = () => this.#run(command, context, () => wait?.end());
    return this.#queue.run(read, context).finally(() => {
      wait?.end();
      this.#parts.onDone();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const close = ({ thread, stop }: ReadThread) => {
      Atomics.store(stop, 0, 1);
      return thread.close();
    };
    await Promise.all(Array.from(this.#threads, close));
  }

  async #run(command: ReadCommand, { cancellation }: ReadContext, onStart: () => void): Promise<QueryResult<unknown>> {
    let readThread: ReadThread | undefined;
    const stop = () => readThread && Atomics.store(readThread.stop, 0, 1);
    try {
      await this.#parts.log.pause;
      cancellation?.throwIfCancelled();
      if (this.#isClosed) throw tooManyReads();
      readThread = this.#findIdle();
      readThread.isRunning = true;
      Atomics.store(readThread.stop, 0, 0);
      cancellation?.addListener(stop);
      onStart();
      const { columns, rows } = await readThread.thread.run(command);
      return { rows: rows.map(findRowReader(columns)) };
    } catch (error) {
      cancellation?.throwIfCancelled();
      this.#parts.health.report(error);
      throw error;
    } finally {
      cancellation?.removeListener(stop);
      if (readThread) readThread.isRunning = false;
    }
  }

  /** A thread that is idle. @throws DatabaseUnavailable if a new thread would not open the database that is in use. */
  #findIdle(): ReadThread {
    for (const readThread of this.#threads) if (!readThread.isRunning) return readThread;
    this.#parts.health.assertFiles();
    const stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const workerData: ReaderWorkerData = { url: this.#parts.url, stop };
    const onExit = () => this.#threads.delete(readThread);
    const thread = new Thread<ReadCommand, ReadResult>(program, { name: 'reader', workerData, resourceLimits }, onExit);
    const readThread: ReadThread = { thread, stop, isRunning: false };
    this.#threads.add(readThread);
    return readThread;
  }
}

function tooManyReads(): SqliteBusy {
  return new SqliteBusy('too many long reads wait');
}
