import { request } from 'node:http';
import { expect, it } from 'vitest';
import { exchange, get, graphqlResponse, post } from '../support/clients/http.ts';
import { scratchName } from '../support/rooms/names.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

/* Media types, encodings and methods are checked before an operation runs. */

const server = shareServer();

const json = 'application/json';
const eventStream = 'text/event-stream';

it.each([
  // A client that prefers no type gets JSON.
  ['', json],
  ['*/*', json],
  ['application/*', json],
  [json, json],
  [graphqlResponse, graphqlResponse],
  // The highest weight wins, in any order; of equal weights, application/graphql-response+json.
  [`${graphqlResponse}, ${json}`, graphqlResponse],
  [`${json}, ${graphqlResponse}`, graphqlResponse],
  [`${graphqlResponse}, ${json};q=0.9`, graphqlResponse],
  [`${graphqlResponse};q=0.5, ${json};q=0.9`, json],
  [`${json};q=0.9, ${graphqlResponse};q=0.5`, json],
  [`${graphqlResponse};q=0.5, */*`, json],
  [`${graphqlResponse};q=0, ${json}`, json],
  [`${graphqlResponse};q=0, */*`, json],
  [`${json};q=0, */*`, graphqlResponse],
  [`${eventStream};q=0.5, ${json}`, json],
  [`${eventStream}, ${json};q=0.5`, eventStream],
  [`${eventStream}, */*;q=0.1`, eventStream],
  [eventStream, eventStream],
  ['text/*', eventStream],
  ['image/png, */*;q=0.1', json],
  // As Apollo's clients ask for subscriptions.
  [`multipart/mixed;boundary=graphql;subscriptionSpec=1.0,${json}`, json],
  [`multipart/mixed;boundary=graphql;subscriptionSpec=1.0,${graphqlResponse},${json};q=0.9`, graphqlResponse],
  // Names of media types and parameters are not case-sensitive.
  ['Application/GraphQL-Response+JSON', graphqlResponse],
  ['APPLICATION/JSON;Q=0.5, text/html', json],
  [`${graphqlResponse};charset=UTF-8`, graphqlResponse],
  // Other parameters are ignored.
  [`${json};indent=4`, json],
  [`${graphqlResponse};profile=x;q=0.5, ${json};q=0.1`, graphqlResponse],
  [`${graphqlResponse} ; q=0.3 , ${json} ; q=0.2`, graphqlResponse],
])('Accept: %s is answered with %s', async (accept, type) => {
  const answer = await post(server.postroom, '{ __typename }', { headers: { accept } });
  expect({ status: answer.status, type: answer.headers['content-type'] }).toEqual({
    status: 200,
    type: `${type}; charset=utf-8`,
  });
});

it.each([
  'image/png',
  'text/html',
  'application/xml, image/*',
  '*/*;q=0',
  `${json};q=0`,
  `${graphqlResponse};q=0, ${json};q=0.0, ${eventStream};q=0.000`,
  `${json};q=2`,
  `${json};charset=utf-16`,
  'multipart/mixed;boundary=graphql;subscriptionSpec=1.0',
  'multipart/mixed',
])('Accept: %s is 406, and the mutation does not run', async (accept) => {
  const { postroom } = server;
  const { ada, name } = await prepare(postroom);
  const headers = { accept, authorization: `Bearer ${ada.token}` };
  const answer = await post(postroom, createRoom, { variables: { name }, headers });
  expect(answer).toMatchObject({ status: 406, code: 'NOT_ACCEPTABLE' });
  expect(await findRoom(postroom, name)).toBeNull();
});

it('an error is application/graphql-response+json whatever the client accepts', async () => {
  for (const accept of [json, '*/*', graphqlResponse, eventStream]) {
    const answer = await post(server.postroom, '{', { headers: { accept } });
    expect(answer).toMatchObject({ status: 400, headers: { 'content-type': `${graphqlResponse}; charset=utf-8` } });
  }
});

