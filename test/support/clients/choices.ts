import fc from 'fast-check';

/**
 * Decisions read from a list of numbers, the tape. Every tape gives a valid result, and 0 is the simplest choice. After
 * the end of the tape every number is 0. When fast-check shrinks the tape, the generated value shrinks too.
 */
export class Choices {
  readonly #tape: readonly number[];
  #position = 0;

  constructor(tape: readonly number[]) {
    this.#tape = tape;
  }

  /** A whole number from 0 to `count` - 1. */
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

  /** True with a probability of `percent`; false after the end of the tape. */
  chance(percent: number): boolean {
    return this.below(100) >= 100 - percent;
  }
}

/** Tapes of `minLength` to `maxLength` numbers. */
export function choices(minLength = 20, maxLength = 400): fc.Arbitrary<Choices> {
  return fc.array(fc.nat(0xffff), { minLength, maxLength, size: 'max' }).map((tape) => new Choices(tape));
}
