import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Message, ProtocolSocket, type ProtocolSocketOptions } from '../support/clients/protocol-socket.ts';
import { nothingLeft, untilCounts } from '../support/engine/metrics.ts';
import { launchForTest, type Person, type Postroom, startInProcess } from '../support/server/postroom.ts';

/* The rules of graphql-transport-ws: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md */

let postroom: Postroom;
let ada: Person;
let room: string;

beforeAll(async () => {
  postroom = await startInProcess({ LIMIT_SUBSCRIPTIONS: '5', LIMIT_MESSAGES: '1000' });
  ada = await postroom.signUp('Ada');
  room = await postroom.createRoom(ada, 'protocol');
});

afterAll(async () => {
  await postroom.stop();
  // Errors of clients are not logged as errors of the server.
  expect(postroom.log).toEqual([]);
});

const open = (options?: ProtocolSocketOptions) => ProtocolSocket.open(postroom.webSocketUrl, options);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const events = () => `subscription { roomEvents(room: "${room}") { cursor ... on PostCreated { post { title } } } }`;
const subscribeTo = (id: string): Message => ({ type: 'subscribe', id, payload: { query: events() } });
const nothing = { query: '{ __typename }' };

it('an id of a ping has no meaning, also if an operation has it', async () => {
  const socket = await open();
  await socket.follow('1', events());
  socket.send({ type: 'ping', id: '1', payload: { from: 'ping' } });
  await socket.take(({ type, payload }) => type === 'pong' && payload.from === 'ping');
  socket.send({ type: 'pong', id: '1' });
  await socket.settle();
  await postroom.createPost(ada, room, 'after the ping');
  const { payload } = await socket.take(({ type, id }) => type === 'next' && id === '1');
  expect(payload.data.roomEvents.post.title).toBe('after the ping');
});

