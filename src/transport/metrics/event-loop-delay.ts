import { monitorEventLoopDelay } from 'node:perf_hooks';

const sampleMs = 20;
/** The delay covers the current window and the one before it. */
const windowMs = 30_000;

/** Measures the delay of the event loop. Any number of collectors may read it. */
export class EventLoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: sampleMs });
  #previousP99 = 0;
  readonly #rotation = setInterval(() => this.#rotate(), windowMs).unref();

  constructor() {
    this.#histogram.enable();
  }

  readP99Seconds(): number {
    const nanoseconds = Math.max(this.#previousP99, this.#histogram.percentile(99));
    return Math.max(0, nanoseconds / 1e9 - sampleMs / 1_000);
  }

  #rotate(): void {
    this.#previousP99 = this.#histogram.percentile(99);
    this.#histogram.reset();
  }

  stop(): void {
    clearInterval(this.#rotation);
    this.#histogram.disable();
  }
}
