import { createClient } from 'graphql-ws';
import { expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { EventStream, multipartHeaders } from '../support/clients/event-stream.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { sendAs } from '../support/identity/credentials.ts';
import { launchTestAccounts } from '../support/identity/test-accounts.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';

/* The open connections of one node, and their end by an admin. Two nodes are in nodes-inventory.test.ts. */

const bearer = ({ token }: Person) => ({ authorization: `Bearer ${token}` });

const open = ({ webSocketUrl }: Postroom, person?: Person) =>
  ProtocolSocket.open(webSocketUrl, person && { init: bearer(person) });

async function list(postroom: Postroom, admin: Person, fields: string, args = '') {
  return (await postroom.ask(`{ connections${args} { ${fields} } }`, {}, admin.token)).connections;
}

const end = (postroom: Postroom, admin: Person, id: string) =>
  postroom.send('mutation ($id: ID!) { endConnection(input: { id: $id }) { id } }', { id }, admin.token);

it('an admin sees WebSockets and event streams with their viewers, in the order in which they were opened', async () => {
  const { postroom, admin, member, owner } = await launchTestAccounts();
  const room = await postroom.createRoom(owner, 'hall');
  const query = `subscription { roomEvents(room: "${room}") { __typename } }`;
  const before = Date.now();
  const socket = await open(postroom, member);
  for (const id of ['1', '2']) await socket.follow(id, query);
  await EventStream.open(postroom.graphqlUrl, query, bearer(owner));
  await EventStream.open(postroom.graphqlUrl, query, { ...bearer(owner), ...multipartHeaders });
  await open(postroom);
  const fields = 'id viewer { name } address transport since node subscriptions bytesWaiting lagMs';
  const { nodes, total } = await list(postroom, admin, `nodes { ${fields} } total`);
  const common = { id: expect.any(String), address: '127.0.0.1', node: expect.any(String), bytesWaiting: 0, lagMs: 0 };
  expect(nodes).toMatchObject([
    { ...common, viewer: { name: 'member' }, transport: 'WEBSOCKET', subscriptions: 2 },
    { ...common, viewer: { name: 'owner cast' }, transport: 'SSE', subscriptions: 1 },
    { ...common, viewer: { name: 'owner cast' }, transport: 'MULTIPART', subscriptions: 1 },
    { ...common, viewer: null, transport: 'WEBSOCKET', subscriptions: 0 },
  ]);
  expect(total).toBe(4);
  // The times of ids never decrease in one process, and another test may have moved its clock: they can be after Date.now().
  const times: number[] = nodes.map(({ since }: { since: string }) => Date.parse(since));
  expect([before, ...times]).toEqual([before, ...times].sort());
  socket.complete('1');
  await socket.settle();
  await expect
    .poll(() => list(postroom, admin, 'nodes { subscriptions }', '(first: 1)'))
    .toEqual({ nodes: [{ subscriptions: 1 }] });
  await socket.close();
  await expect.poll(() => list(postroom, admin, 'total')).toEqual({ total: 3 });
});

it('a connection shows the credentials that it has now', async () => {
  const { postroom, admin, member } = await launchTestAccounts();
  const socket = await open(postroom);
  expect(await list(postroom, admin, 'nodes { viewer { id } }')).toEqual({ nodes: [{ viewer: null }] });
  socket.send({ type: 'ping', payload: bearer(member) });
  await socket.take(({ type }) => type === 'pong');
  await expect
    .poll(() => list(postroom, admin, 'nodes { viewer { id } }'))
    .toEqual({ nodes: [{ viewer: { id: member.id } }] });
});

it('the lag of a connection is the time from its latest live event to the write, over every transport', async () => {
  const { postroom, admin, member, owner } = await launchTestAccounts();
  const room = await postroom.createRoom(owner, 'hall');
  const query = `subscription ($after: String) { roomEvents(room: "${room}", after: $after) { cursor } }`;
  const start = await postroom.cursorOf(room);
  await postroom.createPost(owner, room, 'earlier');
  const socket = await open(postroom, member);
  const stream = await EventStream.open(postroom.graphqlUrl, query, bearer(member), { after: start });
  const headers = { ...bearer(member), ...multipartHeaders };
  const multipart = await EventStream.open(postroom.graphqlUrl, query, headers, { after: start });
  const { results } = socket.subscribe('1', query, { after: start });
  const inboxes = [results, stream.results, multipart.results];
  for (const inbox of inboxes) await inbox.next();
  // Events of a replay do not count.
  expect(await list(postroom, admin, 'nodes { lagMs }')).toEqual({ nodes: inboxes.map(() => ({ lagMs: 0 })) });
  const readLags = async () => {
    const posting = postroom.createPost(owner, room, 'live');
    await Promise.all([posting, ...inboxes.map((inbox) => inbox.next())]);
    const { nodes } = await list(postroom, admin, 'nodes { lagMs }');
    return nodes.map(({ lagMs }: { lagMs: number }) => lagMs);
  };
  // The lag of an event is less than a millisecond on an idle machine.
  let lags: number[] = [];
  let elapsedMs = 0;
  while (!(lags.length > 0 && lags.every((lagMs) => lagMs > 0))) {
    const startedAt = performance.now();
    lags = await readLags();
    elapsedMs = performance.now() - startedAt;
  }
  // A wall clock is rounded to milliseconds.
  expect(Math.max(...lags)).toBeLessThanOrEqual(elapsedMs + 1);
});

it('a connection shows how many bytes its client has not read', async () => {
  const { postroom, admin, owner } = await launchTestAccounts();
  const room = await postroom.createRoom(owner, 'hall');
  const socket = await open(postroom, owner);
  await socket.follow('1', `subscription { roomEvents(room: "${room}") { ... on PostCreated { post { body } } } }`);
  socket.rawSocket.pause();
  const waiting = async () => (await list(postroom, admin, 'nodes { bytesWaiting }')).nodes[0].bytesWaiting;
  while ((await waiting()) === 0) {
    const posts = Array.from({ length: 20 }, () => postroom.createPost(owner, room, 't', 'x'.repeat(20_000)));
    await Promise.all(posts);
  }
  socket.rawSocket.resume();
  await expect.poll(waiting).toBe(0);
});

it('connections can be found by viewer, transport and address', async () => {
  const { postroom, admin, member, owner } = await launchTestAccounts();
  const room = await postroom.createRoom(owner, 'hall');
  await open(postroom, member);
  await open(postroom, owner);
  const query = `subscription { roomEvents(room: "${room}") { __typename } }`;
  for (const form of [{}, multipartHeaders])
    await EventStream.open(postroom.graphqlUrl, query, { ...bearer(owner), ...form });
  const count = async (filter: string) => {
    const { total, nodes } = await list(postroom, admin, 'total nodes { id }', `(filter: { ${filter} })`);
    expect(nodes).toHaveLength(total);
    return total;
  };
  expect(await count('')).toBe(4);
  expect(await count(`viewer: "${owner.id}"`)).toBe(3);
  expect(await count('transport: SSE')).toBe(1);
  expect(await count('transport: MULTIPART')).toBe(1);
  expect(await count(`viewer: "${owner.id}", transport: WEBSOCKET`)).toBe(1);
  expect(await count('address: "127.0.0.1"')).toBe(4);
  expect(await count('address: "192.0.2.1"')).toBe(0);
  expect(await count('viewer: null, transport: null, address: null')).toBe(4);
});

it('connections are read in pages', async () => {
  const { postroom, admin } = await launchTestAccounts();
  const sockets: ProtocolSocket[] = [];
  for (let n = 0; n < 5; n += 1) sockets.push(await open(postroom));
  const fields = 'edges { cursor node { id } } pageInfo { hasPreviousPage hasNextPage endCursor } total';
  const all = await list(postroom, admin, fields);
  const ids = (page: typeof all) => page.edges.map(({ node }: { node: { id: string } }) => node.id);
  const first = await list(postroom, admin, fields, '(first: 3)');
  expect(first.pageInfo).toEqual({ hasPreviousPage: false, hasNextPage: true, endCursor: first.edges[2].cursor });
  // A connection that is closed between two pages moves no other to another page.
  await end(postroom, admin, ids(first)[0]);
  await sockets[0]?.closed;
  const second = await list(postroom, admin, fields, `(first: 3, after: "${first.pageInfo.endCursor}")`);
  expect([...ids(first), ...ids(second)]).toEqual(ids(all));
  expect(second).toMatchObject({ total: 4, pageInfo: { hasPreviousPage: true, hasNextPage: false } });
});

it('arguments of connections that are out of range are refused', async () => {
  const { postroom, admin } = await launchTestAccounts();
  for (const [args, field, issue] of [
    ['first: 0', 'first', 'out_of_range'],
    ['first: 101', 'first', 'out_of_range'],
    ['after: "?"', 'after', 'invalid'],
    [`filter: { viewer: "${'x'.repeat(101)}" }`, 'filter.viewer', 'too_long'],
    [`filter: { address: "${'x'.repeat(101)}" }`, 'filter.address', 'too_long'],
  ]) {
    const { errors } = await postroom.send(`{ connections(${args}) { total } }`, {}, admin.token);
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field, issue }] });
  }
});

