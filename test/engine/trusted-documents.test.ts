import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { type DocumentNode, getOperationAST, parse } from 'graphql';
import { type Client, createClient } from 'graphql-ws';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { explainFailures } from '../../src/commands/failure.ts';
import { EventStream, streamForms } from '../support/clients/event-stream.ts';
import { exchange, get, type HttpAnswer } from '../support/clients/http.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { launchForTest, type Postroom, run, type Settings, scratchFolder } from '../support/server/postroom.ts';
import { launchStreamFixture } from '../support/server/stream-fixture.ts';

/* With TRUSTED_DOCUMENTS, only the documents of a file run. */

const documents = {
  types: '{ __typename }',
  rooms: 'query Rooms($limit: Int) { rooms(limit: $limit) { data { id } pagination { limit } } }',
  'sign up/1': 'mutation ($input: SignUpInput!) { signUp(input: $input) { user { name } } }',
  events: 'subscription ($room: ID!) { roomEvents(room: $room) { cursor } }',
};

const hashOf = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex');

type Reference = Record<string, unknown>;

const byHash = (sha256Hash: unknown): Reference => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } });
const byId = (documentId: string): Reference => ({ documentId });

function writeFile(content: unknown): string {
  const file = `${scratchFolder()}/documents.json`;
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

function launchTrusting(content: unknown): Promise<Postroom> {
  return launchForTest({ TRUSTED_DOCUMENTS: writeFile(content) });
}

/** Sends a request, which may have no query. */
function send(postroom: Postroom, request: Reference, headers: Record<string, string> = {}): Promise<HttpAnswer> {
  return exchange(postroom, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(request),
  });
}

/** The parameters of a GET. */
function toParameters(request: Reference): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}

