import { describe, expect, it } from 'vitest';
import { type SharedServer, shareServer } from '../support/server/shared-server.ts';

const server = shareServer();
/** The configurable limits of documents are raised, so that only the fixed limits protect this server. */
const raised = shareServer({
  LIMIT_DEPTH: '1000000',
  LIMIT_COST: '1000000000000',
  LIMIT_TOKENS: '100000000',
  LIMIT_ALIASES: '100000000',
  LIMIT_DIRECTIVES: '100000000',
  LIMIT_COMMENTS: '100000000',
  LIMIT_NESTING: '500',
  LIMIT_DOCUMENT_BYTES: '100000000',
  LIMIT_BODY_BYTES: '100000000',
});

const times = (n: number, text: (index: number) => string) =>
  Array.from({ length: n }, (_, index) => text(index)).join(' ');
const nested = (n: number, open: string, inside: string, close: string) =>
  `${open.repeat(n)}${inside}${close.repeat(n)}`;

/** Fragment 0 has one field; each later fragment spreads the previous fragment twice. */
const doubling = (n: number) =>
  `{ viewer { ...F${n} } } fragment F0 on User { id } ${times(n, (index) => `fragment F${index + 1} on User { ...F${index} ...F${index} }`)}`;
/** Each fragment spreads the next fragment once. */
const chain = (n: number) =>
  `{ viewer { ...F0 } } ${times(n, (index) => `fragment F${index} on User { ...F${index + 1} }`)} fragment F${n} on User { id }`;

const hostile: Record<string, string> = {
  'an unknown fragment': '{ ...Nope }',
  'an unknown fragment of a name that objects know': '{ ...toString ...constructor ...__proto__ }',
  'a fragment that spreads itself': '{ viewer { ...A } } fragment A on User { ...A }',
  'a fragment that spreads itself beside a field': '{ viewer { ...A } } fragment A on User { id ...A }',
  'a fragment that spreads itself below a field':
    '{ viewer { ...A } } fragment A on User { posts { author { ...A } } }',
  'two fragments that spread each other': '{ viewer { ...A } } fragment A on User { ...B } fragment B on User { ...A }',
  'a hundred fragments in a circle': `{ viewer { ...F0 } } ${times(100, (index) => `fragment F${index} on User { ...F${(index + 1) % 100} }`)}`,
  'fragments of one name': '{ viewer { ...A } } fragment A on User { id } fragment A on User { name }',
  '2^22 spreads': doubling(22),
  '2^60 spreads': doubling(60),
  '2^10 selections below one another': `{ viewer { ...F10 } } fragment F0 on User { id } ${times(10, (index) => `fragment F${index + 1} on User { posts { author { ...F${index} } } b: posts { author { ...F${index} } } }`)}`,
  'two operations of one name': 'query A { viewer { id } } query A { viewer { name } }',
  'an anonymous operation beside another': '{ viewer { id } } query A { viewer { id } }',
  'two operations and no word of which': 'query A { viewer { id } } query B { viewer { id } }',
  'no operation': 'fragment A on User { id }',
  'a type definition': 'type Query { a: Int }',
  'an empty document': '',
  'nothing but commas and comments': ',,, # nothing\n,,,',
  'a NUL': '\0',
  'a name cut short': '{ viewer { id',
  'a string that does not end': '{ room(id: "x',
  'a lone surrogate': '{ room(id: "\ud800") { id } }',
  'a number without end': `{ users(page: ${'9'.repeat(50_000)}) { data { id } } }`,
  'a name without end': `{ ${'a'.repeat(90_000)} }`,
  'a directive of a name that objects know': '{ viewer @toString { id } }',
  'a directive often': `{ viewer { ${times(60, () => 'id @skip(if: false)')} } }`,
  'a directive twice in one place': '{ viewer @skip(if: false) @skip(if: false) { id } }',
  'a variable of a name that objects know': 'query ($__proto__: Int) { users(page: $toString) { data { id } } }',
  'introspection that goes round':
    '{ __schema { types { fields { type { fields { type { fields { type { name } } } } } } } } }',
};