describe('a protocol error closes the socket with its code', () => {
  it('a missing or unknown sub-protocol: 4406', async () => {
    for (const protocols of [[], ['graphql-ws'], ['mqtt', 'graphql-ws']]) {
      const socket = await open({ protocols, init: false }).catch(() => undefined);
      // A client that offers sub-protocols closes the connection itself if the server accepts none of them.
      if (protocols.length === 0) expect(await socket?.closed).toMatchObject({ code: 4406 });
    }
  });

  it.each([
    ['no JSON', '{"type":'],
    ['an empty text', ''],
    ['an array', '[]'],
    ['null', 'null'],
    ['no type', '{}'],
    ['a type that is no string', '{"type":1}'],
    ['an unknown type', '{"type":"hello"}'],
    ['a type of the older protocol', '{"type":"start","id":"1","payload":{"query":"{ __typename }"}}'],
    ['next, which only servers send', '{"type":"next","id":"1","payload":{}}'],
    ['error, which only servers send', '{"type":"error","id":"1","payload":[{"message":"no"}]}'],
    ['connection_ack, which only servers send', '{"type":"connection_ack"}'],
    ['an init payload that is a string', '{"type":"connection_init","payload":"secret"}'],
    ['a ping payload that is an array', '{"type":"ping","payload":[]}'],
    ['a subscribe without id', '{"type":"subscribe","payload":{"query":"{ __typename }"}}'],
    ['a subscribe with an empty id', '{"type":"subscribe","id":"","payload":{"query":"{ __typename }"}}'],
    ['a subscribe whose id is a number', '{"type":"subscribe","id":1,"payload":{"query":"{ __typename }"}}'],
    ['a subscribe without payload', '{"type":"subscribe","id":"1"}'],
    ['a subscribe whose query is no string', '{"type":"subscribe","id":"1","payload":{"query":7}}'],
    [
      'a subscribe whose variables are an array',
      '{"type":"subscribe","id":"1","payload":{"query":"{a}","variables":[]}}',
    ],
    ['a complete without id', '{"type":"complete"}'],
    ...['ping', 'pong', 'complete', 'subscribe', 'connection_init'].flatMap((type) =>
      [null, 1, '', [], {}, 'x'.repeat(201)].map((id) => [
        `a ${type} with the id ${JSON.stringify(id).slice(0, 10)}`,
        JSON.stringify({ type, id, payload: type === 'subscribe' ? { query: '{ __typename }' } : {} }),
      ]),
    ),
    [
      'a ping nested deeper than any stack',
      `{"type":"ping","payload":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`,
    ],
  ])('%s: 4400', async (_title, text) => {
    const socket = await open();
    socket.webSocket.send(text);
    expect(await socket.closed).toMatchObject({ code: 4400 });
  });

  it('a connection_init whose id is null, as the first message of a client without credentials: 4400', async () => {
    const socket = await open({ init: false });
    socket.webSocket.send('{"type":"connection_init","id":null}');
    expect(await socket.closed).toMatchObject({ code: 4400 });
  });

  it.each([
    { 1: 7 },
    { 1: [7] },
    { 1: { room: {} } },
    { 1: 'cursor', 2: [[]] },
  ])('a cursor in live.seen that is not a string, %j: 4400, with the reason', async (seen) => {
    const socket = await open({ init: false });
    socket.send({ type: 'connection_init', payload: { live: { seen } } });
    expect(await socket.closed).toEqual({ code: 4400, reason: 'live.seen has a cursor that is not a string' });
  });

  const nest = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  it.each([
    ['is nested deeper than 64', nest(61), nest(62)],
    ['is nested deeper than 64', nest(61), nest(100_000)],
    ['has more than 5000 values', `[${Array(4_993).fill('0')}]`, `[${Array(4_994).fill('0')}]`],
  ])('a message whose JSON %s: 4400, with the reason', async (fault, most, tooMuch) => {
    const send = (id: string, variable: string) =>
      socket.webSocket.send(
        `{"type":"subscribe","id":"${id}","payload":{"query":"{ __typename }","variables":{"a":${variable}}}}`,
      );
    const socket = await open();
    send('1', most);
    await socket.take(({ type, id }) => type === 'complete' && id === '1');
    send('2', tooMuch);
    expect(await socket.closed).toEqual({ code: 4400, reason: `The JSON ${fault}.` });
  });

  it('subscribe before the acknowledgement: 4401', async () => {
    const socket = await open({ init: false });
    socket.subscribe('1', '{ __typename }');
    expect(await socket.closed).toEqual({ code: 4401, reason: 'Unauthorized' });
  });

  it.each([
    ['a token that is none', { authorization: 'Bearer nonsense' }],
    ['a scheme that is not known', { authorization: 'Basic YTpi' }],
    ['an authorization that is no string', { authorization: 7 }],
  ])('%s: 4403', async (_title, init) => {
    const socket = await open({ init: false });
    socket.send({ type: 'connection_init', payload: init });
    expect(await socket.closed).toEqual({ code: 4403, reason: 'Forbidden' });
    expect(socket.received).toEqual([]);
  });

  it('an invalid token in the header of the upgrade: 4403', async () => {
    const socket = await open({ init: false, headers: bearer('nonsense') });
    socket.send({ type: 'connection_init' });
    expect(await socket.closed).toMatchObject({ code: 4403 });
  });

  it('no connection_init in time: 4408', async () => {
    const socket = await open({ init: false });
    socket.send({ type: 'ping' });
    expect(await socket.closed).toMatchObject({ code: 4408 });
  });

  it('an id that is in use: 4409, also while the first operation is being prepared, and whatever the length of the id', async () => {
    for (const id of ['1', 'x'.repeat(200)]) {
      const socket = await open();
      socket.send(subscribeTo(id), subscribeTo(id));
      expect(await socket.closed).toMatchObject({ code: 4409 });
    }
    const socket = await open();
    await socket.follow('2', events());
    socket.send(subscribeTo('2'));
    expect(await socket.closed).toEqual({ code: 4409, reason: 'Subscriber for 2 already exists' });
  });

  it('a second connection_init: 4429, also while the first one is being checked', async () => {
    const late = await open();
    late.send({ type: 'connection_init' });
    expect(await late.closed).toMatchObject({ code: 4429 });
    const early = await open({ init: false });
    early.send({ type: 'connection_init' }, { type: 'connection_init' });
    expect(await early.closed).toMatchObject({ code: 4429 });
  });

  it('messages after the error are not run', async () => {
    const socket = await open({ init: bearer(ada.token) });
    const query = `mutation { createRoom(input: { name: "behind a fault" }) { room { id } } }`;
    socket.send({ type: 'hello' }, { type: 'subscribe', id: '1', payload: { query } });
    expect(await socket.closed).toMatchObject({ code: 4400 });
    expect(await postroom.ask('{ roomByName(name: "behind a fault") { id } }')).toEqual({ roomByName: null });
  });
});