it('an ended WebSocket is closed with 1008, after which a stock client does not connect again by itself, but may', async () => {
  const { postroom, admin, member, owner } = await launchTestAccounts();
  const room = await postroom.createRoom(owner, 'hall');
  let opened = 0;
  const client = createClient({
    url: postroom.webSocketUrl,
    webSocketImpl: WebSocket,
    connectionParams: bearer(member),
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    on: {
      opened: () => {
        opened += 1;
      },
    },
  });
  onTestFinished(() => void client.dispose());
  const query = `subscription { roomEvents(room: "${room}") { __typename } }`;
  const follow = () =>
    new Promise<unknown>((resolve) => {
      client.subscribe({ query }, { next: resolve, error: resolve, complete: () => resolve('complete') });
    });
  const following = follow();
  const streaming = async () => (await list(postroom, admin, 'nodes { id subscriptions }')).nodes;
  await expect.poll(streaming).toMatchObject([{ subscriptions: 1 }]);
  const [{ id }] = await streaming();
  expect(await end(postroom, admin, id)).toMatchObject({ status: 200, data: { endConnection: { id } } });
  expect(await following).toMatchObject({ code: 1008, reason: 'Ended by an operator' });
  expect(opened).toBe(1);
  await expect.poll(() => list(postroom, admin, 'total')).toEqual({ total: 0 });
  const again = follow();
  await expect.poll(streaming).toMatchObject([{ subscriptions: 1 }]);
  await postroom.createPost(owner, room, 't');
  expect(await again).toMatchObject({ data: { roomEvents: { __typename: 'PostCreated' } } });
  expect((await streaming())[0].id).not.toBe(id);
});

