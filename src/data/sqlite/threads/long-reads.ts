import type { QueryResult } from 'kysely';
import { LimitedQueue, requestQueueLimits } from '../../../limited-queue.ts';
import type { ReadContext } from '../../database.ts';
import { toRows } from '../connection.ts';
import { SqliteBusy } from '../errors.ts';
import type { SqliteHealth } from '../health.ts';
import type { WriteAheadLog } from '../wal/write-ahead-log.ts';
import { ReaderThread } from './reader-thread.ts';
import type { ReadCommand } from './worker.ts';

const threadCount = 2;

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
  /** The threads, which are started when they are needed, and whether they are running a read. */
  readonly #threads = new Map<ReaderThread, boolean>();
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
    await Promise.all(Array.from(this.#threads.keys(), (thread) => thread.close()));
  }

  async #run(command: ReadCommand, { cancellation }: ReadContext, onStart: () => void): Promise<QueryResult<unknown>> {
    let thread: ReaderThread | undefined;
    const stop = () => thread?.stop();
    try {
      await this.#parts.log.pause;
      cancellation?.throwIfCancelled();
      if (this.#isClosed) throw tooManyReads();
      thread = this.#findThread();
      this.#threads.set(thread, true);
      cancellation?.addListener(stop);
      onStart();
      const { columns, rows } = await thread.run(command);
      return { rows: toRows(columns, rows) };
    } catch (error) {
      cancellation?.throwIfCancelled();
      this.#parts.health.report(error);
      throw error;
    } finally {
      cancellation?.removeListener(stop);
      if (thread && this.#threads.has(thread)) this.#threads.set(thread, false);
    }
  }

  /** An idle thread. @throws DatabaseUnavailable if a new thread would not open the database that is in use. */
  #findThread(): ReaderThread {
    for (const [thread, isRunning] of this.#threads) if (!isRunning) return thread;
    this.#parts.health.assertFiles();
    const started = new ReaderThread(this.#parts.url, () => this.#threads.delete(started));
    return started;
  }
}

function tooManyReads(): SqliteBusy {
  return new SqliteBusy('too many long reads wait');
}