it.each([
  'application/json',
  'Application/JSON',
  'APPLICATION/JSON; charset=utf-8',
  'application/json;charset=UTF-8',
  'application/json; charset="utf-8"',
  'application/json ; charset=utf8 ; boundary=x',
])('Content-Type: %s is read', async (type) => {
  const answer = await post(server.postroom, '{ __typename }', { headers: { 'content-type': type } });
  expect(answer).toMatchObject({ status: 200, data: { __typename: 'Query' } });
});

it.each([
  '',
  'text/plain',
  'text/plain;application/json',
  'application/jsonx',
  'application/graphql',
  'application/graphql-response+json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  'application/json; charset=iso-8859-1',
  'application/json; charset="utf-8',
  'application/json, text/plain',
])('Content-Type: %s is 415, and the mutation does not run', async (type) => {
  const { postroom } = server;
  const { ada, name } = await prepare(postroom);
  const headers = { 'content-type': type, authorization: `Bearer ${ada.token}` };
  const answer = await post(postroom, createRoom, { variables: { name }, headers });
  expect(answer).toMatchObject({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
  expect(answer.headers.accept).toBe('application/json; charset=utf-8');
  expect(await findRoom(postroom, name)).toBeNull();
});

it.each(['gzip', 'br', 'deflate', 'GZIP', 'identity, gzip', 'x'])('Content-Encoding: %s is 415', async (encoding) => {
  const answer = await post(server.postroom, '{ __typename }', { headers: { 'content-encoding': encoding } });
  expect(answer).toMatchObject({ status: 415, headers: { 'accept-encoding': 'identity' } });
});

it('Content-Encoding: identity counts as no encoding', async () => {
  const answer = await post(server.postroom, '{ __typename }', { headers: { 'content-encoding': 'identity' } });
  expect(answer.status).toBe(200);
});

it.each([
  'GET',
  'HEAD',
  'PUT',
  'PATCH',
  'DELETE',
  'QUERY',
  'TRACE',
])('a mutation by %s is 405, and does not run', async (method) => {
  const { postroom } = server;
  const { ada, name } = await prepare(postroom);
  const query = `mutation { createRoom(input: { name: ${JSON.stringify(name)} }) { room { id } } }`;
  const headers = { authorization: `Bearer ${ada.token}`, 'content-type': json };
  const answer = await get(postroom, { query }, headers, method);
  expect(answer.status).toBe(405);
  expect(answer.headers.allow).toBe(method === 'GET' || method === 'HEAD' ? 'POST' : 'GET, HEAD, POST, OPTIONS');
  expect(await findRoom(postroom, name)).toBeNull();
});

it('a mutation that the operationName of a GET selects is 405 too', async () => {
  const query = 'query Read { __typename } mutation Write { deleteUser(input: { id: "x" }) { user { id } } }';
  const answers = [
    await get(server.postroom, { query, operationName: 'Write' }),
    await get(server.postroom, { query, operationName: 'Read' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([405, 200]);
});

it('100 Continue is sent only after all checks of the header have passed', async () => {
  const { url } = server.postroom;
  const body = JSON.stringify({ query: '{ __typename }' });
  const ask = (headers: Record<string, string | number>) =>
    new Promise<(number | undefined)[]>((resolve, reject) => {
      const seen: number[] = [];
      const sent = request(`${url}/graphql`, {
        method: 'POST',
        headers: { expect: '100-continue', 'content-length': body.length, ...headers },
        agent: false,
      });
      sent.on('continue', () => {
        seen.push(100);
        sent.end(body);
      });
      sent.on('response', (response) => {
        resolve([...seen, response.statusCode]);
        sent.destroy();
      });
      sent.on('error', reject);
      sent.flushHeaders();
    });
  expect(await ask({ 'content-type': json })).toEqual([100, 200]);
  expect(await ask({ 'content-type': 'text/plain' })).toEqual([415]);
  expect(await ask({ 'content-type': json, 'content-length': 2_000_000 })).toEqual([413]);
});

it('50 subscriptions of a client that accepts no stream are refused, and leave no resource', async () => {
  const { postroom } = server;
  const { ada, name } = await prepare(postroom);
  const room = await postroom.createRoom(ada, name);
  const query = `subscription { roomEvents(room: "${room}") { cursor } }`;
  const ask = () => post(postroom, query, { headers: { accept: json } });
  const answers = await Promise.all(Array.from({ length: 50 }, ask));
  expect(answers.map(({ status, code }) => `${status} ${code}`)).toEqual(Array(50).fill('406 NOT_ACCEPTABLE'));
  // The message names what a subscription can use instead.
  for (const name of ['text/event-stream', 'multipart/mixed;subscriptionSpec=1.0', 'WebSocket'])
    expect(answers[0]?.body).toContain(name);
  const { body } = await exchange(postroom, { path: '/metrics' });
  expect(body).toMatch(/^postroom_subscribers 0$/m);
  expect(body).toMatch(/^postroom_feeds 0$/m);
});

it.each([
  ['multipart/mixed;boundary=graphql;subscriptionSpec=1.0', 'multipart/mixed'],
  ['multipart/mixed;subscriptionSpec="1.0";boundary=other', 'multipart/mixed'],
  [`Multipart/Mixed; SubscriptionSpec=1.0 , ${json}`, 'multipart/mixed'],
  // A client that names the protocol receives it; of both, SSE.
  [`multipart/mixed;subscriptionSpec=1.0, */*`, 'multipart/mixed'],
  [`multipart/mixed;subscriptionSpec=1.0, ${eventStream}`, eventStream],
  [`multipart/mixed;subscriptionSpec=1.0, ${eventStream};q=0.9`, 'multipart/mixed'],
  [`multipart/mixed;subscriptionSpec=1.0;q=0.8, ${eventStream};q=0.9`, eventStream],
  // As urql asks for subscriptions.
  [`${graphqlResponse}, application/graphql+json, ${json}, ${eventStream}, multipart/mixed`, eventStream],
  ['*/*', eventStream],
  // Other protocols with this media type.
  [`multipart/mixed;deferSpec=20220824, ${json}`, undefined],
  [`multipart/mixed;subscriptionSpec=2.0, ${json}`, undefined],
  [`multipart/mixed;subscriptionSpec=1.0;q=0, ${json}`, undefined],
  [`multipart/*, ${json}`, undefined],
])('a subscription with Accept: %s is answered with %s', async (accept, type) => {
  const { postroom } = server;
  const { ada, name } = await prepare(postroom);
  const room = await postroom.createRoom(ada, name);
  const abort = new AbortController();
  const parameters = new URLSearchParams({ query: `subscription { roomEvents(room: "${room}") { cursor } }` });
  const response = await fetch(`${postroom.graphqlUrl}?${parameters}`, { headers: { accept }, signal: abort.signal });
  abort.abort();
  const found = response.headers.get('content-type')?.split(';')[0];
  expect([response.status, found]).toEqual(type ? [200, type] : [406, graphqlResponse]);
});

it('a subscription by HEAD is 405, and leaves no resource', async () => {
  const { postroom } = server;
  const { ada, name } = await prepare(postroom);
  const room = await postroom.createRoom(ada, name);
  const query = `subscription { roomEvents(room: "${room}") { cursor } }`;
  const answer = await get(postroom, { query }, { accept: eventStream }, 'HEAD');
  expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, POST' } });
  const { body } = await exchange(postroom, { path: '/metrics' });
  expect(body).toMatch(/^postroom_subscribers 0$/m);
});

const createRoom = 'mutation ($name: String!) { createRoom(input: { name: $name }) { room { id } } }';

async function prepare(postroom: Postroom): Promise<{ ada: Person; name: string }> {
  return { ada: await postroom.signUp('Ada'), name: scratchName() };
}

async function findRoom(postroom: Postroom, name: string): Promise<unknown> {
  return (await postroom.ask('query ($name: String!) { roomByName(name: $name) { id } }', { name })).roomByName;
}
