import { contain } from '../common/contain.ts';

/** Runs work after it was requested, and at most once in each interval. */
export class Pace {
  readonly #intervalMs: number;
  readonly #work: () => void;
  #timer: NodeJS.Timeout | undefined;
  #ranAt = Number.NEGATIVE_INFINITY;

  constructor(intervalMs: number, work: () => unknown, onError: (error: unknown) => void) {
    this.#intervalMs = intervalMs;
    this.#work = contain(work, onError);
  }

  /** The work begins in another turn of the event loop, so that requests of one turn share it. */
  request(): void {
    const delay = this.#ranAt + this.#intervalMs - performance.now();
    this.#timer ??= setTimeout(() => this.#run(), Math.max(0, delay)).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #run(): void {
    this.#timer = undefined;
    this.#ranAt = performance.now();
    this.#work();
  }
}