describe('trusted documents', () => {
  it('run by their id, hash or text, and no other document runs', async () => {
    const postroom = await launchTrusting(documents);
    const { rooms } = documents;
    const variables = { limit: 3 };
    const expected = { status: 200, data: { rooms: { data: [], pagination: { limit: 3 } } } };
    expect(await send(postroom, { query: rooms, variables })).toMatchObject(expected);
    expect(await send(postroom, { query: '', documentId: 'rooms', variables })).toMatchObject(expected);
    expect(await send(postroom, { query: rooms, documentId: 'rooms', variables })).toMatchObject(expected);
    expect(await send(postroom, { query: rooms, ...byHash('rooms'), variables })).toMatchObject(expected);
    expect(await send(postroom, { ...byId('rooms'), ...byHash(hashOf('md5', rooms)), variables })).toMatchObject(
      expected,
    );
    const input = { name: 'Ada', email: 'ada@example.org', password: 'correct horse' };
    expect(await send(postroom, { documentId: 'sign up/1', variables: { input } })).toMatchObject({ status: 200 });
    const other = '{ viewer { id } }';
    const refused: Reference[] = [
      { query: other },
      { query: `${documents.types} ` },
      { query: 'types' },
      { query: other, ...byHash(hashOf('sha256', other)) },
      byHash(hashOf('sha256', other)),
      byHash(''),
      byHash(hashOf('sha256', documents.types).toUpperCase()),
      byId('other'),
      byId('constructor'),
      byId(''),
      byId(documents.types),
      byId('sha256:types'),
      byId(`md5:${hashOf('md5', documents.types)}`),
      { query: other, documentId: 'types' },
      { query: documents.types, documentId: 'rooms' },
      { query: documents.types, documentId: 'other' },
      { query: other, ...byHash(hashOf('sha256', documents.types)) },
      { ...byId('types'), ...byHash('rooms') },
      { ...byId('types'), ...byHash('other') },
      { query: '' },
    ];
    for (const request of refused) {
      expect(await send(postroom, request), JSON.stringify(request)).toMatchObject({
        status: 403,
        code: 'DOCUMENT_NOT_TRUSTED',
      });
    }
    const [error] = (await send(postroom, { query: documents.types, documentId: 'rooms' })).errors ?? [];
    expect(error?.message).toContain('must be exactly its text');
    expect(await get(postroom, { query: other })).toMatchObject({ status: 403, code: 'DOCUMENT_NOT_TRUSTED' });
    expect(await get(postroom, { documentId: 'sign up/1' })).toMatchObject({ status: 422, code: 'VARIABLES_INVALID' });
    expect(await send(postroom, byHash(7))).toMatchObject({ status: 422, code: 'INVALID_REQUEST' });
    // The name in the examples of Relay.
    const unnamed = await send(postroom, { doc_id: 'types' });
    expect(unnamed).toMatchObject({ status: 422, code: 'INVALID_REQUEST' });
    expect(unnamed.errors?.[0]?.message).toContain('"documentId"');
  });

  const { types } = documents;
  const names: [string, string][] = [
    ['id', 'types'],
    ['SHA-256', hashOf('sha256', types)],
    ['SHA-256 with its prefix', `sha256:${hashOf('sha256', types)}`],
    ['MD5', hashOf('md5', types)],
  ];

  it.each(
    names.flatMap(([name, value]): [string, string, Reference][] => [
      [name, 'documentId', byId(value)],
      [name, 'sha256Hash', byHash(value)],
    ]),
  )('are found by their %s in `%s`, over each transport', async (_name, _key, reference) => {
    const postroom = await launchTrusting(documents);
    const data = { __typename: 'Query' };
    expect(await send(postroom, reference)).toMatchObject({ status: 200, data });
    expect(await send(postroom, { query: '', ...reference })).toMatchObject({ status: 200, data });
    expect(await get(postroom, toParameters(reference))).toMatchObject({ status: 200, data });
    const event = `event: next\ndata: ${JSON.stringify({ data })}\n\n`;
    const accept = 'text/event-stream';
    expect((await send(postroom, reference, { accept })).body).toContain(event);
    expect((await get(postroom, toParameters(reference), { accept })).body).toContain(event);
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    socket.send({ type: 'subscribe', id: '1', payload: { query: '', ...reference } });
    expect(await socket.take(({ id }) => id === '1')).toMatchObject({ type: 'next', payload: { data } });
  });

  it('are the only ones over a WebSocket and over SSE, too', async () => {
    const postroom = await launchTrusting(documents);
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    const ask = async (id: string, payload: Record<string, unknown>) => {
      socket.send({ type: 'subscribe', id, payload });
      return socket.take((message) => message.id === id);
    };
    expect(await ask('1', { query: '{ viewer { id } }' })).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'DOCUMENT_NOT_TRUSTED' } }],
    });
    const variables = { room: 'none' };
    expect(await ask('2', { query: '', documentId: 'events', variables })).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'NOT_FOUND' } }],
    });
    const accept = 'text/event-stream';
    expect(await send(postroom, { documentId: 'events', variables }, { accept })).toMatchObject({
      status: 404,
      code: 'NOT_FOUND',
    });
    const query = 'subscription { roomEvents(room: "x") { at } }';
    expect(await send(postroom, { query }, { accept })).toMatchObject({ status: 403, code: 'DOCUMENT_NOT_TRUSTED' });
  });

  it('do not include introspection unless the file contains it', async () => {
    const introspection = '{ __schema { queryType { name } } }';
    const without = await launchTrusting(documents);
    expect(await send(without, { query: introspection })).toMatchObject({ status: 403, code: 'DOCUMENT_NOT_TRUSTED' });
    const withIt = await launchTrusting({ ...documents, introspection });
    expect(await send(withIt, { query: introspection })).toMatchObject({ status: 200 });
  });

  it('may have several ids for one text, and several operations in one text of a map', async () => {
    const two = 'query A { __typename } query B { __typename }';
    const postroom = await launchTrusting({ a: types, b: types, format: types, operations: types, two });
    for (const id of ['a', 'b', 'format', 'operations']) {
      expect(await send(postroom, byId(id))).toMatchObject({ status: 200 });
    }
    expect(await send(postroom, { ...byId('two'), operationName: 'B' })).toMatchObject({ status: 200 });
  });
});

/*
 * The files in support/trusted-documents contain the same three operations, as written by
 * @apollo/generate-persisted-query-manifest 1.4.0, relay-compiler 21.0.1 (persistConfig.file) and
 * @graphql-codegen/client-preset 6.2.0 (persistedDocuments: true).
 */
const fileOf = (name: string) => new URL(`../support/trusted-documents/${name}.json`, import.meta.url).pathname;

