import { createHash } from 'node:crypto';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { Client, fetchExchange } from '@urql/core';
import { persistedExchange } from '@urql/exchange-persisted';
import { describe, expect, it } from 'vitest';
import { forEachConcurrently } from '../../src/common/for-each-concurrently.ts';
import { exchange, get, type HttpAnswer, post } from '../support/clients/http.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import type { Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

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
    expect(await send(postroom, { extensions })).toMatchObject({ status: 200, code: 'PERSISTED_QUERY_NOT_FOUND' });
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

  it.each([
    ['application/graphql-response+json, application/json;q=0.9', 200, 'application/json'],
    ['application/json', 200, 'application/json'],
    ['*/*', 200, 'application/json'],
    ['application/graphql-response+json', 404, 'application/graphql-response+json'],
    ['application/graphql-response+json, application/json;q=0', 404, 'application/graphql-response+json'],
    ['text/event-stream', 404, 'application/graphql-response+json'],
  ])('an unknown hash is 200 only for a client that accepts application/json: %s', async (accept, status, type) => {
    const answer = await get(server.postroom, { extensions: JSON.stringify(named(sha256(newDocument()))) }, { accept });
    expect(answer).toMatchObject({
      status,
      code: 'PERSISTED_QUERY_NOT_FOUND',
      headers: { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'private, no-store' },
    });
  });

  it('a hash that does not match the document is refused, and nothing is stored under it', async () => {
    const query = newDocument();
    const extensions = named(sha256(newDocument()));
    expect(await send(server.postroom, { query, extensions })).toMatchObject({ status: 422, code: 'INVALID_REQUEST' });
    expect(await send(server.postroom, { extensions })).toMatchObject({ code: 'PERSISTED_QUERY_NOT_FOUND' });
  });

  it('a document that fails validation is not stored', async () => {
    for (const query of ['{ nothingOfTheKind }', '{']) {
      const extensions = named(sha256(query));
      expect((await send(server.postroom, { query, extensions })).status).toBeGreaterThanOrEqual(400);
      expect(await send(server.postroom, { extensions })).toMatchObject({ code: 'PERSISTED_QUERY_NOT_FOUND' });
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
    const store = (query: string) => send(postroom, { query, extensions: named(sha256(query)) });
    for (const query of queries.slice(0, 2)) await store(query);
    await forEachConcurrently(queries.slice(2), 10, store);
    const known = async (query = '') => (await send(postroom, { extensions: named(sha256(query)) })).code;
    expect([await known(queries.at(0)), await known(queries.at(1)), await known(queries.at(-1))]).toEqual([
      'PERSISTED_QUERY_NOT_FOUND',
      undefined,
      undefined,
    ]);
  });

  it('an id is unknown without a list of documents', async () => {
    expect(await send(server.postroom, { documentId: 'x' })).toMatchObject({
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
    expect(sent).toEqual([`${first} 200`, 'POST 200', `${first} 200`]);
  });

  it.each([
    false,
    'force',
  ] as const)('urql sends the hash first, and the document if the hash is unknown (preferGetMethod: %s)', async (preferGetMethod) => {
    const sent: string[] = [];
    const open = () =>
      new Client({
        url: server.postroom.graphqlUrl,
        preferGetMethod,
        exchanges: [persistedExchange({ preferGetForPersistedQueries: preferGetMethod }), fetchExchange],
        fetch: async (url, init) => {
          const response = await fetch(url, init);
          sent.push(`${init?.method} ${response.status}`);
          return response;
        },
      });
    const query = `query Urql${preferGetMethod} { users(limit: 3) { pagination { limit } } }`;
    const expected = { error: undefined, data: { users: { pagination: { limit: 3 } } } };
    expect(await open().query(query, {})).toMatchObject(expected);
    expect(await open().query(query, {})).toMatchObject(expected);
    const first = preferGetMethod ? 'GET' : 'POST';
    expect(sent).toEqual([`${first} 200`, `${first} 200`, `${first} 200`]);
  });
});
