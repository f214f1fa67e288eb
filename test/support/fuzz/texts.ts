import type { Choices } from '../clients/choices.ts';

/** Tokens of GraphQL, JSON and HTTP. */
const pieces = [
  '{',
  ...'} ( ) [ ] : ! $ @ ... " """ # , | & = - 0 1e999 null true __proto__ constructor __typename %00 ;q=0'.split(' '),
  ...['\\', '\\ud800', '\\u{110000}', '\u0000', '\ufeff', '\ud800', '\u2028', '𝄞', '\r', '\n', ' on '],
  ...['fragment F on User { ...F }', '@skip(if: true)'],
] as const;

/** Applies one to four random edits to the text. */
export function mutate(text: string, choices: Choices): string {
  let mutated = text;
  for (let left = 1 + choices.below(4); left > 0; left -= 1) mutated = edit(mutated, choices);
  return mutated;
}

function edit(text: string, choices: Choices): string {
  const from = choices.below(text.length + 1);
  const to = Math.min(text.length, from + choices.below(12));
  switch (choices.below(6)) {
    case 0:
      return text.slice(0, from) + text.slice(to);
    case 1:
      return text.slice(0, to) + text.slice(from);
    case 2:
      return text.slice(0, from);
    case 3:
      return text.slice(0, from) + choices.oneOf(pieces).repeat(1 + choices.below(200)) + text.slice(from);
    default:
      return text.slice(0, from) + choices.oneOf(pieces) + text.slice(to);
  }
}

const times = (n: number, text: (index: number) => string) => Array.from({ length: n }, (_, i) => text(i)).join(' ');

const hostileDocuments: readonly [(n: number) => string, ...((n: number) => string)[]] = [
  (n) => '{a'.repeat(n),
  (n) => `{ viewer ${'{ posts { author '.repeat(n)} { id } ${'} } '.repeat(n)}}`,
  (n) =>
    `{ viewer { ...F${n} } } fragment F0 on User { id } ${times(n, (i) => `fragment F${i + 1} on User { ...F${i} ...F${i} }`)}`,
  (n) => `{ viewer { ...F0 } } ${times(n, (i) => `fragment F${i} on User { ...F${(i + 1) % n} }`)}`,
  (n) => `{ ${times(n, (i) => `a${i}: viewer { id }`)} }`,
  (n) => `{ ${times(n, () => 'viewer { id }')} }`,
  (n) => `{ viewer { id ${'@skip(if: false) '.repeat(n)} } }`,
  (n) => `{ users(filter: ${'['.repeat(n)}${']'.repeat(n)}) { data { id } } }`,
  (n) => `{ users(limit: ${'9'.repeat(n)}) { data { id } } }`,
  (n) => `{ user(id: "${'\\u{1f600}'.repeat(n)}") { id } }`,
  (n) => '# comment\n'.repeat(n),
  (n) => `query (${times(n, (i) => `$v${i}: Int`)}) { viewer { id } }`,
  (n) => `${times(n, (i) => `query Q${i} { viewer { id } }`)}`,
  (n) => `{ ${'__schema { types { fields { type { '.repeat(n)} name ${'} } } } '.repeat(n)} }`,
  (n) => `subscription { ${times(n, (i) => `a${i}: roomEvents(room: "x") { cursor }`)} }`,
];

export function hostileDocument(choices: Choices): string {
  return choices.oneOf(hostileDocuments)(1 + choices.oneOf([1, 5, 30, 120, 500, 3_000]));
}

/** A JSON value of a random type. */
export function oddValue(choices: Choices, depth = 0): unknown {
  switch (choices.below(depth > 3 ? 9 : 12)) {
    case 0:
      return null;
    case 1:
      return choices.oneOf([0, -1, 1.5, 1e308, 2 ** 53, -0]);
    case 2:
      return choices.chance(50);
    case 3:
      return choices.oneOf(pieces);
    case 4:
      return 'x'.repeat(choices.oneOf([1, 100, 10_000]));
    case 5:
      return [];
    case 6:
      return {};
    case 7:
      return choices.oneOf(['{ viewer { id } }', 'Main', 'null', '']);
    case 8:
      return { toString: 'x', constructor: null, __proto__: 1 };
    case 9:
      return Array.from({ length: choices.below(5) }, () => oddValue(choices, depth + 1));
    default:
      return Object.fromEntries(
        Array.from({ length: choices.below(5) }, () => [
          choices.oneOf(['query', 'variables', 'v0', 'extensions', '__proto__', 'id', 'type', 'live', ...pieces]),
          oddValue(choices, depth + 1),
        ]),
      );
  }
}

/** The bytes of a text, some of them possibly replaced. */
export function oddBytes(text: string, choices: Choices): Buffer {
  const bytes = Buffer.from(text);
  for (let left = choices.below(4); left > 0 && bytes.length > 0; left -= 1) {
    bytes[choices.below(bytes.length)] = choices.below(256);
  }
  return bytes;
}
