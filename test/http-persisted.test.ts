import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { describe, expect, it } from 'vitest';
import { exchange, get, type HttpAnswer, post } from './support/http.ts';
import { launchForTest, type Postroom, run, scratchFolder } from './support/postroom.ts';
import { ProtocolSocket } from './support/protocol-socket.ts';
import { shareServer } from './support/shared-server.ts';

/* A request can contain the hash of a document instead of the document. */

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function named(sha256Hash: unknown, version: unknown = 1): { persistedQuery: Record<string, unknown> } {
  return { persistedQuery: { version, sha256Hash } };
}

/** Sends a request, which may have no query. */
function send(postroom: Postroom, request: Record<string, unknown>): Promise<HttpAnswer> {
  return exchange(postroom, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  });
}

describe('automatic persisted queries', () => {
  const server = shareServer();
  let count = 0;

  /** A document that no test has sent before. */
  function newDocument(): string {
    count += 1;
    return `query Q${count} { n${count}: __typename }`;
  }

  it('a document sent once with its hash can be named by the hash afterwards, over each transport', async () => {
    const { postroom } = server;
    const query = newDocument();
    const extensions = named(sha256(query));
    expect(await send(postroom, { extensions })).toMatchObject({ status: 404, code: 'PERSISTED_QUERY_NOT_FOUND' });
    const { data } = await send(postroom, { query, extensions });
    expect(data).toEqual({ [`n${count}`]: 'Query' });
    expect(await send(postroom, { extensions })).toMatchObject({ status: 200, data });
    expect(await get(postroom, { extensions: JSON.stringify(extensions) })).toMatchObject({
      status: 200,
      data,
      headers: { 'cache-control': 'public, max-age=0' },
    });
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    socket.send({ type: 'subscribe', id: '1', payload: { query: '', extensions } });
    expect(await socket.take(({ id }) => id === '1')).toMatchObject({ type: 'next', payload: { data } });
  });

  it('a hash that does not match the document is refused, and nothing is stored under it', async () => {
    const query = newDocument();
    const extensions = named(sha256(newDocument()));
    expect(await send(server.postroom, { query, extensions })).toMatchObject({ status: 422, code: 'INVALID_REQUEST' });
    expect(await send(server.postroom, { extensions })).toMatchObject({ status: 404 });
  });

  it('a document that fails validation is not stored', async () => {
    for (const query of ['{ nothingOfTheKind }', '{']) {
      const extensions = named(sha256(query));
      expect((await send(server.postroom, { query, extensions })).status).toBeGreaterThanOrEqual(400);
      expect(await send(server.postroom, { extensions })).toMatchObject({ status: 404 });
    }
  });

  it.each([
    ['another version', named('0'.repeat(64), 2)],
    ['no version', named('0'.repeat(64), null)],
    ['a hash that is none', named('xyz')],
    ['a hash in capitals', named('A'.repeat(64))],
    ['no hash', named(undefined)],
    ['a text', { persistedQuery: '0'.repeat(64) }],
    ['a list', { persistedQuery: ['0'.repeat(64)] }],
  ])('%s is 422', async (_, extensions) => {
    const answer = await post(server.postroom, '{ __typename }', { extensions });
    expect(answer).toMatchObject({ status: 422, code: 'INVALID_REQUEST' });
  });

  it('a persistedQuery of null counts as absent', async () => {
    const answer = await post(server.postroom, '{ __typename }', { extensions: { persistedQuery: null } });
    expect(answer.status).toBe(200);
  });

  it('a mutation does not run by GET, whether named by its hash or not', async () => {
    const query = 'mutation { deleteUser(input: { id: "x" }) { user { id } } }';
    const extensions = named(sha256(query));
    await send(server.postroom, { query, extensions });
    const answer = await get(server.postroom, { extensions: JSON.stringify(extensions) });
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });

  it('the number of stored documents is limited: the least recently used is dropped', async () => {
    const { postroom } = server;
    const queries = Array.from({ length: 1_001 }, newDocument);
    for (const query of queries) await send(postroom, { query, extensions: named(sha256(query)) });
    const known = async (query = '') => (await send(postroom, { extensions: named(sha256(query)) })).status;
    expect([await known(queries.at(0)), await known(queries.at(1)), await known(queries.at(-1))]).toEqual([
      404, 200, 200,
    ]);
  });

  it('an id is unknown without a list of documents', async () => {
    expect(await send(server.postroom, { documentId: 'x' })).toMatchObject({
      status: 404,
      code: 'PERSISTED_QUERY_NOT_FOUND',
    });
    expect(await post(server.postroom, '{ __typename }', { documentId: 'x' })).toMatchObject({ status: 200 });
  });

  it.each([
    false,
    true,
  ])('Apollo Client sends the hash first, and the document if the hash is unknown (useGETForHashedQueries: %s)', async (useGETForHashedQueries) => {
    const sent: string[] = [];
    const fetchCounted: typeof fetch = async (url, init) => {
      const response = await fetch(url, init);
      sent.push(`${init?.method} ${response.status}`);
      return response;
    };
    const open = () => {
      const http = new HttpLink({ uri: server.postroom.graphqlUrl, fetch: fetchCounted });
      const link = new PersistedQueryLink({ sha256, useGETForHashedQueries }).concat(http);
      return new ApolloClient({ cache: new InMemoryCache(), link });
    };
    const query = gql(`query Apollo${useGETForHashedQueries} { users(limit: 3) { pagination { limit } } }`);
    const expected = { data: { users: { pagination: { limit: 3 } } } };
    expect(await open().query({ query })).toMatchObject(expected);
    expect(await open().query({ query })).toMatchObject(expected);
    const first = useGETForHashedQueries ? 'GET' : 'POST';
    expect(sent).toEqual([`${first} 404`, 'POST 200', `${first} 200`]);
  });
});

