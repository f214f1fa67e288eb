import fc from 'fast-check';

/**
 * Decisions read from a tape of numbers. Every tape makes something, a number of 0 the simplest, and so does a tape that
 * has run out: fast-check shrinks the tape, and with it what was made.
 */
export class Choices {
  readonly #tape: readonly number[];
  #position = 0;

  constructor(tape: readonly number[]) {
    this.#tape = tape;
  }

  /** 0 to `count` - 1. */
  below(count: number): number {
    const number = this.#tape[this.#position] ?? 0;
    this.#position += 1;
    return number % count;
  }

  oneOf<T>(items: readonly [T, ...T[]]): T;
  oneOf<T>(items: readonly T[]): T | undefined;
  oneOf<T>(items: readonly T[]): T | undefined {
    return items[this.below(Math.max(items.length, 1))];
  }

  /** True in so many of 100 cases; false where the tape has run out. */
  chance(percent: number): boolean {
    return this.below(100) >= 100 - percent;
  }
}

/** Tapes of so many numbers. */
export function choices(minLength = 20, maxLength = 400): fc.Arbitrary<Choices> {
  return fc.array(fc.nat(0xffff), { minLength, maxLength, size: 'max' }).map((tape) => new Choices(tape));
}
