import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EventStream, multipartHeaders } from '../support/clients/event-stream.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { isPostgresTest } from '../support/database/test-database.ts';
import { launchTestAccounts } from '../support/identity/test-accounts.ts';
import {
  grantAdmin,
  launchForTest,
  type Person,
  type Postroom,
  run,
  scratchFolder,
} from '../support/server/postroom.ts';

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
  const { postroom, admin } = await launchWithAdmin({ NODE_NAME: 'north' });
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
  await expect
    .poll(async () => {
      await Promise.all([postroom.createPost(admin, room, 't'), postroom.send('{ nothing }')]);
      const [node] = (await read()).nodes;
      const { operationsPerSecond: all, failedOperationsPerSecond: failed, deliveriesPerSecond: delivered } = node;
      return all >= failed + delivered && failed > 0 && delivered > 0 && node.lagMs >= 0;
    })
    .toBe(true);
});

it('a subscriber receives the state at once and then once a second, over every transport', async () => {
  const { postroom, admin } = await launchWithAdmin();
  const socket = await open(postroom, admin);
  const { results } = socket.subscribe('1', query);
  const stream = await EventStream.open(postroom.graphqlUrl, query, bearer(admin));
  const multipart = await EventStream.open(postroom.graphqlUrl, query, { ...bearer(admin), ...multipartHeaders });
  for (const inbox of [results, stream.results, multipart.results]) {
    const times = (await inbox.take(4)).map(({ data }) => Date.parse(data.serverStatusChanged.time));
    const [, second = 0, , fourth = 0] = times;
    expect(fourth - second).toBeGreaterThan(1_500);
    expect(fourth - second).toBeLessThan(4_000);
  }
  // The stream has no position, from which a client could try to resume.
  expect(stream.lastEventId).toBeUndefined();
  expect(multipart.lastEventId).toBeUndefined();
  expect(socket.received.filter(({ type }) => type === 'ping')).toEqual([]);
});

it('equal subscriptions of one admin receive the same state, which is read once; it is not read without subscribers', async () => {
  const { postroom, admin } = await launchWithAdmin({ LOG_LEVEL: 'debug' });
  const socket = await open(postroom, admin);
  const [one, other] = [socket.subscribe('1', query), socket.subscribe('2', query)];
  // The first state of each is its own.
  await Promise.all([one.results.next(), other.results.next()]);
  const times = async ({ results }: typeof one) =>
    (await results.take(2)).map(({ data }) => data.serverStatusChanged.time);
  const [ofOne, ofOther] = await Promise.all([times(one), times(other)]);
  expect(ofOne).toEqual(ofOther);
  for (const id of ['1', '2']) socket.complete(id);
  await socket.settle();
  // A room stream: its heads are compared once in 1.5 s, which shows that time has passed.
  const room = await postroom.createRoom(admin, 'hall');
  await socket.follow('3', `subscription { roomEvents(room: "${room}") { cursor } }`);
  const statements = () => postroom.log.flatMap(({ sql }) => (typeof sql === 'string' ? [sql] : []));
  const reads = () => statements().filter((sql) => sql === 'select 1 from settings limit 1').length;
  const checks = () => statements().filter((sql) => sql.includes('"sessionsFrom"') && sql.includes(' in (')).length;
  const before = { reads: reads(), checks: checks() };
  // Credentials are checked once a second.
  await expect.poll(() => checks() - before.checks, { timeout: 10_000 }).toBeGreaterThanOrEqual(3);
  expect(reads()).toBe(before.reads);
});

it('a subscriber that does not read receives only the latest state when it reads again', async () => {
  const { postroom, admin } = await launchWithAdmin({ LIMIT_COST: '1000000', LIMIT_ALIASES: '100' });
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
  const passed = await other.results.take(4);
  slow.rawSocket.resume();
  const [first, second] = await results.take(2);
  const timeOf = (result: (typeof passed)[number] | undefined) => Date.parse(result?.data.serverStatusChanged.time);
  expect(timeOf(second) - timeOf(first)).toBeGreaterThan(1_900);
  expect(timeOf(second)).toBeGreaterThanOrEqual(timeOf(passed.at(-2)));
}, 20_000);

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
  if (isPostgresTest) return;
  renameSync(file, `${file}.away`);
  await results.next(({ data }) => !data.serverStatusChanged.database.isUp);
  renameSync(`${file}.away`, file);
  await results.next(({ data }) => data.serverStatusChanged.database.isUp);
});

it('the streams of an admin end within two seconds after the role was revoked', async () => {
  const { postroom, admin, settings } = await launchWithAdmin();
  const socket = await open(postroom, admin);
  const { results } = socket.subscribe('1', query);
  await results.next();
  const stream = await EventStream.open(postroom.graphqlUrl, query, bearer(admin));
  await run(['revoke-admin', admin.email], settings);
  const revokedAt = performance.now();
  expect((await socket.closed).code).toBe(4403);
  await stream.closed;
  expect(performance.now() - revokedAt).toBeLessThan(2_000);
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
