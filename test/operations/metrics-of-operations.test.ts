import { expect, it } from 'vitest';
import { recommendedCost } from '../../src/identity/session/passwords.ts';
import { EventStream } from '../support/clients/event-stream.ts';
import { exchange } from '../support/clients/http.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { readMetrics, readSeries } from '../support/engine/metrics.ts';
import { launchForTest, type Postroom } from '../support/server/postroom.ts';

const name = 'postroom_operations_total';

/** The increase of each series during the work. */
async function increaseDuring(postroom: Postroom, metric: string, work: () => Promise<unknown>) {
  const before = await readSeries(postroom, metric);
  await work();
  const after = await readSeries(postroom, metric);
  const increases = Object.entries(after).map(([key, value]): [string, number] => [key, value - (before[key] ?? 0)]);
  return Object.fromEntries(increases.filter(([, increase]) => increase !== 0));
}

it('every operation is counted once, with its type and its code, over HTTP, SSE and WebSocket', async () => {
  const postroom = await launchForTest();
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'hall');
  const asks = [
    '{ __typename }',
    '{ room(id: "none") { id } }',
    '{',
    '{ unknown }',
    'mutation { createRoom(input: { name: "r" }) { room { id } } }',
    'query Q { a: __typename } query P { b: __typename }',
  ];
  const expected = {
    'query OK': 2,
    'unknown GRAPHQL_PARSE_FAILED': 1,
    'unknown GRAPHQL_VALIDATION_FAILED': 1,
    'mutation UNAUTHENTICATED': 1,
    'unknown OPERATION_NOT_FOUND': 1,
    'subscription OK': 1,
    'subscription NOT_FOUND': 1,
  };
  const subscriptions = [room, 'none'].map((id) => `subscription { roomEvents(room: "${id}") { cursor } }`);

  const overHttp = await increaseDuring(postroom, name, async () => {
    for (const ask of asks) await postroom.send(ask);
    for (const query of subscriptions) await EventStream.open(postroom.graphqlUrl, query);
  });
  expect(overHttp).toEqual(expected);

  const overSse = await increaseDuring(postroom, name, async () => {
    for (const query of [...asks, ...subscriptions]) await EventStream.open(postroom.graphqlUrl, query);
  });
  expect(overSse).toEqual(expected);

  const overWebSocket = await increaseDuring(postroom, name, async () => {
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    for (const [index, query] of asks.entries()) {
      const id = String(index);
      socket.send({ type: 'subscribe', id, payload: { query } });
      await socket.take((message) => message.id === id);
    }
    await socket.follow('live', subscriptions[0] ?? '');
    await socket.subscribe('none', subscriptions[1] ?? '').refused;
  });
  expect(overWebSocket).toEqual(expected);
});

it('requests that are refused before their operation is known are counted as unknown', async () => {
  const postroom = await launchForTest({ RATE_LIMIT: '4' });
  const increase = await increaseDuring(postroom, name, async () => {
    const headers = { 'content-type': 'application/json' };
    await exchange(postroom, { method: 'POST', path: '/graphql', headers, body: '{' });
    await exchange(postroom, { method: 'POST', path: '/graphql', headers, body: '[]' });
    await exchange(postroom, { path: '/graphql?query={__typename}', headers: { authorization: 'Bearer nobody' } });
    await exchange(postroom, { path: '/nothing' });
    for (let sent = 0; sent < 3; sent += 1) await postroom.send('{ __typename }');
  });
  const refused = await readMetrics(postroom);
  expect(increase).toEqual({
    'unknown BAD_REQUEST': 1,
    'unknown INVALID_REQUEST': 1,
    'unknown UNAUTHENTICATED': 1,
    'query OK': 1,
    'unknown RATE_LIMITED': 2,
  });
  expect(refused['rate_limited_total']).toBe(2);
});

it('an operation whose client left before its answer is counted as cancelled', async () => {
  const postroom = await launchForTest({}, { passwordCost: recommendedCost });
  const abort = new AbortController();
  const query =
    'mutation { signUp(input: { name: "A", email: "a@example.org", password: "correct horse" }) { accessToken } }';
  const sent = fetch(postroom.graphqlUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
    signal: abort.signal,
  });
  await expect.poll(() => readMetrics(postroom)).toMatchObject({ http_server_active_requests: 2 });
  abort.abort();
  await expect(sent).rejects.toThrow();
  await expect.poll(() => readSeries(postroom, name)).toEqual({ 'mutation CANCELLED': 1 });
});

it('text of a client is no label: only known methods, routes and codes are', async () => {
  const postroom = await launchForTest();
  const metric = 'http_server_request_duration_seconds_count';
  const increase = await increaseDuring(postroom, metric, async () => {
    await exchange(postroom, { path: '/secret?token=1' });
    await exchange(postroom, { path: '/health/secret' });
    await exchange(postroom, { method: 'PROPFIND', path: '/graphql' });
    await exchange(postroom, { method: 'DELETE', path: '/health' });
    await exchange(postroom, { path: '/graphql?query={secret}' });
    await postroom.send('query Secret { __typename }');
  });
  const text = await (await fetch(`${postroom.url}/metrics`)).text();
  expect(text.toLowerCase()).not.toContain('secret');
  const sorted = Object.entries(increase).map(([labels, count]) => `${labels} ${count}`);
  expect(sorted.sort()).toEqual([
    'DELETE 405 /health 1',
    'GET 200 /metrics 1',
    'GET 404 2',
    'GET 422 /graphql 1',
    'POST 200 /graphql 1',
    '_OTHER 405 /graphql 1',
  ]);
});
