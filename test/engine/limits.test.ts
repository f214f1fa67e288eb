import { readFileSync } from 'node:fs';
import { buildSchema, graphqlSync } from 'graphql';
import { createClient } from 'graphql-ws';
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { readConfig } from '../../src/config/config.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { launchForTest } from '../support/server/postroom.ts';
import { type SharedServer, shareServer } from '../support/server/shared-server.ts';

/** Each limit differs from its default. No limit is so low that a request cannot reach another limit. */
const settings = {
  LIMIT_DEPTH: '7',
  LIMIT_COST: '1500',
  LIMIT_TOKENS: '700',
  LIMIT_ALIASES: '7',
  LIMIT_DIRECTIVES: '8',
  LIMIT_COMMENTS: '9',
  LIMIT_NESTING: '40',
  LIMIT_DOCUMENT_BYTES: '6000',
  LIMIT_BODY_BYTES: '20000',
  LIMIT_ANSWER_BYTES: '100000',
};
const server = shareServer();
const servers = {
  'by default': { server, limits: readConfig({}).limits },
  'as its setting says': { server: shareServer(settings), limits: readConfig(settings).limits },
};
const { limits } = servers['by default'];

interface Request {
  query: string;
  operationName?: string;
  padding?: string;
}

/** `build` creates a request that has exactly the value `n`; `status` and `code` are the error for a larger value. */
interface Boundary {
  build: (n: number) => Request;
  status: number;
  code: string;
}

const document = { status: 422, code: 'DOCUMENT_LIMIT_EXCEEDED' };
const viewer = '{ viewer { id } }';
const times = (n: number, text: string | ((index: number) => string)) =>
  Array.from({ length: n }, (_, index) => (typeof text === 'string' ? text : text(index))).join(' ');

const boundaries: Partial<Record<keyof typeof limits, Boundary>> = {
  depth: {
    // As in graphql-depth-limit, a root field has depth 0.
    build: (n) => {
      const steps = Array.from({ length: n - 1 }, (_, index) => (index % 2 === 0 ? 'posts(last: 1)' : 'author'));
      return { query: `{ viewer { ${times(n - 1, (index) => `${steps[index]} {`)} id ${times(n - 1, '}')} } }` };
    },
    status: 422,
    code: 'DEPTH_LIMIT_EXCEEDED',
  },
  cost: {
    // The page of 100 posts with the posts of their authors costs 1 + 100 × (2 + last); the page of users, 1 + limit.
    build: (n) => {
      const last = Math.floor((n - 203) / 100);
      const limit = n - (1 + 100 * (2 + last)) - 1;
      const posts = `posts(limit: 100) { data { author { posts(last: ${last}) { id } } } }`;
      return { query: `{ ${posts} users(limit: ${limit}) { data { id } } }` };
    },
    status: 422,
    code: 'COST_LIMIT_EXCEEDED',
  },
  tokens: {
    // The fields are in many operations, because graphql compares all fields of one operation pair by pair, and aborts
    // the validation if an operation has about 1,000 equal fields.
    build: (n) => {
      const others = Math.floor((n - 8) / 100);
      const operation = (name: string, tokens: number) => `query ${name} { viewer { ${times(tokens - 7, 'id')} } }`;
      return {
        query: [operation('Q', n - 100 * others), times(others, (index) => operation(`Q${index}`, 100))].join(' '),
        operationName: 'Q',
      };
    },
    ...document,
  },
  aliases: { build: (n) => ({ query: `{ ${times(n, (index) => `a${index}: viewer { id }`)} }` }), ...document },
  directives: { build: (n) => ({ query: `{ viewer { ${times(n, 'id @include(if: true)')} } }` }), ...document },
  comments: { build: (n) => ({ query: `${viewer}${'#\n'.repeat(n)}` }), ...document },
  nesting: {
    build: (n) => ({ query: `{ ${times(n - 2, '... {')} viewer { id } ${times(n - 2, '}')} }` }),
    ...document,
  },
  documentBytes: { build: (n) => ({ query: `${viewer}#${'é'.repeat(10)}`.padEnd(n - 10) }), ...document },
  bodyBytes: {
    build: (n) => ({ query: viewer, padding: 'x'.repeat(n - JSON.stringify({ query: viewer, padding: '' }).length) }),
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  },
  answerBytes: {
    build: (n) => {
      const { fields, bytes } = measureFields();
      const perField = Math.floor((n - bytes) / fields);
      return { query: askForFields(1 + perField, 1 + n - bytes - fields * perField) };
    },
    status: 422,
    code: 'COST_LIMIT_EXCEEDED',
  },
};

/**
 * The answer has a key of `lengthOfEach` characters for each field of the schema, and one key of `lengthOfOne`
 * characters.
 */
function askForFields(lengthOfEach: number, lengthOfOne: number): string {
  const each = `{ ${'b'.repeat(lengthOfEach)}: __typename }`;
  return `{ ${'a'.repeat(lengthOfOne)}: __typename __schema { types { fields ${each} } } }`;
}

/** The number of fields in the schema, and the length of the answer with the shortest keys. */
function measureFields(): { fields: number; bytes: number } {
  const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));
  const answer = JSON.stringify(graphqlSync({ schema, source: askForFields(1, 1) }));
  return { fields: answer.split('"b":').length - 1, bytes: answer.length };
}

