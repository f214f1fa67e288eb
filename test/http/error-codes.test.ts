import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { clientErrors, type ErrorCode } from '../../src/errors.ts';
import { recommendedCost } from '../../src/identity/session/passwords.ts';
import {
  exchange,
  graphqlResponse,
  type HttpAnswer,
  type HttpQuestion,
  post,
  RawConnection,
} from '../support/clients/http.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { scratchName } from '../support/rooms/names.ts';
import { launchForTest, type Person, type Postroom, scratchFolder } from '../support/server/postroom.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

/* The table of statuses in docs/http.md: each error over HTTP, over SSE and over a WebSocket. */

const server = shareServer();
const docs = new URL('../../docs/http.md', import.meta.url);

/** An operation that fails in the same way over every transport. */
interface Failing {
  query: string;
  variables?: Record<string, unknown>;
  operationName?: string;
  extensions?: Record<string, unknown>;
  token?: string;
}

interface StreamFixture {
  postroom: Postroom;
  ada: Person;
  bea: Person;
  room: string;
  roomName: string;
}

const createRoom = 'mutation ($name: String!) { createRoom(input: { name: $name }) { room { id } } }';
const updateUser = 'mutation ($id: ID!) { updateUser(input: { id: $id, name: "x" }) { user { id } } }';
const deleteRoom = 'mutation ($id: ID!) { deleteRoom(input: { id: $id }) { room { id } } }';
const joinRoom =
  'mutation ($id: ID!, $key: String!) { joinRoom(input: { room: $id }) @idempotent(key: $key) { room { id } } }';
const roomEvents = 'subscription ($room: ID!, $after: String) { roomEvents(room: $room, after: $after) { cursor } }';
const nowhere = `r${'0'.repeat(26)}`;

const operations: [status: number, code: ErrorCode, make: (world: StreamFixture) => Failing][] = [
  [400, 'GRAPHQL_PARSE_FAILED', () => ({ query: '{' })],
  [401, 'UNAUTHENTICATED', () => ({ query: createRoom, variables: { name: 'x' } })],
  [403, 'FORBIDDEN', ({ ada, bea }) => ({ query: updateUser, variables: { id: bea.id }, token: ada.token })],
  [404, 'NOT_FOUND', ({ ada }) => ({ query: deleteRoom, variables: { id: nowhere }, token: ada.token })],
  [404, 'PERSISTED_QUERY_NOT_FOUND', () => ({ query: '', extensions: named('0'.repeat(64)) })],
  [409, 'CONFLICT', ({ ada, roomName }) => ({ query: createRoom, variables: { name: roomName }, token: ada.token })],
  [422, 'GRAPHQL_VALIDATION_FAILED', () => ({ query: '{ nothingOfTheKind }' })],
  [422, 'OPERATION_NOT_FOUND', () => ({ query: '{ __typename }', operationName: 'Other' })],
  [422, 'VARIABLES_INVALID', () => ({ query: 'query ($id: ID!) { user(id: $id) { id } }' })],
  [
    422,
    'DEPTH_LIMIT_EXCEEDED',
    () => ({ query: `{ users { data { ${'posts { author { '.repeat(6)}id${' } }'.repeat(6)} } } }` }),
  ],
  [422, 'COST_LIMIT_EXCEEDED', () => ({ query: '{ users(limit: 100) { data { posts(last: 100) { id } } } }' })],
  [422, 'DOCUMENT_LIMIT_EXCEEDED', () => ({ query: `{ ${'__typename '.repeat(2_001)} }` })],
  [422, 'VALIDATION_ERROR', ({ ada }) => ({ query: createRoom, variables: { name: '' }, token: ada.token })],
  [
    422,
    'IDEMPOTENCY_KEY_REUSED',
    ({ ada }) => ({ query: joinRoom, variables: { id: nowhere, key: 'used' }, token: ada.token }),
  ],
  [422, 'CURSOR_INVALID', ({ room }) => ({ query: roomEvents, variables: { room, after: 'garbage' } })],
];