/** The ids of the documents of a file, by the type of their operation. */
function idsByType(name: string): Record<string, string> {
  const content = JSON.parse(readFileSync(fileOf(name), 'utf8'));
  const texts: [string, string][] = content.operations
    ? content.operations.map(({ id, body }: { id: string; body: string }) => [id, body])
    : Object.entries(content);
  return Object.fromEntries(texts.map(([id, text]) => [getOperationAST(parse(text))?.operation, id]));
}

/** A server that trusts the file of a generator, and a room with its cursor. */
async function launchWithRoom(name: string) {
  const fixture = await launchStreamFixture();
  const postroom = await launchForTest({ ...fixture.settings, TRUSTED_DOCUMENTS: fileOf(name) });
  const variables = { room: fixture.room, after: await fixture.postroom.cursorOf(fixture.room) };
  const createPost = () => fixture.postroom.createPost(fixture.owner, fixture.room, firstPost.title);
  return { postroom, variables, authorization: `Bearer ${fixture.owner.token}`, createPost };
}

const firstPost = { title: 'Hi' };
const itsEvent = { data: { roomEvents: { post: firstPost } } };

describe('the file of a generator is used unchanged:', () => {
  it.each([
    ['apollo', byHash],
    ['relay', byId],
    ['codegen', byId],
  ])('%s: queries, mutations and subscriptions, over each transport', async (name, reference) => {
    const { postroom, variables, authorization } = await launchWithRoom(name);
    const { query = '', mutation = '', subscription = '' } = idsByType(name);
    const listed = { status: 200, data: { rooms: { pagination: { limit: 5 } } } };
    expect(await send(postroom, reference(query))).toMatchObject(listed);
    expect(await get(postroom, toParameters(reference(query)))).toMatchObject(listed);
    const input = { room: variables.room, ...firstPost };
    const creating = { ...reference(mutation), variables: { input } };
    expect(await send(postroom, creating, { authorization })).toMatchObject({ status: 200 });
    const subscribing = { query: '', ...reference(subscription), variables };
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    socket.send({ type: 'subscribe', id: '1', payload: subscribing });
    expect(await socket.take(({ id }) => id === '1')).toMatchObject({ type: 'next', payload: itsEvent });
    for (const [, headers] of streamForms) {
      const stream = await EventStream.open(postroom.graphqlUrl, subscribing, headers);
      expect(await stream.results.next()).toMatchObject(itsEvent);
    }
  });
});

describe('unchanged clients use trusted documents:', () => {
  it('Apollo Client with the ids of its manifest, over POST, GET and a WebSocket', async () => {
    const { postroom, variables, authorization } = await launchWithRoom('apollo');
    const ids = idsByType('apollo');
    const live = createClient({ url: postroom.webSocketUrl, webSocketImpl: WebSocket });
    onTestFinished(() => void live.dispose());
    const sent: string[] = [];
    const http = new HttpLink({
      uri: postroom.graphqlUrl,
      headers: { authorization },
      fetch: (url, init) => {
        sent.push(`${init?.method} ${/query["=]/.test(`${url}${init?.body}`) ? 'with' : 'without'} text`);
        return fetch(url, init);
      },
    });
    const open = (useGETForHashedQueries: boolean, webSocket = live) => {
      const isLive: Parameters<typeof ApolloLink.split>[0] = ({ operationType }) => operationType === 'subscription';
      const generateHash = (document: DocumentNode) => ids[getOperationAST(document)?.operation ?? ''] ?? '';
      const named = new PersistedQueryLink({ generateHash, useGETForHashedQueries });
      const link = named.concat(ApolloLink.split(isLive, new GraphQLWsLink(webSocket), http));
      return new ApolloClient({ cache: new InMemoryCache(), link });
    };
    const query = gql(
      'query Rooms($limit: Int = 5) { rooms(limit: $limit) { data { id name } pagination { limit } } }',
    );
    for (const useGET of [false, true]) {
      expect(await open(useGET).query({ query })).toMatchObject({ data: { rooms: { pagination: { limit: 5 } } } });
    }
    const mutation = gql(`mutation CreatePost($input: CreatePostInput!) {
      createPost(input: $input) { post { id title author { ...AuthorParts } } }
    }
    fragment AuthorParts on User { id name }`);
    const input = { room: variables.room, ...firstPost };
    await open(false).mutate({ mutation, variables: { input } });
    expect(sent).toEqual(['POST without text', 'GET without text', 'POST without text']);
    const events = gql(`subscription Events($room: ID!, $after: String) {
      roomEvents(room: $room, after: $after) { cursor ... on PostCreated { post { id title } } }
    }`);
    expect(await firstValueFrom(open(false).subscribe({ query: events, variables }))).toMatchObject(itsEvent);
    const inAnotherOrder = gql(`subscription Events($room: ID!, $after: String) {
      roomEvents(room: $room, after: $after) { ... on PostCreated { post { title id } } cursor }
    }`);
    const refused = await firstValueFrom(open(false).subscribe({ query: inAnotherOrder, variables }));
    expect(refused.error).toMatchObject({ errors: [{ extensions: { code: 'DOCUMENT_NOT_TRUSTED' } }] });
    // As docs/http.md recommends.
    const subscribe: Client['subscribe'] = (payload, sink) => live.subscribe({ ...payload, query: '' }, sink);
    const withoutText = open(false, { ...live, subscribe });
    expect(await firstValueFrom(withoutText.subscribe({ query: inAnotherOrder, variables }))).toMatchObject(itsEvent);
  });

  it('graphql-ws, as Relay uses it, with an empty text and the id', async () => {
    const { postroom, variables, createPost } = await launchWithRoom('relay');
    await createPost();
    const live = createClient({ url: postroom.webSocketUrl, webSocketImpl: WebSocket });
    onTestFinished(() => void live.dispose());
    const request = { query: '', documentId: idsByType('relay')['subscription'], variables };
    expect((await live.iterate(request).next()).value).toMatchObject(itsEvent);
  });
});

