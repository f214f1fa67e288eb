import type { Cancellation } from './cancellation.ts';
import { FairQueue, yieldWhenDue } from './event-loop.ts';

export interface QueueLimits {
  maxRunning: number;
  maxRunningPerCaller?: number;
  maxWaiting?: number;
  maxWaitingPerCaller?: number;
  /** The maximum time in the queue. */
  timeoutMs?: number;
  /** The error if too much waits, or the work has waited for too long. */
  refusal?: () => Error;
}

/** For long work of requests. */
export const requestQueueLimits = { maxWaiting: 1_000, maxWaitingPerCaller: 100, timeoutMs: 5_000 };

/** For whom work runs. */
export interface Requester {
  /** Work of the same caller shares a turn while others wait. The server itself is an empty text. */
  caller: string;
  /** Work that is cancelled while it waits never runs. */
  cancellation?: Cancellation | undefined;
}

interface Waiting {
  caller: string;
  start: () => void;
}

/** Runs a limited number of works at a time. The others wait in order, and the callers take turns. */
export class LimitedQueue {
  readonly #limits: Required<QueueLimits>;
  readonly #waiting = new FairQueue<Waiting>();
  /** The number of running works by caller. */
  readonly #running = new Map<string, number>();
  #runningCount = 0;

  constructor(limits: QueueLimits) {
    const none = Number.POSITIVE_INFINITY;
    const refusal = () => new Error('too much waits');
    const unlimited = { maxRunningPerCaller: none, maxWaiting: none, maxWaitingPerCaller: none, timeoutMs: none };
    this.#limits = { ...unlimited, refusal, ...limits };
  }

  /** The number of works that wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Starts synchronously if less than the limit runs, so that a single group keeps up with the writers. Work that has
   * waited yields to the event loop when that is due.
   * @throws the refusal, the reason of the cancellation while it waits, or any error of `work`.
   */
  async run<Result>(
    work: () => Result | Promise<Result>,
    { caller, cancellation }: Requester = { caller: '' },
  ): Promise<Result> {
    if (this.#runningCount < this.#limits.maxRunning && this.#mayRun(caller)) this.#count(caller, 1);
    else {
      await this.#wait(caller, cancellation);
      await yieldWhenDue();
    }
    try {
      cancellation?.throwIfCancelled();
      return await work();
    } finally {
      this.#count(caller, -1);
      this.#startNext();
    }
  }

  async #wait(caller: string, cancellation: Cancellation | undefined): Promise<void> {
    const { maxWaiting, maxWaitingPerCaller, timeoutMs, refusal } = this.#limits;
    if (this.size >= maxWaiting || this.#waiting.sizeOf(caller) >= maxWaitingPerCaller) throw refusal();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { caller, start: resolve };
    const leave = (reason: unknown) => {
      this.#waiting.delete(caller, waiting);
      reject(reason);
    };
    const cancel = () => leave(cancellation?.reason);
    const timer = timeoutMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(() => leave(refusal()), timeoutMs);
    this.#waiting.add(caller, waiting);
    cancellation?.addListener(cancel);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      cancellation?.removeListener(cancel);
    }
  }

  /** The next work takes the place of the one that has ended, so that work that arrives meanwhile cannot run before it. */
  #startNext(): void {
    const next = this.#waiting.take((caller) => this.#mayRun(caller));
    if (!next) return;
    this.#count(next.caller, 1);
    next.start();
  }

  #mayRun(caller: string): boolean {
    return (this.#running.get(caller) ?? 0) < this.#limits.maxRunningPerCaller;
  }

  #count(caller: string, change: 1 | -1): void {
    const count = (this.#running.get(caller) ?? 0) + change;
    if (count === 0) this.#running.delete(caller);
    else this.#running.set(caller, count);
    this.#runningCount += change;
  }
}