describe('trusted documents', () => {
  const documents = {
    types: '{ __typename }',
    rooms: 'query Rooms($limit: Int) { rooms(limit: $limit) { data { id } pagination { limit } } }',
    'sign up/1': 'mutation ($input: SignUpInput!) { signUp(input: $input) { user { name } } }',
    events: 'subscription ($room: ID!) { roomEvents(room: $room) { cursor } }',
  };

  function writeList(content: unknown): string {
    const file = `${scratchFolder()}/documents.json`;
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  }

  function launchTrusting(content: unknown): Promise<Postroom> {
    return launchForTest({ TRUSTED_DOCUMENTS: writeList(content) });
  }

  it('run by their id, hash or text, and no other document runs', async () => {
    const postroom = await launchTrusting(documents);
    const variables = { limit: 3 };
    const expected = { status: 200, data: { rooms: { data: [], pagination: { limit: 3 } } } };
    expect(await send(postroom, { documentId: 'rooms', variables })).toMatchObject(expected);
    expect(await send(postroom, { extensions: named(sha256(documents.rooms)), variables })).toMatchObject(expected);
    expect(await send(postroom, { query: documents.rooms, variables })).toMatchObject(expected);
    expect(await send(postroom, { query: '', documentId: 'rooms', variables })).toMatchObject(expected);
    expect(await send(postroom, { query: documents.rooms, documentId: 'rooms', variables })).toMatchObject(expected);
    expect(await get(postroom, { documentId: 'rooms', variables: JSON.stringify(variables) })).toMatchObject(expected);
    const input = { name: 'Ada', email: 'ada@example.org', password: 'correct horse' };
    expect(await send(postroom, { documentId: 'sign up/1', variables: { input } })).toMatchObject({ status: 200 });
    const other = '{ viewer { id } }';
    const refused: Record<string, unknown>[] = [
      { query: other },
      { query: `${documents.types} ` },
      { query: other, extensions: named(sha256(other)) },
      { extensions: named(sha256(other)) },
      { documentId: 'other' },
      { documentId: 'constructor' },
      { documentId: sha256(documents.types) },
      { query: other, documentId: 'types' },
      { query: documents.types, documentId: 'rooms' },
      { query: other, extensions: named(sha256(documents.types)) },
      { query: '' },
    ];
    for (const request of refused) {
      expect(await send(postroom, request)).toMatchObject({ status: 403, code: 'DOCUMENT_NOT_TRUSTED' });
    }
    expect(await get(postroom, { query: other })).toMatchObject({ status: 403, code: 'DOCUMENT_NOT_TRUSTED' });
    expect(await get(postroom, { documentId: 'sign up/1' })).toMatchObject({ status: 422, code: 'VARIABLES_INVALID' });
  });

  it('are the same over a WebSocket and over SSE', async () => {
    const postroom = await launchTrusting(documents);
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    const ask = async (id: string, payload: Record<string, unknown>) => {
      socket.send({ type: 'subscribe', id, payload });
      return socket.take((message) => message.id === id);
    };
    expect(await ask('1', { query: '', documentId: 'types' })).toMatchObject({ type: 'next' });
    expect(await ask('2', { query: '', extensions: named(sha256(documents.types)) })).toMatchObject({ type: 'next' });
    expect(await ask('3', { query: '{ viewer { id } }' })).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'DOCUMENT_NOT_TRUSTED' } }],
    });
    const variables = { room: 'none' };
    expect(await ask('4', { query: '', documentId: 'events', variables })).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'NOT_FOUND' } }],
    });
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
    const stream = (body: object) => exchange(postroom, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(await stream({ documentId: 'events', variables })).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect(await stream({ query: 'subscription { roomEvents(room: "x") { at } }' })).toMatchObject({ status: 403 });
  });

  it('do not include introspection unless the list contains it', async () => {
    const introspection = '{ __schema { queryType { name } } }';
    const without = await launchTrusting(documents);
    expect(await send(without, { query: introspection })).toMatchObject({ status: 403, code: 'DOCUMENT_NOT_TRUSTED' });
    const withIt = await launchTrusting({ ...documents, introspection });
    expect(await send(withIt, { query: introspection })).toMatchObject({ status: 200 });
  });

  it.each([
    ['is not there', undefined],
    ['does not parse as JSON', '{'],
    ['is a list', ['{ __typename }']],
    ['is empty', {}],
    ['holds something else than texts', { a: '{ __typename }', b: { query: '{ __typename }' } }],
    ['holds a document that does not parse', { a: '{ __typename }', b: '{' }],
    ['holds a document that does not fit the schema', { a: '{ nothingOfTheKind }' }],
  ])('a file that %s stops the start with one line', async (_, content) => {
    const file = content === undefined ? `${scratchFolder()}/none.json` : writeList(content);
    const settings = { TRUSTED_DOCUMENTS: file, DATABASE_URL: 'sqlite::memory:', PORT: '0' };
    const { status, stderr } = await run(['serve'], settings);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^postroom: TRUSTED_DOCUMENTS must [^\n]+ \(got ".*"\)\.\n$/);
  });
});