describe('an error in an operation ends only that operation', () => {
  const deep = `{ users { data { ${'posts { author { '.repeat(6)} id ${'} }'.repeat(6)} } } }`;

  it.each([
    ['a syntax error', '{', 'GRAPHQL_PARSE_FAILED'],
    ['an empty document', '', 'GRAPHQL_PARSE_FAILED'],
    ['an unknown fragment', '{ ...Nope }', 'GRAPHQL_VALIDATION_FAILED'],
    ['a fragment that holds itself', '{ ...A } fragment A on Query { ...A }', 'GRAPHQL_VALIDATION_FAILED'],
    ['an unknown field', '{ nope }', 'GRAPHQL_VALIDATION_FAILED'],
    ['two roots of one subscription', 'subscription { a: __typename b: __typename }', 'GRAPHQL_VALIDATION_FAILED'],
    ['a document that nests too deeply', deep, 'DEPTH_LIMIT_EXCEEDED'],
    ['an operation named __proto__', 'query __proto__ { nope }', 'GRAPHQL_VALIDATION_FAILED'],
    ['several operations and no name', 'query a { __typename } query b { __typename }', 'OPERATION_NOT_FOUND'],
    ['a variable that is missing', 'query ($id: ID!) { room(id: $id) { id } }', 'VARIABLES_INVALID'],
    ['a room that is not there', 'subscription { roomEvents(room: "none") { cursor } }', 'NOT_FOUND'],
    ['a page too long', '{ users(limit: 101) { data { id } } }', 'VALIDATION_ERROR'],
  ])('%s', async (_title, query, code) => {
    const socket = await open();
    socket.subscribe('1', query);
    const answer = await socket.take();
    const [error] = answer.type === 'error' ? answer.payload : answer.payload.errors;
    expect(error.extensions.code).toBe(code);
    const overHttp = await postroom.send(query);
    if (!query.startsWith('subscription')) expect([error]).toEqual(overHttp.errors);
    // Errors of an execution are part of its result. After an error before the execution no complete follows.
    if (answer.type === 'next') expect(await socket.take()).toEqual({ type: 'complete', id: '1' });
    await socket.follow('1', events());
  });

  it('a query and a mutation are answered by next and complete, as over HTTP', async () => {
    const socket = await open({ init: bearer(ada.token) });
    const query = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { title } } }';
    socket.subscribe('write', query, { input: { room, title: 'over a socket' } });
    expect(await socket.take()).toEqual({
      type: 'next',
      id: 'write',
      payload: { data: { createPost: { post: { title: 'over a socket' } } } },
    });
    expect(await socket.take()).toEqual({ type: 'complete', id: 'write' });
    socket.subscribe('write', query, { input: { room, title: '' } });
    const { payload } = await socket.take();
    const overHttp = await postroom.send(query, { input: { room, title: '' } }, ada.token);
    expect(payload).toEqual({ errors: overHttp.errors, data: { createPost: null } });
    expect(payload.errors[0].extensions).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'title' }] });
  });

  it('a mutation without credentials is UNAUTHENTICATED, and the socket stays open', async () => {
    const socket = await open();
    socket.subscribe('1', 'mutation { createRoom(input: { name: "no" }) { room { id } } }');
    expect((await socket.take()).payload.errors[0].extensions.code).toBe('UNAUTHENTICATED');
    await socket.settle();
  });

  it('subscriptions over the limit of a socket are refused; a subscription that ends makes way for another', async () => {
    const socket = await open();
    for (let index = 0; index < 5; index += 1) await socket.follow(`s${index}`, events());
    socket.send(subscribeTo('s5'));
    expect(await socket.take()).toMatchObject({
      type: 'error',
      id: 's5',
      payload: [{ extensions: { code: 'SUBSCRIPTION_LIMIT_EXCEEDED' } }],
    });
    socket.send({ type: 'complete', id: 's0' });
    await socket.follow('s5', events());
    const neighbour = await open();
    await neighbour.follow('s0', events());
  });
});

