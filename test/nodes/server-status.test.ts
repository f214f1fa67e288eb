import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EventStream, multipartHeaders } from '../support/clients/event-stream.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { launchTestAccounts } from '../support/identity/test-accounts.ts';
import {
  grantAdmin,
  launchForTest,
  type Person,
  type Postroom,
  run,
  scratchFolder,
} from '../support/server/postroom.ts';
import { advanceTime, withVirtualTimers } from '../support/server/virtual-timers.ts';

/* The state of the server, and its stream. */

const bearer = ({ token }: Person) => ({ authorization: `Bearer ${token}` });
const open = ({ webSocketUrl }: Postroom, person: Person) =>
  ProtocolSocket.open(webSocketUrl, { init: bearer(person) });
const query = 'subscription { serverStatusChanged { time } }';

async function launchWithAdmin(settings: Record<string, string> = {}) {
  const file = join(scratchFolder(), 'postroom.db');
  const all = { DATABASE_URL: `sqlite:${file}`, ...settings };
  const postroom = await launchForTest(all);
  const admin = await postroom.signUp('admin');
  await grantAdmin(all, admin);
  return { postroom, admin, settings: all, file };
}

it('the state of the server counts connections, subscriptions, operations, deliveries and errors', async () => {
  const { postroom, admin } = await withVirtualTimers(() => launchWithAdmin({ NODE_NAME: 'north' }));
  const room = await postroom.createRoom(admin, 'hall');
  const socket = await open(postroom, admin);
  await socket.follow('1', `subscription { roomEvents(room: "${room}") { cursor } }`);
  const status = `{ serverStatus {
    time nodes {
      name version nodeVersion startedAt connections subscriptions roomsFollowed slowConsumers memoryBytes eventLoopLagMs
      operationsPerSecond deliveriesPerSecond failedOperationsPerSecond lagMs queues { name depth }
    }
    bus { kind isUp } mostFollowedRooms { room { id name } followers } errors { code count lastAt }
  } }`;
  const read = async () => (await postroom.ask(status, {}, admin.token)).serverStatus;
  const first = await read();
  expect(first).toMatchObject({
    nodes: [
      {
        ...{ name: 'north', nodeVersion: process.version, connections: 1, subscriptions: 1, roomsFollowed: 1 },
        slowConsumers: 0,
        queues: ['transactions', 'longReads', 'bus'].map((name) => ({ name, depth: expect.any(Number) })),
      },
    ],
    bus: { isUp: true },
    mostFollowedRooms: [{ room: { id: room, name: 'hall' }, followers: 1 }],
    errors: [],
  });
  expect(Date.parse(first.nodes[0].startedAt)).toBeLessThan(Date.parse(first.time));
  expect(first.nodes[0].memoryBytes).toBeGreaterThan(10_000_000);
  for (let n = 0; n < 3; n += 1) await postroom.send('{ nothing }');
  await postroom.send('{ node(id: "x") { id } }', {}, 'no token');
  const refused = (await read()).errors;
  expect(refused).toEqual([
    { code: 'GRAPHQL_VALIDATION_FAILED', count: 3, lastAt: expect.any(String) },
    { code: 'UNAUTHENTICATED', count: 1, lastAt: expect.any(String) },
  ]);
  // Rates are those of the last full second.
  advanceTime(1_000);
  await Promise.all([postroom.createPost(admin, room, 't'), postroom.send('{ nothing }')]);
  await socket.take(({ type }) => type === 'next');
  // An operation is counted after its answer.
  await read();
  advanceTime(1_000);
  const [node] = (await read()).nodes;
  const { operationsPerSecond: all, failedOperationsPerSecond: failed, deliveriesPerSecond: delivered } = node;
  expect([failed > 0, delivered > 0, node.lagMs >= 0]).toEqual([true, true, true]);
  expect(all).toBeGreaterThanOrEqual(failed + delivered);
});

