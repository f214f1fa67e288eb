const intervalMs = 1_000;

type Counts<Name extends string> = Record<Name, number>;

/** Compares counts once a second, so that each reader gets the rates of the last full second. */
export class Rates<Name extends string> {
  readonly #read: () => Counts<Name>;
  readonly #timer: NodeJS.Timeout;
  #counts: Counts<Name>;
  #at = performance.now();
  #increases: Counts<Name>;
  #seconds = 1;

  /** `read` returns counts that only increase. */
  constructor(read: () => Counts<Name>) {
    this.#read = read;
    this.#counts = read();
    this.#increases = subtract(this.#counts, this.#counts);
    this.#timer = setInterval(() => this.#sample(), intervalMs).unref();
  }

  perSecond(name: Name): number {
    return this.#increases[name] / this.#seconds;
  }

  /** The increase of one count for each increase of another; 0 without any. */
  ratio(name: Name, other: Name): number {
    return this.#increases[other] === 0 ? 0 : this.#increases[name] / this.#increases[other];
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const [counts, now] = [this.#read(), performance.now()];
    this.#increases = subtract(counts, this.#counts);
    // The timer may be late.
    this.#seconds = (now - this.#at) / 1_000;
    this.#counts = counts;
    this.#at = now;
  }
}

function subtract<Name extends string>(counts: Counts<Name>, before: Counts<Name>): Counts<Name> {
  const names = Object.keys(counts) as Name[];
  return Object.fromEntries(names.map((name) => [name, counts[name] - before[name]])) as Counts<Name>;
}
