import type { QueryResult } from 'kysely';
import { FairQueue } from '../../../fair-queue.ts';
import type { Span } from '../../../tracing/span.ts';
import type { ReadContext } from '../../database.ts';
import { toRows } from '../connection.ts';
import { SqliteBusy } from '../errors.ts';
import type { SqliteHealth } from '../health.ts';
import type { WriteAheadLog } from '../wal/write-ahead-log.ts';
import { ReaderThread } from './reader-thread.ts';
import type { ReadCommand } from './worker.ts';

const threadCount = 2;
const maxWaiting = 1_000;
const maxWaitingPerCaller = 100;
/** The maximum time in the queue. */
const timeoutMs = 5_000;

interface LongReadParts {
  url: string;
  health: SqliteHealth;
  log: Pick<WriteAheadLog, 'pause'>;
  /** Called when a read is over: others may wait for the end of all reads. */
  onDone: () => void;
}

interface QueuedRead extends ReadContext {
  command: ReadCommand;
  settled: PromiseWithResolvers<QueryResult<unknown>>;
  timer: NodeJS.Timeout;
  /** The wait for a thread. */
  wait: Span | undefined;
  onCancel: () => void;
}

/**
 * Runs the reads that would block the event loop, in threads. A caller has one of them running and the others in a queue;
 * the callers take turns.
 */
export class LongReads {
  readonly #parts: LongReadParts;
  readonly #queue = new FairQueue<QueuedRead>();
  /** The running reads by their threads, which are started when they are needed. */
  readonly #threads = new Map<ReaderThread, QueuedRead | undefined>();
  readonly #callers = new Set<string>();
  #isClosed = false;

  constructor(parts: LongReadParts) {
    this.#parts = parts;
  }

  get waitingCount(): number {
    return this.#queue.size;
  }

  /** @throws SqliteBusy if too many wait, or it waits for too long; DatabaseUnavailable, or the cancellation's reason. */
  run(command: ReadCommand, context: ReadContext): Promise<QueryResult<unknown>> {
    const settled = Promise.withResolvers<QueryResult<unknown>>();
    const timer = setTimeout(() => this.#refuse(read, tooManyReads()), timeoutMs);
    const wait = context.span?.startChild('wait for a thread', 'internal');
    const read: QueuedRead = { ...context, command, settled, timer, wait, onCancel: () => this.#cancel(read) };
    const isFull = this.#queue.size >= maxWaiting || this.#queue.sizeOf(context.caller) >= maxWaitingPerCaller;
    if (isFull || this.#isClosed) this.#refuse(read, tooManyReads());
    else {
      this.#queue.add(read.caller, read);
      context.cancellation?.addListener(read.onCancel);
      this.#startNext();
    }
    return settled.promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (let read = this.#queue.take(); read; read = this.#queue.take()) this.#refuse(read, tooManyReads());
    await Promise.all(Array.from(this.#threads.keys(), (thread) => thread.close()));
  }

  #startNext(): void {
    if (this.#callers.size === threadCount) return;
    const read = this.#queue.take((caller) => !this.#callers.has(caller));
    if (!read) return;
    clearTimeout(read.timer);
    this.#callers.add(read.caller);
    void this.#run(read);
  }

  async #run(read: QueuedRead): Promise<void> {
    let thread: ReaderThread | undefined;
    try {
      await this.#parts.log.pause;
      read.cancellation?.throwIfCancelled();
      if (this.#isClosed) throw tooManyReads();
      thread = this.#findThread();
      this.#threads.set(thread, read);
      read.wait?.end();
      const { columns, rows } = await thread.run(read.command);
      read.settled.resolve({ rows: toRows(columns, rows) });
    } catch (error) {
      if (!read.cancellation?.isCancelled) this.#parts.health.report(error);
      read.settled.reject(error);
    }
    if (thread && this.#threads.has(thread)) this.#threads.set(thread, undefined);
    read.cancellation?.removeListener(read.onCancel);
    this.#callers.delete(read.caller);
    this.#parts.onDone();
    this.#startNext();
  }

  /** An idle thread. @throws DatabaseUnavailable if a new thread would not open the database that is in use. */
  #findThread(): ReaderThread {
    for (const [thread, read] of this.#threads) if (!read) return thread;
    this.#parts.health.assertFiles();
    const started = new ReaderThread(this.#parts.url, () => this.#threads.delete(started));
    return started;
  }

  #cancel(read: QueuedRead): void {
    for (const [thread, running] of this.#threads) if (running === read) thread.stop();
    this.#refuse(read, read.cancellation?.reason);
  }

  #refuse(read: QueuedRead, reason: unknown): void {
    clearTimeout(read.timer);
    read.wait?.end();
    this.#queue.delete(read.caller, read);
    read.cancellation?.removeListener(read.onCancel);
    read.settled.reject(reason);
  }
}

function tooManyReads(): SqliteBusy {
  return new SqliteBusy('too many long reads wait');
}