const requests: [status: number, code: ErrorCode, question: HttpQuestion][] = [
  [400, 'BAD_REQUEST', withBody('{ "not a JSON')],
  [405, 'METHOD_NOT_ALLOWED', { method: 'PUT' }],
  [405, 'METHOD_NOT_ALLOWED', { path: '/graphql?query=mutation{__typename}' }],
  [406, 'NOT_ACCEPTABLE', { path: '/graphql?query={__typename}', headers: { accept: 'image/png' } }],
  [413, 'PAYLOAD_TOO_LARGE', withBody(JSON.stringify({ query: '{ __typename }', more: 'x'.repeat(1_000_000) }))],
  [414, 'URI_TOO_LONG', { path: `/graphql?query={__typename}&more=${'x'.repeat(8_192)}` }],
  [415, 'UNSUPPORTED_MEDIA_TYPE', { ...withBody('{}'), headers: { 'content-type': 'text/plain' } }],
  [417, 'EXPECTATION_FAILED', { ...withBody('{}'), headers: { 'content-type': 'application/json', expect: 'tea' } }],
  [421, 'MISDIRECTED_REQUEST', { path: '/graphql?query={__typename}', headers: { host: 'evil.example' } }],
  [422, 'INVALID_REQUEST', withBody('{ "query": 7 }')],
  [431, 'HEADERS_TOO_LARGE', { headers: { 'x-long': 'x'.repeat(17_000) } }],
];

/** Codes that have tests of their own, in this file or in the file of their subject. */
const elsewhere: readonly ErrorCode[] = [
  'BAD_GATEWAY',
  'CONNECTION_ENDED',
  'CURSOR_EXPIRED',
  'DOCUMENT_NOT_TRUSTED',
  'INTERNAL_SERVER_ERROR',
  'MEMBERSHIP_REVOKED',
  'OUTCOME_UNKNOWN',
  'RATE_LIMITED',
  'REQUEST_TIMEOUT',
  'ROOM_DELETED',
  'SERVICE_UNAVAILABLE',
  'SLOW_CONSUMER',
  'SUBSCRIPTION_LIMIT_EXCEEDED',
];

let world: Promise<StreamFixture> | undefined;

async function makeWorld(): Promise<StreamFixture> {
  const { postroom } = server;
  const ada = await postroom.signUp('Ada');
  const bea = await postroom.signUp('Bea');
  const roomName = scratchName();
  const room = await postroom.createRoom(ada, roomName);
  await postroom.ask(joinRoom, { id: room, key: 'used' }, ada.token);
  return { postroom, ada, bea, roomName, room };
}

function findWorld(): Promise<StreamFixture> {
  world ??= makeWorld();
  return world;
}

function named(sha256Hash: string): Record<string, unknown> {
  return { persistedQuery: { version: 1, sha256Hash } };
}

function withBody(body: string): HttpQuestion {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body };
}

function ask(postroom: Postroom, { query, token, ...given }: Failing, accept: string): Promise<HttpAnswer> {
  return post(postroom, query, { ...given, headers: { accept, ...(token && { authorization: `Bearer ${token}` }) } });
}

function expectRefusal(answer: HttpAnswer, status: number, code: ErrorCode): void {
  expect({ status: answer.status, code: answer.code }).toEqual({ status, code });
  // Nothing but nulls: no data, `data: null`, or each root field null.
  expect(Object.values(answer.data ?? {}).filter((value) => value !== null)).toEqual([]);
  expect(answer.headers).toMatchObject({
    'content-type': `${graphqlResponse}; charset=utf-8`,
    'cache-control': 'private, no-store',
  });
}

it('every error code has one status and a test', () => {
  const shown = [...operations, ...requests].map(([status, code]) => [code, status]);
  const other = elsewhere.map((code) => [code, clientErrors[code].status]);
  const listed = Object.entries(clientErrors).map(([code, { status }]) => [code, status]);
  expect(Object.fromEntries([...shown, ...other])).toEqual(Object.fromEntries(listed));
});

it('docs/http.md lists every status', () => {
  const rows = readFileSync(docs, 'utf8').matchAll(/^\| (\d{3})\b/gm);
  const documented = Array.from(rows, ([, status]) => Number(status));
  const listed = Object.values(clientErrors).map(({ status }) => status);
  expect(new Set(documented)).toEqual(new Set([200, 294, ...listed]));
});

