/** A histogram of durations in whole milliseconds, which several processes can add up. */
export class Milliseconds {
  readonly #counts = new Map<number, number>();

  add(ms: number, count = 1): void {
    const whole = Math.round(ms);
    this.#counts.set(whole, (this.#counts.get(whole) ?? 0) + count);
  }

  entries(): [ms: number, count: number][] {
    return [...this.#counts];
  }

  /** The duration below which a share (0 to 1) of all lies, as text with its unit. */
  percentile(share: number): string {
    const sorted = this.entries().toSorted(([left], [right]) => left - right);
    const total = sorted.reduce((sum, [, count]) => sum + count, 0);
    let before = 0;
    const found = sorted.find(([, count]) => {
      before += count;
      return before > total * share || before === total;
    });
    return found === undefined ? 'none' : `${found[0]} ms`;
  }
}
