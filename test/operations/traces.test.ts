import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { EventStream } from '../support/clients/event-stream.ts';
import { post } from '../support/clients/http.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { writeManyRows } from '../support/database/many-rows.ts';
import { type ReceivedSpan, TraceReceiver } from '../support/engine/trace-receiver.ts';
import { sendAs } from '../support/identity/credentials.ts';
import { audience, openIssuer } from '../support/identity/issuer.ts';
import { launchForTest, type Postroom, type Settings, scratchFolder } from '../support/server/postroom.ts';

/* A server stops before a test reads its spans, because it then has sent all of them. */

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const traceparent = `00-${traceId}-${parentId}-01`;

async function launch(settings: Settings = {}): Promise<{ receiver: TraceReceiver; postroom: Postroom }> {
  const receiver = await TraceReceiver.start();
  return { receiver, postroom: await launchForTest({ ...receiver.settings, ...settings }) };
}

/** The only span of an operation. */
function onlyServerSpan({ spans }: TraceReceiver): ReceivedSpan {
  const found = spans.filter(({ kind }) => kind === 'server');
  expect(found).toHaveLength(1);
  return found[0] as ReceivedSpan;
}

it('a query is one span with its name and type, and one for each of its statements, whose text has no values', async () => {
  const { receiver, postroom } = await launch();
  const { headers } = await postroom.send('query Someone($id: ID!) { user(id: $id) { name } }', { id: 'hidden' });
  await postroom.stop();
  const operation = onlyServerSpan(receiver);
  expect(operation).toMatchObject({ name: 'query', parentId: undefined, isFailed: false });
  expect(operation.attributes).toEqual({
    'graphql.operation.type': 'query',
    'graphql.operation.name': 'Someone',
    'postroom.request_id': headers.get('x-request-id'),
  });
  expect(headers.get('server-timing')).toBe(`traceparent;desc="00-${operation.traceId}-${operation.id}-01"`);
  expect(operation.resource).toMatchObject({ 'service.name': 'postroom' });
  const [statement] = receiver.named('SELECT users');
  expect(statement).toMatchObject({ traceId: operation.traceId, parentId: operation.id, kind: 'client' });
  expect(statement?.attributes).toEqual({
    'db.system.name': 'sqlite',
    'db.operation.name': 'SELECT',
    'db.query.summary': 'SELECT users',
    'db.query.text': expect.stringContaining('from "users"'),
  });
  expect(receiver.text).not.toContain('hidden');
});

it('a mutation contains its transaction with the time that it waited, and what it publishes', async () => {
  const { receiver, postroom } = await launch();
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'lobby');
  await postroom.createPost(ada, room, 'Hello');
  await postroom.stop();
  const trace = receiver.spans.filter(({ kind }) => kind === 'server').at(-1)?.traceId ?? '';
  expect(receiver.treeOf(trace).split('\n').toSorted()).toEqual(
    [
      'server mutation',
      '  internal transaction',
      '    client SELECT users',
      '    client SELECT rooms',
      '    client SELECT roomMembers',
      '    client SELECT mutes',
      '    client UPDATE rooms',
      '    client INSERT posts',
      '    client UPDATE roomMembers',
      '    client INSERT roomEvents',
      '  producer publish',
    ].toSorted(),
  );
  const transaction = receiver.named('transaction').at(-1);
  const waited = Number(transaction?.attributes['postroom.transaction.wait_ms']);
  expect(waited).toBeGreaterThanOrEqual(0);
  expect(waited).toBeLessThanOrEqual(transaction?.durationMs ?? 0);
});

it('a read that is long on SQLite shows how long it waited for a thread', async () => {
  const file = join(scratchFolder(), 'postroom.db');
  const { receiver, postroom } = await launch({ DATABASE_URL: `sqlite:${file}` });
  writeManyRows(file);
  await postroom.ask('{ posts(page: 50001, limit: 1) { data { id } } }');
  await postroom.stop();
  const [[wait], [statement]] = [receiver.named('wait for a thread'), receiver.named('SELECT posts')];
  expect(wait).toMatchObject({ kind: 'internal', parentId: onlyServerSpan(receiver).id });
  expect(wait?.durationMs).toBeLessThan(statement?.durationMs ?? 0);
});