it.each(operations)('%i %s, over HTTP as over SSE, and as an error over a WebSocket', async (status, code, make) => {
  const { postroom, ...rest } = await findWorld();
  const failing = make({ postroom, ...rest });
  const isStream = failing.query.startsWith('subscription');
  expectRefusal(await ask(postroom, failing, 'text/event-stream'), status, code);
  if (!isStream) expectRefusal(await ask(postroom, failing, graphqlResponse), status, code);
  const { token, ...payload } = failing;
  const init = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init });
  socket.send({ type: 'subscribe', id: '1', payload });
  const { type, payload: told } = await socket.take(({ id }) => id === '1');
  const [error] = type === 'error' ? told : told.errors;
  expect(error.extensions.code).toBe(code);
});

it.each(requests)('%i %s, also for a client that takes nothing but streams', async (status, code, question) => {
  const { postroom } = server;
  expectRefusal(await exchange(postroom, question), status, code);
  const accept = { accept: question.headers?.['accept'] ?? 'text/event-stream' };
  expectRefusal(await exchange(postroom, { ...question, headers: { ...question.headers, ...accept } }), status, code);
});

it('data together with errors is 294 Partial Success, over SSE too', async () => {
  const { postroom, ada } = await findWorld();
  const query = `{ user(id: "${ada.id}") { posts(last: 101) { id } } rooms { data { id } } }`;
  const answer = await ask(postroom, { query }, graphqlResponse);
  expect(answer).toMatchObject({ status: 294, code: 'VALIDATION_ERROR', data: { user: null } });
  expect(answer.headers).toMatchObject({ 'cache-control': 'private, no-store' });
  expect(answer.data.rooms.data).not.toHaveLength(0);
  const plain = await ask(postroom, { query }, 'application/json');
  expect(plain).toMatchObject({ status: 294, headers: { 'content-type': 'application/json; charset=utf-8' } });
  const streamed = await ask(postroom, { query }, 'text/event-stream');
  expect(streamed).toMatchObject({ status: 294, headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
  expect(streamed.body).toBe(`event: next\ndata: ${answer.body}\n\nevent: complete\ndata:\n\n`);
});

it('a mutation that failed beside another is null, with the same result over HTTP, SSE and a WebSocket', async () => {
  const { postroom, ada, roomName } = await findWorld();
  const mutation = () => `mutation {
    a: createRoom(input: { name: "${scratchName()}" }) { __typename }
    b: createRoom(input: { name: "${roomName}" }) { __typename }
  }`;
  const result = {
    data: { a: { __typename: 'CreateRoomPayload' }, b: null },
    errors: [{ path: ['b'], extensions: { code: 'CONFLICT' } }],
  };
  const { token } = ada;
  const answer = await ask(postroom, { query: mutation(), token }, graphqlResponse);
  expect(answer).toMatchObject({ status: 294, ...result });
  const streamed = await ask(postroom, { query: mutation(), token }, 'text/event-stream');
  expect(streamed.status).toBe(294);
  expect(JSON.parse(/^data: (.+)$/m.exec(streamed.body)?.[1] ?? '')).toMatchObject(result);
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `Bearer ${token}` } });
  socket.send({ type: 'subscribe', id: '1', payload: { query: mutation() } });
  expect(await socket.take(({ id }) => id === '1')).toMatchObject({ type: 'next', payload: result });
});

it('a request that is refused before its execution has no data', async () => {
  const { postroom, ada } = await findWorld();
  const create = 'createRoom(input: { name: "refused" }) { room { id } }';
  const refused: [status: number, question: Failing][] = [
    [401, { query: `mutation { ${create} }`, token: 'bad' }],
    [422, { query: `mutation { ${create} nothingOfTheKind }`, token: ada.token }],
    [422, { query: `mutation { ${'__typename '.repeat(2_001)} ${create} }`, token: ada.token }],
    [422, { query: `mutation ($x: Int!) { ${create} __typename @skip(if: $x) }`, token: ada.token }],
  ];
  for (const [status, question] of refused) {
    const answer = await ask(postroom, question, graphqlResponse);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).not.toHaveProperty('data');
  }
});

it('401 says which credentials are accepted, and whether those sent were invalid', async () => {
  const { postroom } = server;
  const { headers } = await ask(postroom, { query: createRoom, variables: { name: 'x' } }, graphqlResponse);
  expect(headers['www-authenticate']).toBe('Bearer realm="postroom"');
  const bad = await ask(postroom, { query: '{ __typename }', token: 'bad' }, graphqlResponse);
  expectRefusal(bad, 401, 'UNAUTHENTICATED');
  expect(bad.headers['www-authenticate']).toBe('Bearer realm="postroom", error="invalid_token"');
});