it('a subscriber receives the state at once and then once a second, over every transport', async () => {
  const { postroom, admin } = await withVirtualTimers(() => launchWithAdmin());
  const socket = await open(postroom, admin);
  const { results } = socket.subscribe('1', query);
  const stream = await EventStream.open(postroom.graphqlUrl, query, bearer(admin));
  const multipart = await EventStream.open(postroom.graphqlUrl, query, { ...bearer(admin), ...multipartHeaders });
  const inboxes = [results, stream.results, multipart.results];
  const takeAll = () => Promise.all(inboxes.map((inbox) => inbox.next()));
  await takeAll();
  for (let second = 1; second <= 3; second += 1) {
    advanceTime(999);
    await socket.settle();
    expect(inboxes.map(({ all }) => all.length)).toEqual([second, second, second]);
    advanceTime(1);
    for (const { data } of await takeAll()) expect(data.serverStatusChanged).toEqual({ time: expect.any(String) });
  }
  // The stream has no position, from which a client could try to resume.
  expect(stream.lastEventId).toBeUndefined();
  expect(multipart.lastEventId).toBeUndefined();
  expect(socket.received.filter(({ type }) => type === 'ping')).toEqual([]);
});

it('equal subscriptions of one admin receive the same state, which is read once; it is not read without subscribers', async () => {
  const { postroom, admin } = await withVirtualTimers(() => launchWithAdmin({ LOG_LEVEL: 'debug' }));
  const socket = await open(postroom, admin);
  const [one, other] = [socket.subscribe('1', query), socket.subscribe('2', query)];
  // The first state of each is its own.
  await Promise.all([one.results.next(), other.results.next()]);
  for (let second = 1; second <= 2; second += 1) {
    advanceTime(1_000);
    const [ofOne, ofOther] = await Promise.all([one.results.next(), other.results.next()]);
    expect(ofOne.data.serverStatusChanged.time).toBe(ofOther.data.serverStatusChanged.time);
  }
  for (const id of ['1', '2']) socket.complete(id);
  await socket.settle();
  const statements = () => postroom.log.flatMap(({ sql }) => (typeof sql === 'string' ? [sql] : []));
  const reads = () => statements().filter((sql) => sql === 'select 1 from settings limit 1').length;
  const checks = () => statements().filter((sql) => sql.includes('"sessionsFrom"') && sql.includes(' in (')).length;
  const before = { reads: reads(), checks: checks() };
  // Credentials are checked once a second, which shows that time has passed.
  for (let second = 1; second <= 3; second += 1) {
    advanceTime(1_000);
    await expect.poll(checks).toBe(before.checks + second);
  }
  expect(reads()).toBe(before.reads);
});

it('a subscriber that does not read receives only the latest state when it reads again', async () => {
  const settings = { LIMIT_COST: '1000000', LIMIT_ALIASES: '100' };
  const { postroom, admin } = await withVirtualTimers(() => launchWithAdmin(settings));
  const room = await postroom.createRoom(admin, 'hall');
  const body = 'x'.repeat(20_000);
  for (let n = 0; n < 20; n += 1) await postroom.createPost(admin, room, 't', body);
  const follower = await open(postroom, admin);
  await follower.follow('1', `subscription { roomEvents(room: "${room}") { cursor } }`);
  const posts = Array.from({ length: 20 }, (_, n) => `p${n}: posts(first: 20) { nodes { body } }`).join(' ');
  const slow = await open(postroom, admin);
  slow.rawSocket.pause();
  // 8 MB, which the buffers of the network do not hold.
  const { results } = slow.subscribe(
    '1',
    `subscription { serverStatusChanged { time mostFollowedRooms { room { ${posts} } } } }`,
  );
  const other = await EventStream.open(postroom.graphqlUrl, query, bearer(admin));
  const passed = [await other.results.next()];
  for (let second = 1; second <= 3; second += 1) {
    advanceTime(1_000);
    passed.push(await other.results.next());
  }
  slow.rawSocket.resume();
  const [first, second] = await results.take(2);
  const timeOf = (result: (typeof passed)[number] | undefined) => Date.parse(result?.data.serverStatusChanged.time);
  expect(timeOf(first)).toBeLessThan(timeOf(second));
  expect(timeOf(second)).toBeGreaterThanOrEqual(timeOf(passed.at(-2)));
  await slow.settle();
  expect(results.all).toHaveLength(2);
});

