import { createRandom } from '../rooms/unreliable-bus.ts';

/** Decisions at random that depend on the seed only. */
export class Chooser {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = createRandom(seed);
  }

  /** A whole number from 0 to `count` - 1. */
  below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  oneOf<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('There is nothing to choose from.');
    return item;
  }

  /** Chooses an item as often as its weight says. */
  weighted<T extends { weight: number }>(items: readonly T[]): T {
    let rest = this.#random() * items.reduce((sum, { weight }) => sum + weight, 0);
    for (const item of items) {
      rest -= item.weight;
      if (rest < 0) return item;
    }
    return this.oneOf(items);
  }
}
