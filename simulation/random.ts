import { hash } from 'node:crypto';

/** Random numbers that a seed determines: the same on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    // Neighbouring seeds must not begin alike.
    this.#state = Math.imul(seed + 1, 0x9e3779b9) >>> 0;
    for (let round = 0; round < 4; round += 1) this.next();
  }

  /** Those of a text: a part of the world that has its own changes no number of the others. */
  static of(text: string): Random {
    return new Random(Number.parseInt(hash('sha256', text).slice(0, 8), 16));
  }

  /** From 0 up to, but not including, 1. The generator is mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `from` up to, but not including, `to`. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from));
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.whole(0, items.length)];
    if (item === undefined) throw new Error('There is nothing to pick.');
    return item;
  }
}
