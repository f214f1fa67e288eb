import { ClientError } from '../../errors.ts';
import { FairQueue } from '../../fair-queue.ts';

const maxRunning = 100;
const maxRunningPerCaller = 10;
const maxWaitingPerCaller = 100;

interface Waiting {
  caller: string;
  start: () => void;
}

/**
 * Limits the introspections that run at the same time. The others wait, and the callers, which are addresses or tokens,
 * take turns.
 */
export class IntrospectionQueue {
  readonly #waiting = new FairQueue<Waiting>();
  /** The number of running introspections by caller. */
  readonly #running = new Map<string, number>();
  #runningCount = 0;

  /** @throws ClientError SERVICE_UNAVAILABLE if too many introspections of the caller wait. */
  async run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    if (this.#waiting.sizeOf(caller) >= maxWaitingPerCaller) throw tooManyTokens();
    await new Promise<void>((start) => {
      this.#waiting.add(caller, { caller, start });
      this.#startNext();
    });
    try {
      return await work();
    } finally {
      this.#count(caller, -1);
      this.#startNext();
    }
  }

  #startNext(): void {
    if (this.#runningCount >= maxRunning) return;
    const next = this.#waiting.take((caller) => (this.#running.get(caller) ?? 0) < maxRunningPerCaller);
    if (!next) return;
    this.#count(next.caller, 1);
    next.start();
  }

  #count(caller: string, change: 1 | -1): void {
    const count = (this.#running.get(caller) ?? 0) + change;
    if (count === 0) this.#running.delete(caller);
    else this.#running.set(caller, count);
    this.#runningCount += change;
  }
}

function tooManyTokens(): ClientError {
  const message = 'Too many access tokens of this address wait for their issuer.';
  return new ClientError('SERVICE_UNAVAILABLE', message, { retryAfterMs: 1_000 });
}
