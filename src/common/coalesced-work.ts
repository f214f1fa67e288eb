/** Runs one work at a time. A run may miss what has led to a request meanwhile, so it is then repeated once. */
export class CoalescedWork {
  readonly #work: () => Promise<unknown>;
  /** Undefined while nothing runs. */
  running: Promise<void> | undefined;
  #isDue = false;

  constructor(work: () => Promise<unknown>) {
    this.#work = work;
  }

  /** Resolves when a run that began after the request has ended. @throws any error of the work. */
  request(): Promise<void> {
    this.#isDue = true;
    this.running ??= this.#run();
    return this.running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#isDue) {
        this.#isDue = false;
        await this.#work();
      }
    } finally {
      // In the same synchronous step as the last check of `#isDue`, so that no request is missed.
      this.running = undefined;
    }
  }
}
