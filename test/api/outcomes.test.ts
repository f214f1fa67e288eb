// Runs on SQLite and on PostgreSQL.
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { clientErrors } from '../../src/errors.ts';
import { scratchName } from '../support/rooms/names.ts';
import { launchForTest, type Person, scratchFolder } from '../support/server/postroom.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

const server = shareServer();

const graphqlResponse = 'application/graphql-response+json';

interface Exchange {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string;
}

async function exchange({ method = 'POST', path = '', headers = {}, body }: Exchange) {
  const response = await fetch(`${server.postroom.graphqlUrl}${path}`, {
    method,
    headers: { ...(method === 'POST' && { 'content-type': 'application/json' }), accept: graphqlResponse, ...headers },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  const { data, errors } = JSON.parse(text || '{}') as {
    data?: unknown;
    errors?: { message: string; path?: unknown[]; extensions: { code: string; requestId?: string } }[];
  };
  return { status: response.status, headers: response.headers, code: errors?.[0]?.extensions.code, data, errors, text };
}

const ask = (query: string, variables: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  exchange({ body: JSON.stringify({ query, variables }), headers });

let ada: Person;
let bob: Person;
let room: string;
let name: string;
beforeAll(async () => {
  [ada, bob] = await Promise.all([server.postroom.signUp('Ada'), server.postroom.signUp('Bob')]);
  name = scratchName();
  room = await server.postroom.createRoom(ada, name);
});

const as = (person: Person) => ({ authorization: `Bearer ${person.token}` });
const post = '{"query":"{ viewer { id } }"}';

/** Each outcome with its status, its error code, and a request that causes it. */
const outcomes: Record<string, { status: number; code?: string; make: () => ReturnType<typeof exchange> }> = {
  'data without errors': { status: 200, make: () => ask('{ viewer { id } }') },
  'some data, and errors': {
    status: 294,
    code: 'VALIDATION_ERROR',
    make: () => ask('query ($id: ID!) { user(id: $id) { posts(last: 0) { id } } viewer { id } }', { id: ada.id }),
  },
  'a body that is no JSON': { status: 400, code: 'BAD_REQUEST', make: () => exchange({ body: '{' }) },
  'JSON nested too deeply': {
    status: 400,
    code: 'BAD_REQUEST',
    make: () =>
      exchange({ body: `{"query":"{ viewer { id } }","variables":${'['.repeat(5_000)}${']'.repeat(5_000)}}` }),
  },
  'a document that does not parse': { status: 400, code: 'GRAPHQL_PARSE_FAILED', make: () => ask('{') },
  'JSON that is no request': { status: 422, code: 'INVALID_REQUEST', make: () => exchange({ body: '[]' }) },
  'a document that does not fit the schema': {
    status: 422,
    code: 'GRAPHQL_VALIDATION_FAILED',
    make: () => ask('{ nope }'),
  },
  'an operation that is not there': {
    status: 422,
    code: 'OPERATION_NOT_FOUND',
    make: () => exchange({ body: '{"query":"query A { viewer { id } }","operationName":"B"}' }),
  },
  'variables that do not fit': {
    status: 422,
    code: 'VARIABLES_INVALID',
    make: () => ask('query ($id: ID!) { user(id: $id) { id } }'),
  },
  'input that breaks a rule': {
    status: 422,
    code: 'VALIDATION_ERROR',
    make: () => ask('{ users(limit: 0) { data { id } } }'),
  },
  'no credentials where some are needed': {
    status: 401,
    code: 'UNAUTHENTICATED',
    make: () => ask('mutation { renewSession { accessToken } }'),
  },
  'bad credentials': {
    status: 401,
    code: 'UNAUTHENTICATED',
    make: () => ask('{ viewer { id } }', {}, { authorization: 'Bearer x' }),
  },
  'what one may not do': {
    status: 403,
    code: 'FORBIDDEN',
    make: () => ask('mutation ($id: ID!) { deleteRoom(input: { id: $id }) { room { id } } }', { id: room }, as(bob)),
  },
  'what is not there': {
    status: 404,
    code: 'NOT_FOUND',
    make: () => ask('mutation { deleteRoom(input: { id: "nothing" }) { room { id } } }', {}, as(bob)),
  },
  'a path that is not there': {
    status: 404,
    code: 'NOT_FOUND',
    make: () => exchange({ path: '/nowhere', body: post }),
  },
  'what is there already': {
    status: 409,
    code: 'CONFLICT',
    make: () =>
      ask('mutation ($name: String!) { createRoom(input: { name: $name }) { room { id } } }', { name }, as(bob)),
  },
  'a method that does not fit': {
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
    make: () => exchange({ method: 'PUT', body: post }),
  },
  'a mutation by GET': {
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
    make: () =>
      exchange({
        method: 'GET',
        path: `?query=${encodeURIComponent('mutation { renewSession { accessToken } }')}`,
        headers: as(ada),
      }),
  },
  'an answer that cannot be had': {
    status: 406,
    code: 'NOT_ACCEPTABLE',
    make: () => exchange({ headers: { accept: 'image/png' }, body: post }),
  },
  'a body that is too long': {
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    make: () => exchange({ body: JSON.stringify({ query: 'x'.repeat(1_000_001) }) }),
  },
  'a body of another type': {
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    make: () => exchange({ headers: { 'content-type': 'text/plain' }, body: post }),
  },
};

describe('the HTTP status shows the outcome:', () => {
  it.each(Object.entries(outcomes))('%s', async (_, { status, code, make }) => {
    const answer = await make();
    expect(answer).toMatchObject({ status, code });
    expect(answer.headers.get('content-type')).toBe(`${graphqlResponse}; charset=utf-8`);
    if (status === 200) return expect(answer.errors).toBeUndefined();
    if (status === 294) return expect(answer.data).toEqual({ user: null, viewer: null });
    // What failed is null, whether it is all data or each root field.
    expect(Object.values(answer.data ?? {}).filter((value) => value !== null)).toEqual([]);
    if (code !== undefined) expect(status).toBe(clientErrors[code as keyof typeof clientErrors].status);
    // Only an internal error has a `requestId`, which identifies it in the log.
    expect(answer.text).not.toContain('requestId');
  });

  it('of a method that is not allowed comes with the allowed methods', async () => {
    const allowed = async (answer: ReturnType<typeof exchange> | undefined) =>
      (await answer)?.headers.get('allow')?.split(', ');
    for (const method of ['PUT', 'DELETE']) {
      expect(await allowed(exchange({ method }))).toEqual(expect.arrayContaining(['GET', 'POST']));
    }
    expect(await allowed(outcomes['a mutation by GET']?.make())).toEqual(['POST']);
  });

  it('of missing or invalid credentials comes with the challenge of RFC 6750', async () => {
    const missing = await outcomes['no credentials where some are needed']?.make();
    expect(missing?.headers.get('www-authenticate')).toBe('Bearer realm="postroom"');
    const bad = await outcomes['bad credentials']?.make();
    expect(bad?.headers.get('www-authenticate')).toBe('Bearer realm="postroom", error="invalid_token"');
  });

  it('is that of the first error, when there are several errors and no data', async () => {
    const twice = '{ users(limit: 0) { data { id } } posts(limit: 0) { data { id } } }';
    const answer = await ask(twice);
    expect(answer).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', data: null });
  });

  it('of a refused request means that no part of it has run', async () => {
    const create = (title: string) =>
      JSON.stringify({
        query: 'mutation ($input: CreateRoomInput!) { createRoom(input: $input) { room { id } } }',
        variables: { input: { name: title } },
      });
    const refused = scratchName();
    await exchange({ headers: { ...as(ada), accept: 'image/png' }, body: create(refused) });
    await exchange({ headers: { ...as(ada), 'content-type': 'text/plain' }, body: create(refused) });
    await exchange({ method: 'PUT', headers: as(ada), body: create(refused) });
    await exchange({ method: 'GET', path: `?${new URLSearchParams(JSON.parse(create(refused)))}`, headers: as(ada) });
    await ask(`mutation { createRoom(input: { name: "${refused}" }) { room { nope } } }`, {}, as(ada));
    await ask(`mutation ($x: Int!) { createRoom(input: { name: "${refused}" }) { room { id } } }`, {}, as(ada));
    const { roomByName } = await server.postroom.ask('query ($name: String!) { roomByName(name: $name) { id } }', {
      name: refused,
    });
    expect(roomByName).toBeNull();
  });
});

describe('an operation of several fields', () => {
  const create = `mutation ($first: String!, $second: String!) {
    a: createRoom(input: { name: $first }) { room { name } }
    b: createRoom(input: { name: $first }) { room { name } }
    c: createRoom(input: { name: $second }) { room { name } }
  }`;

  it('has 294 and the payloads of the mutations that were done, if others failed', async () => {
    const [first, second] = [scratchName(), scratchName()];
    const answer = await ask(create, { first, second }, as(ada));
    expect(answer).toMatchObject({
      status: 294,
      data: { a: { room: { name: first } }, b: null, c: { room: { name: second } } },
      errors: [{ path: ['b'], extensions: { code: 'CONFLICT' } }],
    });
    const { a, c } = await server.postroom.ask(
      'query ($first: String!, $second: String!) { a: roomByName(name: $first) { name } c: roomByName(name: $second) { name } }',
      { first, second },
    );
    expect([a, c]).toEqual([{ name: first }, { name: second }]);
  });

  it('has the status of the first error, and an error for each field, if all failed', async () => {
    const answer = await ask(create, { first: name, second: '' }, as(ada));
    expect(answer).toMatchObject({ status: 409, data: { a: null, b: null, c: null } });
    expect(answer.errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['a'], 'CONFLICT'],
      [['b'], 'CONFLICT'],
      [['c'], 'VALIDATION_ERROR'],
    ]);
    const query = '{ a: user(id: "a") { id } b: room(id: $id) { posts(first: 0) { nodes { id } } } }';
    const failing = `query ($id: ID!) ${query.replace('a: user(id: "a") { id }', 'a: room(id: $id) { members(first: 0) { nodes { id } } }')}`;
    expect(await ask(failing, { id: room })).toMatchObject({ status: 422, data: { a: null, b: null } });
    // A user that does not exist is a result, not a failure.
    expect(await ask(`query ($id: ID!) ${query}`, { id: room })).toMatchObject({
      status: 294,
      data: { a: null, b: null },
    });
  });

  it('has 294 if a mutation was done but its payload could not be read', async () => {
    const title = scratchName();
    const query = `mutation ($room: ID!, $title: String!) {
      createPost(input: { room: $room, title: $title }) { post { author { posts(last: 0) { id } } } }
    }`;
    const answer = await ask(query, { room, title }, as(ada));
    expect(answer).toMatchObject({
      status: 294,
      data: { createPost: null },
      errors: [{ path: ['createPost', 'post', 'author', 'posts'], extensions: { code: 'VALIDATION_ERROR' } }],
    });
    const { posts } = await server.postroom.ask(
      'query ($title: String!) { posts(filter: { title: $title }) { data { title } } }',
      { title },
    );
    expect(posts.data).toEqual([{ title }]);
  });
});

describe('an internal error', () => {
  const broken = shareServer();
  const message = clientErrors.INTERNAL_SERVER_ERROR.meaning;

  beforeAll(async () => {
    await broken.postroom.signUp('Ada');
    withDatabase(broken.databaseFile, (database) => database.exec('drop table "roomMembers"; drop table posts'));
  });

  it('is a 500 with only a request id, under which the log has the details once', async () => {
    const before = broken.postroom.log.length;
    const answer = await broken.postroom.send('{ posts(filter: { title: "a secret" }) { data { id } } }');
    expect(answer).toMatchObject({ status: 500, data: null });
    const requestId = answer.headers.get('x-request-id');
    expect(requestId).toMatch(/^[0-9a-f]{32}$/);
    expect(answer.errors).toEqual([
      {
        message,
        locations: expect.any(Array),
        path: ['posts', 'data'],
        extensions: { code: 'INTERNAL_SERVER_ERROR', requestId },
      },
    ]);
    await expect.poll(() => broken.postroom.log.length).toBeGreaterThan(before);
    const logged = broken.postroom.log.slice(before);
    expect(logged).toMatchObject([{ level: 50, requestId, err: { message: expect.stringMatching(/\bposts\b/) } }]);
    expect(JSON.stringify(logged)).not.toContain('a secret');
  });

  it('together with data is one error in a 294 answer', async () => {
    const query = '{ viewer { id } rooms { data { id } } node(id: "p00000000000000000000000000") { id } }';
    const answer = await broken.postroom.send(query);
    expect(answer).toMatchObject({
      status: 294,
      data: { viewer: null, rooms: { data: [] }, node: null },
      errors: [
        { message, path: ['node'], extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: expect.any(String) } },
      ],
    });
  });

  it('is not reported as a missing object', async () => {
    const file = join(scratchFolder(), 'postroom.db');
    const postroom = await launchForTest({ DATABASE_URL: `sqlite:${file}` });
    const eve = await postroom.signUp('Eve');
    const id = await postroom.createPost(eve, await postroom.createRoom(eve, 'lobby'), 'title');
    const remove = 'mutation ($id: ID!) { deletePost(input: { id: $id }) { post { id } } }';
    expect(await postroom.send(remove, { id: 'nothing' }, eve.token)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    withDatabase(file, (database) => database.exec('drop table "roomMembers"'));
    expect(await postroom.send(remove, { id }, eve.token)).toMatchObject({
      status: 500,
      code: 'INTERNAL_SERVER_ERROR',
    });
  });

  it('in a mutation leaves no change half done', async () => {
    const eve = await broken.postroom.signUp('Eve');
    const mutation = 'mutation { createRoom(input: { name: "half" }) { room { id } } }';
    expect(await broken.postroom.send(mutation, {}, eve.token)).toMatchObject({
      status: 500,
      code: 'INTERNAL_SERVER_ERROR',
      data: { createRoom: null },
    });
    expect(await broken.postroom.ask('{ roomByName(name: "half") { id } }')).toEqual({ roomByName: null });
  });
});
