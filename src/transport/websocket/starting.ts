/** An operation between its arrival and the moment when it stands. */
export interface Start {
  /** Resolves once everything that arrived before stands; that waits for the database at most. */
  earlier: Promise<unknown>;
  /** It runs, it is refused, or its subscription has found its place. */
  stand: () => void;
}

/** What a client sends behind a subscription on the same socket happens behind it: it may expect to see it there. */
export class Starting {
  /** Resolves once everything that has arrived so far stands. */
  #all: Promise<unknown> = Promise.resolve();

  begin(): Start {
    const earlier = this.#all;
    const { promise, resolve } = Promise.withResolvers<void>();
    // Resolves to nothing: of each array in the next, a socket that lives long would keep all.
    this.#all = Promise.all([earlier, promise]).then(ignore);
    return { earlier, stand: resolve };
  }
}

function ignore(): void {}
