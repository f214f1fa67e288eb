import type { QueryResult } from 'kysely';
import { LimitedQueue, requestQueueLimits } from '../../../common/limited-queue.ts';
import type { ReadContext } from '../../database/database.ts';
import { findRowReader } from '../../sql/row-reader.ts';
import { SqliteBusy } from '../errors.ts';
import type { SqliteHealth } from '../health.ts';
import type { WriteAheadLog } from '../wal/write-ahead-log.ts';
import { Thread } from './thread.ts';
import type { ReadCommand, ReaderWorkerData, ReadReply } from './worker.ts';

const threadCount = 2;
/** Two threads together may hold this much; a long page of long bodies has 8 MB. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 };
const program = new URL('./worker.ts', import.meta.url);

interface Reader {
  thread: Thread<ReadCommand, ReadReply>;
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
  readonly #readers = new Set<Reader>();
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
    const close = ({ thread, stop }: Reader) => {
      Atomics.store(stop, 0, 1);
      return thread.close();
    };
    await Promise.all(Array.from(this.#readers, close));
  }

  async #run(command: ReadCommand, { cancellation }: ReadContext, onStart: () => void): Promise<QueryResult<unknown>> {
    let reader: Reader | undefined;
    const stop = () => reader && Atomics.store(reader.stop, 0, 1);
    try {
      await this.#parts.log.pause;
      cancellation?.throwIfCancelled();
      if (this.#isClosed) throw tooManyReads();
      reader = this.#findReader();
      reader.isRunning = true;
      Atomics.store(reader.stop, 0, 0);
      cancellation?.addListener(stop);
      onStart();
      const { columns, rows } = await reader.thread.run(command);
      return { rows: rows.map(findRowReader(columns)) };
    } catch (error) {
      cancellation?.throwIfCancelled();
      this.#parts.health.report(error);
      throw error;
    } finally {
      cancellation?.removeListener(stop);
      if (reader) reader.isRunning = false;
    }
  }

  /** A reader that is idle. @throws DatabaseUnavailable if a new thread would not open the database that is in use. */
  #findReader(): Reader {
    for (const reader of this.#readers) if (!reader.isRunning) return reader;
    this.#parts.health.assertFiles();
    const stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const workerData: ReaderWorkerData = { url: this.#parts.url, stop };
    const onExit = () => this.#readers.delete(reader);
    const thread = new Thread<ReadCommand, ReadReply>(program, { name: 'reader', workerData, resourceLimits }, onExit);
    const reader: Reader = { thread, stop, isRunning: false };
    this.#readers.add(reader);
    return reader;
  }
}

function tooManyReads(): SqliteBusy {
  return new SqliteBusy('too many long reads wait');
}