it('a mutation that fails has the code of its error, as has the transaction that it rolled back', async () => {
  const { receiver, postroom } = await launch({ LOG_LEVEL: 'info' });
  const ada = await postroom.signUp('Ada');
  const rename = 'mutation { updateRoom(input: { id: "none", name: "new" }) { room { id } } }';
  const { code } = await postroom.send(rename, {}, ada.token);
  await postroom.stop();
  const [operation] = receiver.spans.filter(({ kind, isFailed }) => kind === 'server' && isFailed);
  expect(operation?.attributes).toMatchObject({ 'error.type': code, 'graphql.operation.type': 'mutation' });
  const [transaction] = receiver.named('transaction').filter(({ isFailed }) => isFailed);
  expect(transaction).toMatchObject({ traceId: operation?.traceId, attributes: { 'error.type': code } });
  // The line of the log names the trace.
  const [line] = postroom.log.filter(({ msg }) => msg === 'operation refused');
  expect(line).toMatchObject({ code, traceId: operation?.traceId });
});

it('a request that is refused before its operation is found is a span, too; the name in it is shortened', async () => {
  const { receiver, postroom } = await launch();
  const operationName = 'x'.repeat(5_000);
  const { code } = await post(postroom, '{ __typename }', { operationName });
  await postroom.stop();
  const { name, attributes, isFailed } = onlyServerSpan(receiver);
  expect([code, name, isFailed]).toEqual(['OPERATION_NOT_FOUND', 'GraphQL Operation', true]);
  expect(attributes).toMatchObject({ 'error.type': code, 'graphql.operation.name': `${'x'.repeat(100)}…` });
});

it('a subscription is a span that ends when it has begun, over a WebSocket and over SSE', async () => {
  const { receiver, postroom } = await launch();
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'lobby');
  const query = `subscription Live { roomEvents(room: "${room}") { cursor } }`;
  const stream = await EventStream.open(postroom.graphqlUrl, query, { traceparent });
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  socket.send({ type: 'subscribe', id: '1', payload: { query, extensions: { traceparent } } });
  await socket.take(({ type, payload }) => type === 'ping' && payload?.live?.['1'] !== undefined);
  expect(stream.response.headers['server-timing']).toContain(traceId);
  // Both streams are still open.
  await expect.poll(() => receiver.named('subscription')).toHaveLength(2);
  const expected = { traceId, parentId, kind: 'server', isFailed: false };
  expect(receiver.named('subscription')).toMatchObject([expected, expected]);
  expect(receiver.treeOf(traceId)).toContain('  client SELECT rooms');
});

it.each([
  [
    'HTTP',
    async (postroom: Postroom, headers: Record<string, string>) => post(postroom, '{ __typename }', { headers }),
  ],
  [
    'a WebSocket',
    async (postroom: Postroom, extensions: Record<string, string>) => {
      const socket = await ProtocolSocket.open(postroom.webSocketUrl);
      socket.send({ type: 'subscribe', id: '1', payload: { query: '{ __typename }', extensions } });
      await socket.take(({ type }) => type === 'complete');
    },
  ],
])('an operation over %s continues the trace of its client, with its state', async (_, send) => {
  const { receiver, postroom } = await launch();
  await send(postroom, { traceparent, tracestate: 'vendor=1,other=2' });
  await postroom.stop();
  expect(onlyServerSpan(receiver)).toMatchObject({ traceId, parentId, state: 'vendor=1,other=2' });
});