/** Limits of sockets, which have tests of their own. */
const ofSockets = ['subscriptions', 'sockets', 'messages'];

async function send(server: SharedServer, request: Request) {
  const response = await fetch(server.postroom.graphqlUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  });
  const { errors } = (await response.json()) as { errors?: { extensions: { code: string } }[] };
  return { status: response.status, code: errors?.[0]?.extensions.code };
}

/** Sends a request, and returns the code of its first error. */
const transports: Record<string, (server: SharedServer, request: Request) => Promise<string | undefined>> = {
  POST: async (server, request) => (await send(server, request)).code,
  GET: ({ postroom }, { query, operationName }) =>
    readCode(
      fetch(`${postroom.graphqlUrl}?${new URLSearchParams({ query, ...(operationName && { operationName }) })}`),
    ),
  'an event stream': ({ postroom }, request) => {
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
    return readCode(fetch(postroom.graphqlUrl, { method: 'POST', headers, body: JSON.stringify(request) }));
  },
  'a WebSocket': async ({ postroom }, payload) => {
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    socket.send({ type: 'subscribe', id: '1', payload });
    const answer = await socket.take(({ id }) => id === '1');
    return (answer.type === 'error' ? answer.payload : answer.payload.errors)?.[0].extensions.code;
  },
};

async function readCode(answering: Promise<Response>): Promise<string | undefined> {
  const text = await (await answering).text();
  return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)).errors?.[0].extensions.code;
}

describe('a limit', () => {
  it('of the list is tested here at its boundary, or applies to sockets', () => {
    expect([...Object.keys(boundaries), ...ofSockets].sort()).toEqual(Object.keys(limits).sort());
  });

  describe.each(Object.entries(servers))('%s', (_, { server, limits }) => {
    it.each(Object.entries(boundaries))('of %s allows its value, and refuses one more', async (name, boundary) => {
      const n = limits[name as keyof typeof limits];
      const { build, status, code } = boundary;
      expect(await send(server, build(n))).toEqual({ status: 200, code: undefined });
      expect(await send(server, build(n + 1))).toEqual({ status, code });
    });
  });

  const { server: limited, limits: low } = servers['as its setting says'];
  // The length of a body is a limit of POST.
  const ofOperations = Object.entries(boundaries).filter(([name]) => name !== 'bodyBytes');
  it.each(ofOperations)('of %s is the same over every transport', async (name, { build, code }) => {
    const n = low[name as keyof typeof low];
    for (const [transport, ask] of Object.entries(transports)) {
      const codes = { within: await ask(limited, build(n)), over: await ask(limited, build(n + 1)) };
      expect({ transport, ...codes }).toEqual({ transport, within: undefined, over: code });
    }
  });

  it('of subscriptions allows its value on a socket, and ends one more with an error', async () => {
    const postroom = await launchForTest({ LIMIT_SUBSCRIPTIONS: '3' });
    const room = await postroom.createRoom(await postroom.signUp('Ada'), 'lobby');
    const client = createClient({ url: postroom.webSocketUrl, webSocketImpl: WebSocket, lazy: false });
    const query = `subscription { roomEvents(room: "${room}") { cursor } }`;
    const ended = Promise.withResolvers<unknown>();
    const sink = { next: () => {}, error: () => {}, complete: () => {} };
    for (let n = 0; n < 3; n += 1) client.subscribe({ query }, sink);
    client.subscribe({ query }, { ...sink, error: ended.resolve });
    expect(await ended.promise).toMatchObject([{ extensions: { code: 'SUBSCRIPTION_LIMIT_EXCEEDED' } }]);
    await client.dispose();
  });
});