const heavy: Record<string, string> = {
  '150 fragments in turn, 400 levels in each': `{ ...F0 } ${times(150, (index) => `fragment F${index} on Query { ${nested(400, '... { ', `...F${index + 1}`, '}')} }`)} fragment F150 on Query { viewer { id } }`,
  '900 fragments in turn, ten levels in each, of an unknown field': `{ ...F0 } ${times(900, (index) => `fragment F${index} on Query { ${nested(10, '... { ', `...F${index + 1}`, '}')} }`)} fragment F900 on Query { nope }`,
  '3,000 nested braces': nested(3_000, '{ a ', '', '}'),
  '100,000 nested braces': nested(100_000, '{ a ', '', '}'),
  '3,000 nested inline fragments': `{ ${nested(3_000, '... { ', 'viewer { id }', '}')} }`,
  '3,000 nested lists': `{ users(filter: ${nested(3_000, '[', '', ']')}) { data { id } } }`,
  '3,000 nested objects': `{ users(filter: ${nested(3_000, '{ a: ', '1', '}')}) { data { id } } }`,
  '3,000 nested types of a variable': `query ($a: ${nested(3_000, '[', 'Int', ']')}) { viewer { id } }`,
  'a chain of 1,000 fragments': chain(1_000),
  'a chain of 20,000 fragments': chain(20_000),
  '15,000 selections': `{ ${times(15_000, (index) => `a${index}: viewer { id }`)} }`,
  '150,000 selections of one field': `{ viewer { ${times(150_000, () => 'id')} } }`,
  '150,000 selections': `{ ${times(150_000, (index) => `a${index}: viewer { id }`)} }`,
  '20,000 aliases': `{ viewer { ${times(20_000, (index) => `a${index}: id`)} } }`,
  '20,000 directives': `{ viewer { ${times(20_000, () => 'id @include(if: true)')} } }`,
  '20,000 unknown fields': `{ viewer { ${times(20_000, (index) => `nope${index}`)} } }`,
  '20,000 unknown fragments': `{ viewer { ${times(20_000, (index) => `...Nope${index}`)} } }`,
  '20,000 unused fragments': `{ viewer { id } } ${times(20_000, (index) => `fragment F${index} on User { id }`)}`,
  '20,000 unused variables': `query (${times(20_000, (index) => `$v${index}: Int`)}) { viewer { id } }`,
  '20,000 operations': times(20_000, (index) => `query Q${index} { viewer { id } }`),
  '5,000 branches that go deep': `{ ${times(5_000, (index) => `a${index}: viewer { posts { author { posts { author { posts { author { posts { author { posts { author { posts { id } } } } } } } } } } } }`)} }`,
  '2^22 spreads': doubling(22),
  '2 MB of one name': `{ ${'a'.repeat(2_000_000)} }`,
};

async function post(to: SharedServer, query: string, operationName?: string) {
  const response = await fetch(to.postroom.graphqlUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, operationName }),
  });
  const text = await response.text();
  const { data, errors } = JSON.parse(text) as { data?: unknown; errors?: { extensions: { code: string } }[] };
  return { status: response.status, code: errors?.[0]?.extensions.code, data, length: text.length };
}

async function expectRefused(to: SharedServer, query: string): Promise<void> {
  const logged = to.postroom.log.length;
  const { status, code, data, length } = await post(to, query);
  expect({ status, code }).toEqual({
    status: expect.toSatisfy((is) => is >= 400 && is < 500),
    code: expect.any(String),
  });
  expect(data).toBeUndefined();
  expect(length).toBeLessThan(10_000);
  expect(await to.postroom.send('{ viewer { id } }')).toMatchObject({ status: 200, data: { viewer: null } });
  expect(to.postroom.log.slice(logged)).toEqual([]);
}

describe('the server refuses the document and continues to run:', () => {
  it.each(Object.keys(hostile))('%s', (name) => expectRefused(server, hostile[name] ?? ''));
  it.each(Object.keys(heavy))('%s', (name) => expectRefused(server, heavy[name] ?? ''));
});

describe('with every limit raised, the server refuses the document and continues to run:', () => {
  it.each(Object.keys(hostile).filter((name) => name !== 'a directive often'))('%s', (name) =>
    expectRefused(raised, hostile[name] ?? ''));
  it.each(Object.keys(heavy))('%s', (name) => expectRefused(raised, heavy[name] ?? ''));
});

it('a document that was refused is refused again with the same errors at the same locations', async () => {
  const answers = async () => {
    const all = Object.entries(hostile).map(async ([name, query]) => {
      const { status, errors } = await server.postroom.send(`${query}\n# asked twice`);
      return [name, { status, errors }] as const;
    });
    return Object.fromEntries(await Promise.all(all));
  };
  const first = await answers();
  expect(first['a name cut short']).toMatchObject({ errors: [{ locations: [{ line: 2, column: 14 }] }] });
  expect(first['a directive twice in one place']).toMatchObject({ errors: [{ locations: [{}, {}] }] });
  expect(await answers()).toEqual(first);
});

