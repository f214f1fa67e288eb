/** An operation between its arrival and the moment when it stands. */
export interface Start {
  /** Resolves once everything that arrived before stands; that waits for the database at most. */
  earlier: Promise<unknown>;
  /** It runs, it is refused, or its subscription has found its place. */
  stand: () => void;
}

/** What a client sends behind a subscription on the same socket happens behind it: it may expect to see it there. */
export class Starting {
  readonly #starting = new Set<Promise<void>>();

  begin(): Start {
    const earlier = Promise.all(this.#starting);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#starting.add(promise);
    const stand = () => {
      this.#starting.delete(promise);
      resolve();
    };
    return { earlier, stand };
  }
}
