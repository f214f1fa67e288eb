import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import type { Bus } from '../../src/live/bus/bus.ts';
import { openPostgresBus } from '../../src/live/bus/postgres.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { PostgresCluster, postgresPrograms } from '../support/database/postgres-cluster.ts';
import { newSessionKey } from '../support/database/test-database.ts';
import { readMetrics } from '../support/engine/metrics.ts';
import { seqOf, seqsBetween } from '../support/rooms/cursors.ts';
import { comparisonsOf } from '../support/rooms/heads.ts';
import { hasRedis, RedisServer } from '../support/rooms/redis-server.ts';
import { createUnreliablePair } from '../support/rooms/unreliable-bus.ts';
import { launchForTest, type Person, type Postroom, type Settings, scratchFolder } from '../support/server/postroom.ts';
import { advanceTime, withVirtualTimers } from '../support/server/virtual-timers.ts';

/* Two servers on one database: changes on `near`, subscribers on `far`. */

interface Nodes {
  near: Postroom;
  far: Postroom;
  ada: Person;
}

interface NodesOptions {
  settings?: Settings;
  buses?: [Bus, Bus];
}

async function launchNodes({ settings = {}, buses }: NodesOptions = {}): Promise<Nodes> {
  const all = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}`, LOG_LEVEL: 'debug', ...settings };
  const launch = (bus: Bus | undefined) => launchForTest(all, bus && { bus });
  const near = await launch(buses?.[0]);
  const far = await launch(buses?.[1]);
  return { near, far, ada: await near.signUp('Ada') };
}

interface Follower {
  from: number;
  socket: ProtocolSocket;
  seqs: () => number[];
  titles: () => (string | undefined)[];
}

async function follow(postroom: Postroom, room: string): Promise<Follower> {
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const query = `subscription { roomEvents(room: "${room}") { cursor ... on PostCreated { post { title } } } }`;
  const from = seqOf(await socket.follow('1', query));
  const events = () => socket.nexts('1').map(({ data }) => data.roomEvents);
  return {
    from,
    socket,
    seqs: () => events().map(({ cursor }) => seqOf(cursor)),
    titles: () => events().map(({ post }) => post?.title),
  };
}

/** Expects that `far` delivers the events of `near` as they were written, without reading them from the log. */
async function expectDeliveryByBus({ near, far, ada }: Nodes): Promise<void> {
  const room = await near.createRoom(ada, 'busy');
  const { from, seqs, titles } = await follow(far, room);
  const { log_reads_total: before = 0 } = await readMetrics(far);
  const written = Array.from({ length: 20 }, (_, index) => `post ${index + 1}`);
  for (const [index, title] of written.entries()) {
    await near.createPost(ada, room, title);
    await expect.poll(() => titles().length, { interval: 2 }).toBe(index + 1);
  }
  expect(titles()).toEqual(written);
  expect(seqs()).toEqual(seqsBetween(from, from + written.length));
  const { log_reads_total: after = Infinity, bus_up: isUp } = await readMetrics(far);
  // Without the bus each post takes a read.
  expect(after - before).toBe(0);
  expect(isUp).toBe(1);
  expect(await readReadiness(far)).toEqual({ status: 200, body: { status: 'ok', database: 'up', bus: 'up' } });
}

async function readReadiness({ url }: Postroom): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${url}/ready`);
  return { status: response.status, body: await response.json() };
}

/** The lines of the log about the bus. */
function linesOf({ log }: Postroom): unknown[] {
  return log.map(({ msg }) => msg).filter((msg) => String(msg).startsWith('the bus'));
}

const sessionKey = newSessionKey();

const down = 'the bus is down: events are read from the log more often';
const up = 'the bus is up again';

it('a wake-up for a room makes the feed read the log at once; an unknown room costs nothing', async () => {
  const [nearBus, farBus] = createUnreliablePair('losesAll');
  const { near, far, ada } = await withVirtualTimers(() => launchNodes({ buses: [nearBus, farBus] }));
  const room = await near.createRoom(ada, 'quiet');
  const { from, seqs } = await follow(far, room);
  const compared = comparisonsOf(far);
  await near.createPost(ada, room, 'unannounced');
  farBus.publish({ type: 'roomMayHaveChanged', roomId: randomUUID() });
  farBus.publish({ type: 'roomMayHaveChanged', roomId: room });
  await expect.poll(seqs, { interval: 2 }).toEqual([from + 1]);
  expect(comparisonsOf(far)).toBe(compared);
});

