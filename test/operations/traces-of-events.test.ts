import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { PostgresCluster, postgresPrograms } from '../support/database/postgres-cluster.ts';
import { newSessionKey } from '../support/database/test-database.ts';
import { TraceReceiver } from '../support/engine/trace-receiver.ts';
import { hasRedis, RedisServer } from '../support/rooms/redis-server.ts';
import { createUnreliablePair } from '../support/rooms/unreliable-bus.ts';
import { launchForTest, type Postroom, type Settings, scratchFolder } from '../support/server/postroom.ts';

/* From a mutation to the delivery of its event. */

const subscription = (room: string, field = 'title') =>
  `subscription { roomEvents(room: "${room}") { cursor ... on PostCreated { post { ${field} } } } }`;

async function follow(postroom: Postroom, ...queries: string[]): Promise<ProtocolSocket> {
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  for (const [index, query] of queries.entries()) await socket.follow(String(index), query);
  return socket;
}

interface Nodes {
  receiver: TraceReceiver;
  near: Postroom;
  far: Postroom;
}

async function launchNodes(settings: Settings, traced = { near: true, far: true }): Promise<Nodes> {
  const receiver = await TraceReceiver.start();
  const launch = (name: 'near' | 'far') =>
    launchForTest({ ...settings, ...(traced[name] && receiver.settings), NODE_NAME: name });
  return { receiver, near: await launch('near'), far: await launch('far') };
}

/** A post on `near` reaches a subscriber of `far`. */
async function deliver({ near, far }: Nodes): Promise<void> {
  const ada = await near.signUp('Ada');
  const room = await near.createRoom(ada, 'lobby');
  const socket = await follow(far, subscription(room));
  await near.createPost(ada, room, 'Hello');
  await socket.take(({ type }) => type === 'next');
  await near.stop();
  await far.stop();
}

/** Expects that the trace of the mutation on `near` contains the delivery on `far`. */
async function expectOneTrace(nodes: Nodes): Promise<void> {
  await deliver(nodes);
  const { receiver } = nodes;
  const [delivery, ...others] = receiver.named('deliver');
  expect(others).toEqual([]);
  expect(delivery).toMatchObject({
    resource: { 'service.instance.id': 'far' },
    attributes: { 'postroom.delivery.count': 1, 'postroom.event.type': 'PostCreated' },
  });
  const trace = receiver.spans.filter(({ traceId }) => traceId === delivery?.traceId);
  const find = (name: string) => trace.filter((span) => span.name === name);
  const [[mutation], [published], [received]] = [find('mutation'), find('publish'), find('process')];
  expect(mutation).toMatchObject({ kind: 'server', parentId: undefined, resource: { 'service.instance.id': 'near' } });
  expect(published).toMatchObject({ kind: 'producer', parentId: mutation?.id });
  expect(received).toMatchObject({
    kind: 'consumer',
    parentId: published?.id,
    resource: { 'service.instance.id': 'far' },
  });
  expect(delivery?.parentId).toBe(received?.id);
}

const sqlite = () => ({ DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` });

it('an event is one delivery for each different selection, with the number of its subscribers', async () => {
  const receiver = await TraceReceiver.start();
  const postroom = await launchForTest(receiver.settings);
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'lobby');
  const [short, long] = [subscription(room), subscription(room, 'room { name }')];
  const socket = await follow(postroom, short, short, short, long);
  await postroom.createPost(ada, room, 'Hello');
  for (let index = 0; index < 4; index += 1) await socket.take(({ type }) => type === 'next');
  await postroom.stop();
  const counts = receiver.named('deliver').map(({ attributes }) => attributes['postroom.delivery.count']);
  expect(counts.toSorted()).toEqual([1, 3]);
  expect(receiver.named('process')).toHaveLength(1);
  // The statement that only the long selection needs.
  const delivery = receiver.named('deliver').find(({ attributes }) => attributes['postroom.delivery.count'] === 1);
  const [statement] = receiver.named('SELECT rooms').filter(({ parentId }) => parentId === delivery?.id);
  expect(statement).toMatchObject({ kind: 'client', traceId: delivery?.traceId });
});

it('an event that may end access, which is read from the log before its delivery, belongs to the trace of its mutation', async () => {
  const receiver = await TraceReceiver.start();
  const postroom = await launchForTest(receiver.settings);
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'lobby');
  const socket = await follow(postroom, subscription(room));
  const rename = 'mutation Rename($id: ID!) { updateRoom(input: { id: $id, name: "new" }) { room { id } } }';
  await postroom.ask(rename, { id: room }, ada.token);
  await socket.take(({ type }) => type === 'next');
  await postroom.stop();
  const [[received], [delivery]] = [receiver.named('process'), receiver.named('deliver')];
  const published = receiver.named('publish').find(({ traceId }) => traceId === delivery?.traceId);
  expect(delivery).toMatchObject({
    attributes: { 'postroom.event.type': 'RoomUpdated', 'postroom.delivery.count': 1 },
  });
  expect([received?.parentId, delivery?.parentId]).toEqual([published?.id, received?.id]);
  expect(published).toBeDefined();
});

it('an event that is found in the log is delivered, and belongs to no trace', async () => {
  const receiver = await TraceReceiver.start();
  const settings = { ...sqlite(), ...receiver.settings };
  const [nearBus, farBus] = createUnreliablePair('losesAll');
  const near = await launchForTest(settings, { bus: nearBus });
  const far = await launchForTest(settings, { bus: farBus });
  await deliver({ receiver, near, far });
  expect(receiver.named('publish').length).toBeGreaterThan(0);
  expect(receiver.named('deliver')).toEqual([]);
});

describe.skipIf(!hasRedis)(`two nodes with Redis${hasRedis ? '' : ', which is not installed here'}`, () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await RedisServer.launch();
  });
  afterAll(() => redis?.stop());
  const launch = (traced?: { near: boolean; far: boolean }) =>
    launchNodes({ ...sqlite(), REDIS_URL: redis.url }, traced);

  it('a mutation on one node and the delivery of its event by another are one trace', async () => {
    await expectOneTrace(await launch());
  });

  it('a node without traces delivers the events of a node with traces', async () => {
    const nodes = await launch({ near: true, far: false });
    await deliver(nodes);
    // createRoom, too: its viewer is a member.
    expect(nodes.receiver.named('publish')).toHaveLength(2);
    expect(nodes.receiver.named('deliver')).toEqual([]);
  });

  it('a node with traces delivers the events of a node without traces', async () => {
    const nodes = await launch({ near: false, far: true });
    await deliver(nodes);
    expect(nodes.receiver.named('deliver')).toEqual([]);
  });
});

const postgresNote = postgresPrograms ? '' : ', which is not installed here';

describe.skipIf(postgresPrograms === undefined)(`two nodes with PostgreSQL${postgresNote}`, () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  });
  afterAll(() => cluster?.remove());

  it('a mutation on one node and the delivery of its event by another are one trace', async () => {
    const settings = { DATABASE_URL: cluster.url('postgres'), SESSION_KEY: newSessionKey() };
    await expectOneTrace(await launchNodes(settings));
  });
});
