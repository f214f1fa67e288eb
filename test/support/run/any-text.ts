import fc from 'fast-check';

const [firstSurrogate, surrogates, codePoints] = [0xd800, 0x800, 0x110000];

/**
 * Any character of Unicode: one in two is of ASCII. The unit `binary` of fast-check has the same characters, and takes a
 * second for its table of all of them.
 */
const character = fc
  .oneof(fc.nat(0x7f), fc.nat(codePoints - surrogates - 1))
  .map((index) => String.fromCodePoint(index < firstSurrogate ? index : index + surrogates));

export const anyText = (options: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ ...options, unit: character });