it('a wake-up for everything makes a node compare all rooms and check all credentials now, at most four times a second', async () => {
  const [nearBus, farBus] = createUnreliablePair('losesAll');
  const launch = () => launchNodes({ buses: [nearBus, farBus] });
  const { near, far, ada } = await withVirtualTimers(launch, { withClock: true });
  const room = await near.createRoom(ada, 'quiet');
  const { from, seqs } = await follow(far, room);
  const key = await near.ask(
    'mutation { createApiKey(input: { name: "k", scopes: [READ] }) { key apiKey { id } } }',
    {},
    ada.token,
  );
  const { key: text, apiKey } = key.createApiKey;
  const application = await ProtocolSocket.open(far.webSocketUrl, { init: { authorization: `ApiKey ${text}` } });
  const rounds = 4;
  const compared = comparisonsOf(far);
  // A second passes in all: the periodic comparison does not run.
  for (let round = 1; round <= rounds; round += 1) {
    await near.createPost(ada, room, 'unannounced');
    for (let index = 0; index < 100; index += 1) farBus.publish({ type: 'anythingMayHaveChanged' });
    advanceTime(0);
    if (round > 1) advanceTime(249);
    await far.ask('{ __typename }');
    if (round > 1) expect(seqs()).toHaveLength(round - 1);
    advanceTime(1);
    await expect.poll(() => seqs().length, { interval: 2 }).toBe(round);
  }
  expect(seqs()).toEqual(seqsBetween(from, from + rounds));
  expect(comparisonsOf(far) - compared).toBe(rounds);
  await near.ask(
    'mutation ($id: ID!) { revokeApiKey(input: { id: $id }) { apiKey { id } } }',
    { id: apiKey.id },
    ada.token,
  );
  farBus.publish({ type: 'anythingMayHaveChanged' });
  advanceTime(250);
  expect((await application.closed).code).toBe(4403);
});

describe.skipIf(!hasRedis)(`two nodes with Redis${hasRedis ? '' : ', which is not installed here'}`, () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await RedisServer.launch();
  });
  afterAll(() => redis?.stop());

  it('an event of one node is delivered by the other as it was written, without a read of the log', async () => {
    await expectDeliveryByBus(await withVirtualTimers(() => launchNodes({ settings: { REDIS_URL: redis.url } })));
  });

  it('a post whose text is too large for a message is delivered with its text', async () => {
    const { near, far, ada } = await launchNodes({ settings: { REDIS_URL: redis.url } });
    const room = await near.createRoom(ada, 'long');
    const socket = await ProtocolSocket.open(far.webSocketUrl);
    await socket.follow('1', `subscription { roomEvents(room: "${room}") { ... on PostCreated { post { body } } } }`);
    const body = '\u0001ä'.repeat(10_000);
    await near.createPost(ada, room, 'long', body);
    await expect.poll(() => socket.nexts('1').map(({ data }) => data.roomEvents.post.body)).toEqual([body]);
  });

  it('while Redis is stopped, streams continue, /ready and the log say so, and heads are compared every 250 ms', async () => {
    const { near, far, ada } = await withVirtualTimers(() => launchNodes({ settings: { REDIS_URL: redis.url } }));
    const room = await near.createRoom(ada, 'busy');
    const { from, seqs } = await follow(far, room);
    await redis.stop();
    const busDown = { status: 200, body: { status: 'ok', database: 'up', bus: 'down' } };
    await expect.poll(() => readReadiness(far)).toEqual(busDown);
    await expect.poll(() => readReadiness(near)).toEqual(busDown);
    const rounds = 8;
    for (let round = 1; round <= rounds; round += 1) {
      await near.createPost(ada, room, 'without the bus');
      advanceTime(250);
      await expect.poll(() => seqs().length, { interval: 2 }).toBe(round);
    }
    const other = await follow(far, room);
    await near.createPost(ada, room, 'without the bus');
    advanceTime(250);
    await expect.poll(() => other.seqs().length).toBe(1);
    await redis.start();
    await expect.poll(() => readReadiness(far)).toMatchObject({ body: { bus: 'up' } });
    await expect.poll(() => readReadiness(near)).toMatchObject({ body: { bus: 'up' } });
    // The comparison that follows a return of the bus has found nothing, and no other one runs.
    const compared = comparisonsOf(far);
    advanceTime(1_500);
    await expect.poll(() => comparisonsOf(far)).toBeGreaterThan(compared);
    const { log_reads_total: before } = await readMetrics(far);
    await near.createPost(ada, room, 'with the bus');
    await expect.poll(() => seqs().length).toBe(rounds + 2);
    expect(await readMetrics(far)).toMatchObject({ log_reads_total: before });
    expect(seqs()).toEqual(seqsBetween(from, from + rounds + 2));
    expect([linesOf(near), linesOf(far)]).toEqual([
      [down, up],
      [down, up],
    ]);
  });

  it('a room that is deleted while Redis is stopped ends its streams', async () => {
    const { near, far, ada } = await launchNodes({ settings: { REDIS_URL: redis.url } });
    const room = await near.createRoom(ada, 'gone');
    const { socket } = await follow(far, room);
    await redis.stop();
    onTestFinished(() => redis.start());
    await expect.poll(() => readReadiness(far)).toMatchObject({ body: { bus: 'down' } });
    await near.ask('mutation ($id: ID!) { deleteRoom(input: { id: $id }) { room { id } } }', { id: room }, ada.token);
    const ended = await socket.take(({ type }) => type === 'error');
    expect(ended).toMatchObject({ payload: [{ extensions: { code: 'ROOM_DELETED' } }] });
  });

  it('a server starts while Redis is not reachable, and its password is in no line of the log', async () => {
    const settings = { REDIS_URL: `redis://user:secret@127.0.0.1:${await findFreePort()}` };
    const { near, far, ada } = await launchNodes({ settings });
    expect(await readReadiness(near)).toMatchObject({ status: 200, body: { bus: 'down' } });
    const room = await near.createRoom(ada, 'early');
    const { from, seqs } = await follow(far, room);
    await near.createPost(ada, room, 'without the bus');
    await expect.poll(seqs).toEqual([from + 1]);
    expect(linesOf(near)).toEqual([down]);
    expect(JSON.stringify(near.log)).not.toContain('secret');
  });
});