describe('pings and completes', () => {
  it('a ping is answered by a pong with the same payload, also before connection_init', async () => {
    const socket = await open({ init: false });
    const payload = { a: [1, { b: null }], ['__proto__']: 'own' };
    socket.send({ type: 'ping', payload }, { type: 'ping' }, { type: 'pong', payload });
    expect(await socket.take()).toEqual({ type: 'pong', payload });
    expect(await socket.take()).toEqual({ type: 'pong' });
    socket.send({ type: 'connection_init' });
    expect(await socket.take()).toEqual({ type: 'connection_ack' });
  });

  it('a complete with an unknown id is ignored', async () => {
    const socket = await open({ init: false });
    socket.send({ type: 'complete', id: 'none' }, { type: 'complete', id: '__proto__' }, { type: 'connection_init' });
    expect(await socket.take()).toEqual({ type: 'connection_ack' });
    socket.send({ type: 'complete', id: 'none' });
    await socket.settle();
    expect(socket.received).toHaveLength(2);
  });

  it('a complete is not answered, and no event follows it', async () => {
    const socket = await open();
    await socket.follow('1', events());
    socket.send({ type: 'complete', id: '1' });
    await socket.settle();
    const before = socket.received.length;
    await postroom.createPost(ada, room, 'unheard');
    await socket.settle();
    expect(socket.received.slice(before).map(({ type }) => type)).toEqual(['pong']);
  });

  it('a complete in the same packet as its subscribe ends the operation', async () => {
    const socket = await open({ init: bearer(ada.token) });
    socket.send(subscribeTo('1'), { type: 'complete', id: '1' });
    const query = 'mutation { createRoom(input: { name: "taken back" }) { room { id } } }';
    for (const [id, payload] of [
      ['2', nothing],
      ['3', { query }],
    ] as const) {
      socket.send({ type: 'subscribe', id, payload }, { type: 'complete', id });
    }
    await socket.settle();
    await postroom.createPost(ada, room, 'unheard as well');
    await socket.settle();
    expect(socket.received.map(({ type }) => type)).toEqual(['connection_ack', 'pong', 'pong']);
    expect(await postroom.ask('{ roomByName(name: "taken back") { id } }')).toEqual({ roomByName: null });
  });

  it('a mutation does not wait for operations that were completed before they began', async () => {
    const socket = await open({ init: bearer(ada.token) });
    socket.send(subscribeTo('1'), { type: 'complete', id: '1' });
    socket.subscribe('2', 'mutation { createRoom(input: { name: "not held up" }) { room { name } } }');
    const data = { createRoom: { room: { name: 'not held up' } } };
    expect(await socket.take()).toEqual({ type: 'next', id: '2', payload: { data } });
  });

  it('an id is free again as soon as its operation has ended', async () => {
    const socket = await open();
    for (let time = 0; time < 20; time += 1) {
      socket.subscribe('same', '{ __typename }');
      expect(await socket.take()).toEqual({ type: 'next', id: 'same', payload: { data: { __typename: 'Query' } } });
      expect(await socket.take()).toEqual({ type: 'complete', id: 'same' });
    }
    socket.subscribe('same', '{');
    expect(await socket.take()).toMatchObject({ type: 'error', id: 'same' });
    await socket.follow('same', events());
  });

  it('when an id is completed and used again in one packet, only the new operation answers under it', async () => {
    const socket = await open();
    await socket.follow('same', events());
    for (let time = 0; time < 10; time += 1) {
      const old: Message = { type: 'subscribe', id: 'query', payload: { query: '{ rooms { data { id } } }' } };
      socket.send(old, { type: 'complete', id: 'query' }, { type: 'subscribe', id: 'query', payload: nothing });
      expect(await socket.take()).toMatchObject({ id: 'query', payload: { data: { __typename: 'Query' } } });
      expect(await socket.take()).toEqual({ type: 'complete', id: 'query' });
      socket.send({ type: 'complete', id: 'same' }, subscribeTo('same'));
      expect(await socket.take()).toMatchObject({ type: 'ping', payload: { live: { same: expect.any(String) } } });
    }
    await postroom.createPost(ada, room, 'once');
    expect(await socket.take()).toMatchObject({ type: 'next', id: 'same' });
    await socket.settle();
    expect(socket.nexts('same')).toHaveLength(1);
  });

  it.each([
    'toString',
    '__proto__',
    'constructor',
    'hasOwnProperty',
    '💥 " \\ \u0000',
    ' ',
  ])('the id %j is like any other', async (id) => {
    const socket = await open();
    await socket.follow(id, events());
    await postroom.createPost(ada, room, 'for any id');
    const message = await socket.take();
    expect(message).toMatchObject({
      type: 'next',
      id,
      payload: { data: { roomEvents: { post: { title: 'for any id' } } } },
    });
    socket.send({ type: 'complete', id });
    await socket.follow(id, events());
  });

  it('a binary frame is read as text, whole or in fragments', async () => {
    const socket = await open();
    const [first, second] = [Buffer.from('{"type":"ping","pay'), Buffer.from('load":{"a":"é"}}')];
    socket.webSocket.send(Buffer.concat([first, second]), { binary: true });
    expect(await socket.take()).toEqual({ type: 'pong', payload: { a: 'é' } });
    socket.webSocket.send(first, { binary: true, fin: false });
    socket.webSocket.send(second, { binary: true, fin: true });
    expect(await socket.take()).toEqual({ type: 'pong', payload: { a: 'é' } });
  });
});

