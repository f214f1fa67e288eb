/** The start of one operation of a socket. */
export interface OperationStart {
  /** Resolves when all operations that arrived earlier have started; it waits for nothing slower than the database. */
  earlierStarted: Promise<unknown>;
  /** Called when the operation runs, is refused, or its subscription has found its position in the log. */
  markStarted: () => void;
}

/**
 * Keeps the order on one socket: a mutation that is sent after a subscription runs after the subscription has started,
 * so that the subscription receives its events.
 */
export class StartOrder {
  /** Resolves when all operations that have arrived so far have started. */
  #allStarted: Promise<unknown> = Promise.resolve();

  add(): OperationStart {
    const earlier = this.#allStarted;
    const { promise, resolve } = Promise.withResolvers<void>();
    // Without the result: each array would contain the one before, and a long-lived socket would keep them all.
    this.#allStarted = Promise.all([earlier, promise]).then(() => {});
    return { earlierStarted: earlier, markStarted: resolve };
  }
}