describe('the cost of an operation', () => {
  const page = 'posts(limit: 100) { data { author { posts(last: 100) { id } } } }';

  async function costOf(query: string, variables: Record<string, unknown> = {}): Promise<number> {
    const response = await fetch(server.postroom.graphqlUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables, extensions: { cost: true } }),
    });
    const { extensions, errors } = (await response.json()) as {
      extensions?: { cost: { requested: number } };
      errors?: { message: string }[];
    };
    const [, refused] = /costs (\d+),/.exec(errors?.[0]?.message ?? '') ?? [];
    return refused ? Number(refused) : (extensions?.cost.requested ?? Number.NaN);
  }

  it('is 1 for an object, 0 for a leaf, and for a list its length times the cost of an item', async () => {
    expect(await costOf('{ viewer { id name email } }')).toBe(1);
    expect(await costOf('{ users(limit: 7) { data { id } } }')).toBe(8);
    expect(await costOf('{ users(limit: 7) { pagination { page } } }')).toBe(2);
    expect(await costOf('{ users(limit: 7) { data { posts(last: 3) { id author { id } } } } }')).toBe(
      1 + 7 * (1 + 3 * 2),
    );
  });

  it('is the same for a length written in the document, in a variable, and by default', async () => {
    expect(await costOf('{ users(limit: 50) { data { id } } }')).toBe(51);
    expect(await costOf('query ($limit: Int) { users(limit: $limit) { data { id } } }', { limit: 50 })).toBe(51);
    expect(await costOf('query ($limit: Int = 50) { users(limit: $limit) { data { id } } }')).toBe(51);
    expect(await costOf('query ($limit: Int = 50) { users(limit: $limit) { data { id } } }', { limit: 60 })).toBe(61);
    for (const query of ['{ users { data { id } } }', '{ users(limit: null) { data { id } } }'])
      expect(await costOf(query)).toBe(21);
    expect(await costOf('query ($limit: Int) { users(limit: $limit) { data { id } } }')).toBe(21);
    expect(await costOf('query ($limit: Int) { users(limit: $limit) { data { id } } }', { limit: null })).toBe(21);
    expect(await costOf('{ viewer { posts { id } } }')).toBe(11);
  });

  it('of a connection depends on the larger of first and last, or 20', async () => {
    const room = (args: string, selected = 'nodes { id }') => `{ room(id: "x") { posts${args} { ${selected} } } }`;
    expect(await costOf(room(''))).toBe(1 + 1 + 20);
    expect(await costOf(room('(first: 5)'))).toBe(1 + 1 + 5);
    expect(await costOf(room('(last: 6)'))).toBe(1 + 1 + 6);
    expect(await costOf(room('(first: 5, last: 6)'))).toBe(1 + 1 + 6);
    expect(await costOf(room('(first: 5)', 'edges { cursor node { id } } nodes { id } pageInfo { hasNextPage }'))).toBe(
      1 + 1 + 5 * 2 + 5 + 1 + 3,
    );
  });

  it('is not lowered by a negative or huge length', async () => {
    for (const [given, counted] of [
      [0, 1],
      [-1, 1],
      [-2_147_483_648, 1],
      [2_147_483_647, 1_000],
    ] as const) {
      expect(await costOf('query ($limit: Int) { users(limit: $limit) { data { id } } }', { limit: given })).toBe(
        1 + counted,
      );
      expect(await costOf(`{ users(limit: ${given}) { data { id } } }`)).toBe(1 + counted);
    }
    const beside = `{ ${page} less: users(limit: -2147483648) { data { posts(last: -2147483648) { id } } } }`;
    expect(await server.postroom.send(beside)).toMatchObject({ status: 422, code: 'COST_LIMIT_EXCEEDED' });
  });

  it('counts the fields of a fragment each time it is spread, and fields under conditions', async () => {
    const query = `query ($no: Boolean = false) {
      a: users(limit: 10) { ...page } b: users(limit: 10) { ...page } users(limit: 10) @include(if: $no) { ...page }
    } fragment page on UserPage { data { ... on User { ... { posts(last: 2) { ...post } } } } } fragment post on Post { author { id } }`;
    expect(await costOf(query)).toBe(3 * (1 + 10 * (1 + 2 * 2)));
  });

  it('of an abstract type is that of its costliest member', async () => {
    const query = `{ node(id: "x") { id ... on User { posts(last: 50) { id } } ... on Room { owner { id } } ... on Node { id } } }`;
    expect(await costOf(query)).toBe(1 + 50);
  });

  it('is 10 higher for a mutation, and 100 for a mutation that hashes a password', async () => {
    expect(await costOf('mutation { renewSession { accessToken } }')).toBeGreaterThanOrEqual(10);
    const signIn = 'signIn(input: { email: "nobody@example.org", password: "x" }) { accessToken }';
    const many = Array.from({ length: 30 }, (_, index) => `a${index}: ${signIn}`).join(' ');
    expect(await costOf(`mutation { ${signIn} }`)).toBeGreaterThanOrEqual(100);
    expect(await costOf(`mutation { ${many} }`)).toBeGreaterThanOrEqual(3_000);
  });
});