const operation = { id: 'a', name: 'A', type: 'query', body: 'query A { __typename }' };

function manifest(...operations: unknown[]) {
  return { format: 'apollo-persisted-query-manifest', version: 1, operations };
}

/** The problems that refuse the start of a server, without what is the same in each. */
async function refuseStart(content: unknown, own: Settings = {}): Promise<string[]> {
  const file = content === undefined ? `${scratchFolder()}/none.json` : writeFile(content);
  const error: unknown = await launchForTest({ TRUSTED_DOCUMENTS: file, ...own }).catch((reason) => reason);
  return explainFailures(error).map((line) => {
    expect(line).toMatch(/^TRUSTED_DOCUMENTS .+ \(got ".*"\)\.$/);
    return line.replace('TRUSTED_DOCUMENTS ', '').replace(file, 'FILE').slice(0, -1);
  });
}

describe('the start is refused, and each problem is named, if the file', () => {
  const formats =
    'must be a JSON object of ids and documents, or have the "format" "apollo-persisted-query-manifest" and the "version" 1';
  const noText = 'must have an id and a text (the "body" in a manifest) for each document';
  const noOperation = 'must have one operation for each "body", with the given "name" and "type"';
  const twoNames = 'must not name two different documents by one id or hash';
  const invalid = 'must contain valid documents:';
  const noField = `${invalid} Cannot query field "no" on type "Query".`;

  it.each<[string, unknown, string[]]>([
    ['is not there', undefined, ['must be a file that can be read (got "FILE")']],
    ['is not JSON', '{', ['must be a JSON file (got "FILE")']],
    ['is a list', ['{ __typename }'], [`${formats} (got "FILE")`]],
    ['is null', 'null', [`${formats} (got "FILE")`]],
    ['is empty', {}, ['must contain a document (got "FILE")']],
    ['is an empty manifest', manifest(), ['must contain a document (got "FILE")']],
    ['has another format', { format: 'other', version: 1, operations: [] }, [`${formats} (got "FILE")`]],
    ['has another version', { ...manifest(operation), version: 2 }, [`${formats} (got "FILE")`]],
    [
      'contains something else than texts',
      { a: { query: '{ __typename }' }, '': '{ __typename }', c: '{ __typename }', d: null },
      [`${noText} (got "FILE: document a")`, `${noText} (got "FILE: document ")`, `${noText} (got "FILE: document d")`],
    ],
    [
      'contains operations without an id or a body',
      manifest(operation, { ...operation, id: 7 }, { ...operation, body: undefined }, null),
      [1, 2, 3].map((index) => `${noText} (got "FILE: operations[${index}]")`),
    ],
    [
      'contains documents that do not parse or do not fit the schema',
      {
        a: '{ __typename }',
        b: '{',
        c: '{ no }',
        d: '\n{\n  no\n  rooms { data { nothing } }\n}',
        e: 'type Query { a: Int }',
        f: 'fragment F on User { id }',
        g: '',
      },
      [
        `${invalid} Syntax Error: Expected Name, found <EOF>. (got "FILE: line 1, column 2 of document b")`,
        `${noField} (got "FILE: line 1, column 3 of document c")`,
        `${noField} (got "FILE: line 3, column 3 of document d")`,
        `${invalid} Cannot query field "nothing" on type "Room". (got "FILE: line 4, column 18 of document d")`,
        `${invalid} The "Query" definition is not executable. (got "FILE: line 1, column 1 of document e")`,
        `${invalid} Fragment "F" is never used. (got "FILE: line 1, column 1 of document f")`,
        `${invalid} Syntax Error: Unexpected <EOF>. (got "FILE: line 1, column 1 of document g")`,
      ],
    ],
    [
      'is a manifest of other operations',
      manifest(
        operation,
        { ...operation, id: 'b', name: 'B' },
        { ...operation, id: 'c', type: 'mutation' },
        { ...operation, id: 'd', body: 'query A { __typename } query B { __typename }' },
        { ...operation, id: 'e', body: '{ no }' },
      ),
      [
        ...['b', 'c', 'd'].map((id) => `${noOperation} (got "FILE: document ${id}")`),
        `${noField} (got "FILE: line 1, column 3 of document e")`,
        `${noOperation} (got "FILE: document e")`,
      ],
    ],
    [
      'gives two documents one id',
      manifest(operation, operation, { ...operation, body: 'query A { a: __typename }' }),
      [`${twoNames} (got "FILE: document a")`],
    ],
    [
      'gives a document the hash of another as its id',
      { a: '{ __typename }', [hashOf('md5', '{ __typename }')]: '{ viewer { id } }' },
      [`${twoNames} (got "FILE: document ${hashOf('md5', '{ __typename }')}")`],
    ],
  ])('%s', async (_, content, problems) => {
    expect(await refuseStart(content)).toEqual(problems);
  });

  it('is not valid, in one line on the command line for each problem', async () => {
    const file = writeFile({ a: '{ no }', b: '{' });
    const settings = { TRUSTED_DOCUMENTS: file, DATABASE_URL: 'sqlite::memory:', PORT: '0' };
    const { status, stdout, stderr } = await run(['serve'], settings);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^(postroom: TRUSTED_DOCUMENTS must contain valid documents: .+ \(got ".*"\)\.\n){2}$/);
  });

  it('contains documents beyond the limits, or that read the schema without INTROSPECTION', async () => {
    const file = { deep: '{ users { data { posts { id } } } }', own: '{ __schema { queryType { name } } }' };
    expect(await refuseStart(file, { LIMIT_DEPTH: '2', INTROSPECTION: 'false' })).toEqual([
      expect.stringContaining('nested deeper than 2. (got "FILE: document deep")'),
      expect.stringContaining('introspection'),
      expect.stringContaining('introspection'),
    ]);
    const { length } = '{ __typename }';
    expect(await refuseStart({ long: '{ __typename  }' }, { LIMIT_DOCUMENT_BYTES: String(length) })).toEqual([
      `${invalid} The document has more than ${length} bytes. (got "FILE: document long")`,
    ]);
  });

  it('has many problems, of which 50 are named, or long ones, which are shortened', async () => {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`d${index}`, '{ no }']));
    const lines = await refuseStart(many);
    expect(lines.length).toBe(51);
    expect(lines.at(-1)).toBe('has 10 more problems (got "FILE")');
    const [line = ''] = await refuseStart({ ['i\n'.repeat(1_000)]: `{ ${'n'.repeat(10_000)} }` });
    expect(line.length).toBeLessThan(700);
    const [noText = ''] = await refuseStart({ ['i'.repeat(1_000)]: 7 });
    expect(noText.length).toBeLessThan(700);
  });
});