it.each([
  traceparent.toUpperCase(),
  `ff${traceparent.slice(2)}`,
  `${traceparent}-more`,
  traceparent.slice(0, -1),
  `00-${'0'.repeat(32)}-${parentId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  'x'.repeat(10_000),
  '',
])('a malformed traceparent is ignored: the operation begins a trace (%#)', async (malformed) => {
  const { receiver, postroom } = await launch();
  const { status } = await post(postroom, '{ __typename }', { headers: { traceparent: malformed } });
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  for (const [id, extensions] of [{ traceparent: malformed }, { traceparent: [traceparent] }].entries()) {
    socket.send({ type: 'subscribe', id: String(id), payload: { query: '{ __typename }', extensions } });
    await socket.take((message) => message.id === String(id));
  }
  await postroom.stop();
  expect(status).toBe(200);
  expect(receiver.spans.length).toBeGreaterThanOrEqual(3);
  for (const span of receiver.spans) expect(span).toMatchObject({ parentId: undefined, kind: 'server' });
  expect(receiver.spans.map((span) => span.traceId)).not.toContain(traceId);
});

it('a malformed tracestate is dropped, and the trace continues', async () => {
  const { receiver, postroom } = await launch();
  await post(postroom, '{ __typename }', { headers: { traceparent, tracestate: `=;, ${'x'.repeat(600)}` } });
  await postroom.stop();
  const { traceId: id, state = '' } = onlyServerSpan(receiver);
  expect([id, state]).toEqual([traceId, '']);
});

it('what the client has decided not to record is not recorded, and the answer names no trace', async () => {
  const { receiver, postroom } = await launch();
  const headers = { traceparent: traceparent.replace(/1$/, '0') };
  const answer = await post(postroom, '{ rooms { data { id } } }', { headers });
  await postroom.stop();
  expect(answer.headers['server-timing']).toBeUndefined();
  expect(receiver.spans).toEqual([]);
});

it('TRACE_CLIENTS=false ignores the traces of clients, over HTTP and a WebSocket', async () => {
  const settings = { TRACE_CLIENTS: 'false', OTEL_TRACES_SAMPLER: 'parentbased_always_off' };
  const { receiver, postroom } = await launch(settings);
  await post(postroom, '{ __typename }', { headers: { traceparent } });
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  socket.send({ type: 'subscribe', id: '1', payload: { query: '{ __typename }', extensions: { traceparent } } });
  await socket.take(({ type }) => type === 'complete');
  await postroom.stop();
  expect(receiver.spans).toEqual([]);
});

it.each([
  ['always_off', '1', 0],
  ['always_on', '0', 2],
  ['traceidratio', '0', 0],
  ['traceidratio', '1', 2],
  ['parentbased_traceidratio', '0', 1],
  ['parentbased_always_off', '1', 1],
])('OTEL_TRACES_SAMPLER=%s with %s decides which operations are recorded', async (sampler, ratio, count) => {
  const { receiver, postroom } = await launch({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio });
  await post(postroom, '{ __typename }', { headers: { traceparent } });
  await post(postroom, '{ __typename }');
  await postroom.stop();
  expect(receiver.spans).toHaveLength(count);
});

it('spans contain neither variables nor credentials, also if they contain documents', async () => {
  const { receiver, postroom } = await launch({ TRACE_DOCUMENTS: 'true' });
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'hidden room');
  await postroom.createPost(ada, room, 'hidden title', 'hidden body');
  const inline = `mutation Again { signIn(input: { email: "${ada.email}", password: """${ada.password}""" }) { accessToken } }`;
  const { signIn } = await postroom.ask(inline);
  const make = 'mutation { createApiKey(input: { name: "hidden key", scopes: [READ] }) { key } }';
  const { createApiKey } = await postroom.ask(make, {}, ada.token);
  await sendAs(postroom, `ApiKey ${createApiKey.key}`, '{ viewer { email } users(limit: 7) { data { id } } }');
  await sendAs(postroom, `ApiKey ${createApiKey.key}x`);
  await postroom.stop();
  const documents = receiver.spans.flatMap(({ attributes }) => attributes['graphql.document'] ?? []);
  expect(documents).toContain(
    'mutation Again {\n  signIn(input: { email: "", password: "" }) {\n    accessToken\n  }\n}',
  );
  expect(documents.at(-1)).toContain('users(limit: 0)');
  const secrets = [ada.email, ada.password, ada.token, signIn.accessToken, createApiKey.key, room];
  for (const secret of [...secrets, 'hidden']) expect(receiver.text).not.toContain(secret);
  // The statements that find the viewer belong to the operation.
  const operation = receiver.named('query')[0]?.id;
  expect(receiver.named('SELECT apiKeys').map(({ parentId: parent }) => parent)).toContain(operation);
});

it('the requests to the issuer of a token carry the trace, but not its credentials', async () => {
  const issuer = await openIssuer();
  onTestFinished(() => issuer.close());
  const { receiver, postroom } = await launch({ OAUTH_ISSUER: issuer.issuer, OAUTH_AUDIENCE: audience });
  const token = await issuer.sign();
  await post(postroom, '{ viewer { name } }', { headers: { traceparent, authorization: `Bearer ${token}` } });
  await postroom.stop();
  const requests = receiver.named('GET');
  expect(requests.map(({ attributes }) => attributes['url.full'])).toEqual([
    `${issuer.issuer}/.well-known/openid-configuration`,
    `${issuer.issuer}/jwks`,
  ]);
  expect(issuer.traceparents()).toEqual(requests.map(({ id }) => `00-${traceId}-${id}-01`));
  expect(receiver.text).not.toContain(token);
});

it('without an endpoint nothing is recorded, and a trace of a client changes nothing', async () => {
  const postroom = await launchForTest({ OTEL_SERVICE_NAME: 'rooms' });
  const answer = await post(postroom, '{ __typename }', { headers: { traceparent } });
  expect([answer.status, answer.headers['server-timing']]).toEqual([200, undefined]);
});