describe('names of properties of JavaScript objects are names like any other:', () => {
  const names = ['toString', 'constructor', 'hasOwnProperty', '__proto__', 'prototype', 'valueOf'];

  it.each(names)('an operation %s', async (name) => {
    expect(await post(server, `query ${name} { viewer { id } }`)).toMatchObject({
      status: 200,
      data: { viewer: null },
    });
    expect(await post(server, `query ${name} { viewer { id } } query B { users { data { id } } }`, name)).toMatchObject(
      { status: 200, data: { viewer: null } },
    );
    expect(await post(server, 'query B { viewer { id } }', name)).toMatchObject({
      status: 422,
      code: 'OPERATION_NOT_FOUND',
    });
  });

  it.each(names)('a fragment %s', async (name) => {
    const query = `{ users(limit: 1) { ...${name} } } fragment ${name} on UserPage { pagination { page } }`;
    expect(await post(server, query)).toMatchObject({ status: 200, data: { users: { pagination: { page: 1 } } } });
  });

  it.each(names)('an alias %s', async (name) => {
    const { status, data } = await post(
      server,
      `{ ${name}: users(limit: 1) { ${name}: pagination { ${name}: page } } }`,
    );
    expect(status).toBe(200);
    expect(JSON.stringify(data)).toBe(JSON.stringify({ x: { x: { x: 1 } } }).replaceAll('"x"', `"${name}"`));
  });

  it.each(names)('a variable %s', async (name) => {
    const query = `query ($${name}: Int) { users(page: $${name}, limit: 1) { pagination { page } } }`;
    const response = await fetch(server.postroom.graphqlUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{ "query": ${JSON.stringify(query)}, "variables": { "${name}": 7 } }`,
    });
    expect(await response.json()).toEqual({ data: { users: { pagination: { page: 7 } } } });
  });
});

describe('fixed limits apply whatever the settings are:', () => {
  const posts = 'posts(last: 1) { id }';
  const tooMuch = { status: 422, code: 'DOCUMENT_LIMIT_EXCEEDED' };
  const answered = { status: 200, data: { viewer: null } };
  const limited: Record<string, { build: (n: number) => string; most: number }> = {
    'fields of one name that have selections': {
      build: (n) => `{ viewer { ${times(n, () => posts)} } }`,
      most: 100,
    },
    'fields of one name in inline fragments': {
      build: (n) => `{ viewer { ${times(n, () => `... on User { ${posts} }`)} } }`,
      most: 100,
    },
    'fields of one name in fragments': {
      build: (n) =>
        `{ viewer { ${times(n, (index) => `...F${index}`)} } } ${times(n, (index) => `fragment F${index} on User { ${posts} }`)}`,
      most: 100,
    },
    'fields of one name below fields of one name': {
      // The limit is 5,000 pairs. The 9 `posts` are 36 pairs. If each has 11 `author`, all 99 are 4,851 pairs.
      build: (n) => `{ viewer { ${times(9, () => `posts(last: 1) { ${times(n, () => 'author { id }')} }`)} } }`,
      most: 11,
    },
    lines: { build: (n) => `${'\n'.repeat(n - 1)}{ viewer { id } }`, most: 10_000 },
    'lines, of a string': {
      build: (n) => `{ viewer { id } node(id: """${'\n'.repeat(n - 1)}""") { id } }`,
      most: 10_000,
    },
  };

  it.each(Object.keys(limited))('%s', async (name) => {
    const { build, most } = limited[name] ?? expect.fail();
    expect(await post(server, build(most))).toMatchObject(answered);
    expect(await post(server, build(most + 1))).toMatchObject(tooMuch);
  });

  it('a fragment counts once, however often it is spread in one selection set', async () => {
    const query = `{ viewer { ${times(300, () => '...F')} } } fragment F on User { ${posts} }`;
    expect(await post(server, query)).toMatchObject(answered);
  });

  it('fields without selections do not count', async () => {
    expect(await post(server, `{ viewer { ${times(400, () => 'id')} } }`)).toMatchObject(answered);
  });
});

it('a document that is only invalid receives all errors of the standard rules together', async () => {
  const conflict = '{ a: users(limit: 1) { data { id } } a: users(limit: 2) { data { id } } }';
  expect(await post(server, conflict)).toMatchObject({ status: 422, code: 'GRAPHQL_VALIDATION_FAILED' });
  const { errors } = await server.postroom.send('{ nope viewer { id(nothing: 1) } }');
  expect(errors).toMatchObject([
    { locations: [{ line: 1, column: 3 }], extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } },
    { locations: [{ line: 1, column: 20 }], extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } },
  ]);
});

it('an empty selection set gives an empty answer, as in graphql-js', async () => {
  expect(await post(server, '{}')).toMatchObject({ status: 200, data: {} });
});

it('a depth that only introspection reaches is not counted', async () => {
  const ofType = nested(9, 'ofType { name ', '', '}');
  const query = `{ __schema { types { name kind fields { name type { name ${ofType} } } } } }`;
  expect(await post(server, query)).toMatchObject({ status: 200 });
});

it('a document just within the fixed limits is answered', async () => {
  for (const query of [chain(990), doubling(11)]) {
    expect(await post(raised, query)).toMatchObject({ status: 200, data: { viewer: null } });
  }
  const variables = { id: 'nothing' };
  const spread = `query ($id: ID!) { node(id: $id) { ...F10 } } fragment F0 on Node { id } ${times(10, (index) => `fragment F${index + 1} on Node { ...F${index} ... on User { ...F${index} } }`)}`;
  expect(await raised.postroom.send(spread, variables)).toMatchObject({ status: 200, data: { node: null } });
});

describe('a document whose fragments are too large is refused for that reason, even if it also has', () => {
  const tooMuch = doubling(60);
  it.each([
    ['an unknown field', tooMuch.replace('{ viewer {', '{ nope viewer {')],
    [
      'a fragment that spreads itself',
      `${tooMuch.replace('{ viewer {', '{ ...A viewer {')} fragment A on Query { ...A }`,
    ],
  ])('%s', async (_, query) => {
    expect(await post(server, query)).toMatchObject({ status: 422, code: 'DOCUMENT_LIMIT_EXCEEDED' });
  });
});
