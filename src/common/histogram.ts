/**
 * Counts observed values by upper bounds. prom-client's histogram looks up its labels at each observation, which takes
 * ten times as long.
 */
export class Histogram {
  /** Ascending. */
  readonly bounds: readonly number[];
  sum = 0;
  /** The number of values. */
  count = 0;
  /** The number of values in each bucket; the last one is for values above all bounds. */
  readonly #counts: number[];

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#counts = new Array(bounds.length + 1).fill(0);
  }

  /** `count`: how often the value was observed. */
  observe(value: number, count = 1): void {
    let index = 0;
    while (index < this.bounds.length && value > (this.bounds[index] ?? 0)) index += 1;
    this.#counts[index] = (this.#counts[index] ?? 0) + count;
    this.sum += value * count;
    this.count += count;
  }

  /** Observes the seconds since `start`, a value of `performance.now()`. */
  observeSince(start: number): void {
    this.observe((performance.now() - start) / 1_000);
  }

  /** The number of values up to each bound, and at last the number of all values. */
  cumulativeCounts(): number[] {
    let total = 0;
    return this.#counts.map((count) => {
      total += count;
      return total;
    });
  }
}