it('405 lists the allowed methods', async () => {
  const { postroom } = server;
  const put = await exchange(postroom, { method: 'PUT' });
  expect(put.headers.allow).toBe('GET, HEAD, POST, OPTIONS');
  const mutation = await exchange(postroom, { path: '/graphql?query=mutation{__typename}' });
  expect(mutation.headers.allow).toBe('POST');
  const health = await exchange(postroom, { method: 'DELETE', path: '/health' });
  expect(health).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
});

it('410 CURSOR_EXPIRED before a stream begins contains the cursor to continue from', async () => {
  const postroom = await launchForTest({ EVENT_RETENTION_COUNT: '1' });
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'lobby');
  const after = await postroom.cursorOf(room);
  for (const title of ['one', 'two', 'three']) await postroom.createPost(ada, room, title);
  const answer = await ask(postroom, { query: roomEvents, variables: { room, after } }, 'text/event-stream');
  expectRefusal(answer, 410, 'CURSOR_EXPIRED');
  expect(answer.errors?.[0]?.extensions.live?.cursor).toBe(await postroom.cursorOf(room));
});

it('429 RATE_LIMITED says when to try again, and what the rate is', async () => {
  const postroom = await launchForTest({ RATE_LIMIT: '1' });
  await ask(postroom, { query: '{ __typename }' }, graphqlResponse);
  const answer = await ask(postroom, { query: '{ __typename }' }, graphqlResponse);
  expectRefusal(answer, 429, 'RATE_LIMITED');
  expect(answer.headers).toMatchObject({
    'retry-after': expect.stringMatching(/^[1-9]\d*$/),
    ratelimit: expect.stringMatching(/^"default";r=0;t=\d+$/),
    'ratelimit-policy': '"default";q=1;w=60',
  });
});

it('500 is masked, and its requestId is found in the log', async () => {
  const file = `${scratchFolder()}/postroom.db`;
  const postroom = await launchForTest({ DATABASE_URL: `sqlite:${file}` });
  withDatabase(file, (database) => database.exec('alter table posts rename to hidden'));
  const answer = await ask(postroom, { query: '{ posts { data { id } } }' }, graphqlResponse);
  expectRefusal(answer, 500, 'INTERNAL_SERVER_ERROR');
  const requestId = answer.errors?.[0]?.extensions.requestId;
  expect(answer.headers['x-request-id']).toBe(requestId);
  expect(answer.body).not.toMatch(/no such|SQL|\.ts/);
  await expect.poll(() => postroom.log.filter((line) => line['requestId'] === requestId)).toHaveLength(1);
  const streamed = await ask(postroom, { query: '{ posts { data { id } } }' }, 'text/event-stream');
  expectRefusal(streamed, 500, 'INTERNAL_SERVER_ERROR');
});

it('502 is for errors of an upstream server', async () => {
  const postroom = await launchForTest({
    OAUTH_ISSUER: 'http://127.0.0.1:1',
    OAUTH_AUDIENCE: 'postroom',
    OAUTH_INTROSPECTION_URL: 'http://127.0.0.1:1/introspect',
    OAUTH_CLIENT_ID: 'postroom',
    OAUTH_CLIENT_SECRET: 'secret',
  });
  for (const accept of [graphqlResponse, 'text/event-stream']) {
    expectRefusal(await ask(postroom, { query: '{ __typename }', token: 'opaque' }, accept), 502, 'BAD_GATEWAY');
  }
});

it('503 says when to try again', async () => {
  const postroom = await launchForTest({ OPERATION_TIMEOUT_MS: '1' }, { passwordCost: recommendedCost });
  const input = { name: 'Ada', email: 'ada@example.org', password: 'correct horse' };
  const query = 'mutation ($input: SignUpInput!) { signUp(input: $input) { expiresAt } }';
  const answer = await ask(postroom, { query, variables: { input } }, graphqlResponse);
  expectRefusal(answer, 503, 'SERVICE_UNAVAILABLE');
  expect(answer.headers['retry-after']).toBe('1');
});

it('a request that the HTTP parser refuses is answered with an error in the same form', async () => {
  const connection = await RawConnection.open(server.postroom);
  connection.send('GET /graphql HTTP/1.1\r\nno colon\r\n\r\n');
  expectRefusal(await connection.receive(), 400, 'BAD_REQUEST');
  await connection.closed();
});