describe('frames', () => {
  it('a frame over 256 KiB closes the socket with 1009, and its subscriptions end', async () => {
    const server = await launchForTest();
    const owner = await server.signUp('Owner');
    const lobby = await server.createRoom(owner, 'lobby');
    const socket = await ProtocolSocket.open(server.webSocketUrl);
    await socket.follow('1', `subscription { roomEvents(room: "${lobby}") { cursor } }`);
    socket.webSocket.send(`{"type":"ping","payload":{"a":"${'x'.repeat(256 * 1024)}"}}`);
    expect(await socket.closed).toMatchObject({ code: 1009 });
    await untilCounts(server, nothingLeft);
  });
});

describe('upgrades', () => {
  const upgrade = (path: string) =>
    `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
    'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

  it('at any other address are 404 and the connection ends; a connection that is reset affects no other client', async () => {
    const { hostname, port } = new URL(postroom.url);
    const socket = connect(Number(port), hostname).setEncoding('latin1');
    socket.write(upgrade('/elsewhere'));
    const [text] = await once(socket, 'data');
    expect(text).toMatch(/^HTTP\/1\.1 404 /);
    await once(socket, 'close');
    for (let time = 0; time < 50; time += 1) {
      const reset = connect(Number(port), hostname);
      reset.on('error', () => {});
      await once(reset, 'connect');
      reset.write(upgrade('/elsewhere'), () => reset.resetAndDestroy());
      await once(reset, 'close');
    }
    expect(await postroom.ask('{ __typename }')).toEqual({ __typename: 'Query' });
  });
});