const postgresNote = postgresPrograms ? '' : ', which is not installed here';

describe.skipIf(postgresPrograms === undefined)(`two nodes with PostgreSQL${postgresNote}`, () => {
  let cluster: PostgresCluster;
  let databaseUrl: string;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
    databaseUrl = cluster.url('postgres');
  });
  afterAll(() => cluster?.remove());

  it('deliver every event once, in order, while their connections for notifications are closed again and again', async () => {
    const open = () => openPostgresBus(databaseUrl, { onError: () => {} });
    const buses: [Bus, Bus] = [await open(), await open()];
    const { near, far, ada } = await launchNodes({ buses });
    const room = await near.createRoom(ada, 'busy');
    const followers = await Promise.all([follow(far, room), follow(near, room)]);
    const posts = 50;
    for (let index = 1; index <= posts; index += 1) {
      await near.createPost(ada, room, `post ${index}`);
      if (index % 5 !== 0) continue;
      await cluster.query(
        'postgres',
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'postroom bus' and random() < 0.5`,
      );
    }
    for (const { from, seqs } of followers) {
      await expect.poll(() => seqs().length).toBeGreaterThanOrEqual(posts);
      expect(seqs()).toEqual(seqsBetween(from, from + posts));
    }
    await expect.poll(() => buses.map((bus) => bus.isUp())).toEqual([true, true]);
  });

  it('two nodes on one PostgreSQL deliver events through the database alone', async () => {
    const settings = { DATABASE_URL: databaseUrl, SESSION_KEY: sessionKey };
    const nodes = await withVirtualTimers(() => launchNodes({ settings }));
    await expectDeliveryByBus(nodes);
    const { near, far } = nodes;
    expect([...linesOf(near), ...linesOf(far)]).toEqual([]);
  });

  it('a room of PostgreSQL that is deleted or written to while the bus is down is found by its head', async () => {
    const settings = { DATABASE_URL: databaseUrl, SESSION_KEY: sessionKey };
    const { near, far, ada } = await launchNodes({ settings, buses: createUnreliablePair('losesAll') });
    const [busy, gone, quiet] = await Promise.all(['one', 'two', 'three'].map((name) => near.createRoom(ada, name)));
    const followers = await Promise.all([busy, gone, quiet].map((room) => follow(far, room ?? '')));
    const [ofBusy, ofGone, ofQuiet] = followers as [Follower, Follower, Follower];
    await near.createPost(ada, busy ?? '', 'unannounced');
    await near.ask('mutation ($id: ID!) { deleteRoom(input: { id: $id }) { room { id } } }', { id: gone }, ada.token);
    await expect.poll(ofBusy.seqs).toEqual([ofBusy.from + 1]);
    const ended = await ofGone.socket.take(({ type }) => type === 'error');
    expect(ended).toMatchObject({ payload: [{ extensions: { code: 'ROOM_DELETED' } }] });
    expect(ofQuiet.seqs()).toEqual([]);
    expect([...linesOf(near), ...linesOf(far)]).toEqual([]);
  });
});