it('an ended event stream ends with CONNECTION_ENDED and complete', async () => {
  const { postroom, admin, owner } = await launchTestAccounts();
  const room = await postroom.createRoom(owner, 'hall');
  const query = `subscription { roomEvents(room: "${room}") { __typename } }`;
  const stream = await EventStream.open(postroom.graphqlUrl, query, bearer(owner));
  const { nodes } = await list(postroom, admin, 'nodes { id }');
  expect((await end(postroom, admin, nodes[0].id)).status).toBe(200);
  await stream.closed;
  expect(stream.received.slice(-2)).toMatchObject([
    { event: 'next', data: { errors: [{ extensions: { code: 'CONNECTION_ENDED' } }] } },
    { event: 'complete' },
  ]);
});

it('a connection that does not exist, or has ended, is not found', async () => {
  const { postroom, admin } = await launchTestAccounts();
  await open(postroom);
  const { nodes } = await list(postroom, admin, 'nodes { id }');
  expect((await end(postroom, admin, nodes[0].id)).status).toBe(200);
  await expect.poll(() => list(postroom, admin, 'total')).toEqual({ total: 0 });
  for (const id of [nodes[0].id, 'nothing', 'x'.repeat(10_000), '\u0000'])
    expect(await end(postroom, admin, id)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
});

it('without the role ADMIN, or the scope ADMIN of a key, nobody sees or ends a connection', async () => {
  const { postroom, admin, member, applications } = await launchTestAccounts();
  const socket = await open(postroom, member);
  const { nodes } = await list(postroom, admin, 'nodes { id }');
  const { createApiKey } = await postroom.ask(
    'mutation { createApiKey(input: { name: "k", scopes: [READ, WRITE] }) { key } }',
    {},
    admin.token,
  );
  const operations = [
    '{ connections { total } }',
    '{ serverStatus { time } }',
    '{ load { users { operations } } }',
    '{ refusals { code } }',
    `mutation { endConnection(input: { id: "${nodes[0].id}" }) { id } }`,
  ];
  for (const operation of operations) {
    expect(await sendAs(postroom, undefined, operation)).toMatchObject({ status: 401 });
    expect(await sendAs(postroom, `Bearer ${member.token}`, operation)).toMatchObject({ status: 403 });
    for (const key of [createApiKey.key, applications['key READ WRITE'].key])
      expect(await sendAs(postroom, `ApiKey ${key}`, operation)).toMatchObject({ status: 403 });
    const ofKey = await sendAs(postroom, `ApiKey ${createApiKey.key}`, operation);
    expect(ofKey.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN', scope: 'ADMIN' } }]);
  }
  await socket.settle();
});
