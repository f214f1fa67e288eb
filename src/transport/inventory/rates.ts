const intervalMs = 1_000;

interface Sample<Name extends string> {
  /** By performance.now(): the timer may be late. */
  at: number;
  counts: Record<Name, number>;
}

/** Compares counts once a second, so that each reader gets the rates of the last full second. */
export class Rates<Name extends string> {
  readonly #timer: NodeJS.Timeout;
  #previous: Sample<Name>;
  #latest: Sample<Name>;

  /** `read` returns counts that only increase. */
  constructor(read: () => Record<Name, number>) {
    const sample = () => ({ at: performance.now(), counts: read() });
    this.#latest = sample();
    this.#previous = this.#latest;
    const compare = () => {
      this.#previous = this.#latest;
      this.#latest = sample();
    };
    this.#timer = setInterval(compare, intervalMs).unref();
  }

  perSecond(name: Name): number {
    return this.#increase(name) / ((this.#latest.at - this.#previous.at) / 1_000 || 1);
  }

  /** The increase of one count for each increase of another; 0 without any. */
  ratio(name: Name, other: Name): number {
    return this.#increase(name) / (this.#increase(other) || 1);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #increase(name: Name): number {
    return this.#latest.counts[name] - this.#previous.counts[name];
  }
}