it('a state that is longer than LIMIT_ANSWER_BYTES is replaced by an error, and the stream continues', async () => {
  const { postroom, admin } = await launchWithAdmin({ LIMIT_ANSWER_BYTES: '2000' });
  const socket = await open(postroom, admin);
  const times = Array.from({ length: 30 }, (_, n) => `${'x'.repeat(60)}${n}: time`).join(' ');
  const { results } = socket.subscribe('1', `subscription { serverStatusChanged { ${times} } }`);
  for (const { data, errors } of await results.take(2)) {
    expect(data ?? null).toBeNull();
    expect(errors?.[0]?.extensions.code).toBe('COST_LIMIT_EXCEEDED');
  }
});

it('a stream of the state shows that the database fails, and that it is back', async () => {
  const { postroom, admin, file } = await launchWithAdmin();
  const room = await postroom.createRoom(admin, 'hall');
  const socket = await open(postroom, admin);
  await socket.follow('1', `subscription { roomEvents(room: "${room}") { cursor } }`);
  const { results } = socket.subscribe(
    '2',
    'subscription { serverStatusChanged { database { isUp } mostFollowedRooms { room { cursor } } } }',
  );
  const cursor = await postroom.cursorOf(room);
  expect((await results.next()).data.serverStatusChanged).toEqual({
    database: { isUp: true },
    mostFollowedRooms: [{ room: { cursor } }],
  });
  renameSync(file, `${file}.away`);
  await results.next(({ data }) => !data.serverStatusChanged.database.isUp);
  renameSync(`${file}.away`, file);
  await results.next(({ data }) => data.serverStatusChanged.database.isUp);
});

it('the streams of an admin end within two seconds after the role was revoked', async () => {
  const { postroom, admin, settings } = await withVirtualTimers(() => launchWithAdmin());
  const socket = await open(postroom, admin);
  const { results } = socket.subscribe('1', query);
  await results.next();
  const stream = await EventStream.open(postroom.graphqlUrl, query, bearer(admin));
  await run(['revoke-admin', admin.email], settings);
  advanceTime(2_000);
  expect((await socket.closed).code).toBe(4403);
  await stream.closed;
  expect(stream.received.at(-2)?.data.errors[0].extensions.code).toBe('UNAUTHENTICATED');
});

it('streams of the state are refused beyond the limits of subscriptions', async () => {
  const { postroom, admin } = await launchWithAdmin({ LIMIT_SUBSCRIPTIONS: '2', LIMIT_COST: '111' });
  const socket = await open(postroom, admin);
  for (const id of ['1', '2']) await socket.subscribe(id, query).results.next();
  expect((await socket.subscribe('3', query).refused)[0]?.extensions.code).toBe('SUBSCRIPTION_LIMIT_EXCEEDED');
  // Different selections cost 50 each: five times LIMIT_COST in all, with the one above.
  const other = (n: number) => `subscription Number${n} { serverStatusChanged { time } }`;
  const codes: string[] = [];
  for (let n = 0; n < 12; n += 1) {
    const { status, refusal } = await EventStream.open(postroom.graphqlUrl, other(n), bearer(admin)).then((stream) =>
      stream.status === 200 ? { status: 200, refusal: undefined } : stream,
    );
    codes.push(status === 200 ? 'OK' : String(refusal?.errors[0]?.extensions.code));
  }
  const refused = Array(2).fill('SUBSCRIPTION_LIMIT_EXCEEDED');
  expect(codes).toEqual([...Array(10).fill('OK'), ...refused]);
});

it('a stream of the state is refused without the role and the scope ADMIN, over both transports', async () => {
  const { postroom, member, applications } = await launchTestAccounts();
  for (const [authorization, code] of [
    [undefined, 'UNAUTHENTICATED'],
    [`Bearer ${member.token}`, 'FORBIDDEN'],
    [`ApiKey ${applications['key READ WRITE'].key}`, 'FORBIDDEN'],
  ]) {
    const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization } });
    expect((await socket.subscribe('1', query).refused)[0]?.extensions.code).toBe(code);
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const stream = await EventStream.open(postroom.graphqlUrl, query, headers);
    expect(stream.refusal.errors[0]?.extensions.code).toBe(code);
  }
});
