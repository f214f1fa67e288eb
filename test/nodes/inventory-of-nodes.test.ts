import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EventStream } from '../support/clients/event-stream.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { CommitProxy } from '../support/database/commit-proxy.ts';
import { newSessionKey } from '../support/database/test-database.ts';
import { readSeries } from '../support/engine/metrics.ts';
import { busesBetweenNodes, postgresBus, useBackends } from '../support/server/backends.ts';
import {
  grantAdmin,
  launchForTest,
  launchProcessForTest,
  type Person,
  type Postroom,
  type Settings,
} from '../support/server/postroom.ts';
import { advanceTime, withVirtualTimers } from '../support/server/virtual-timers.ts';

/* The inventory of two nodes on one database. */

/** The messages between nodes, with the content of their answers. */
async function listen(url: string): Promise<string[]> {
  const client = new Client({ connectionString: url });
  onTestFinished(() => client.end());
  await client.connect();
  const texts: string[] = [];
  client.on('notification', ({ payload = '' }) => {
    for (const line of payload.split('\n')) {
      const { content } = JSON.parse(line).message ?? {};
      texts.push(content === undefined ? line : line + Buffer.from(content, 'base64').toString());
    }
  });
  await client.query('listen postroom');
  return texts;
}

const backends = useBackends();
const buses = busesBetweenNodes(backends);

type Launch = (settings: Settings) => Promise<Postroom>;

interface Nodes {
  settings: Settings;
  near: Postroom;
  far: Postroom;
  admin: Person;
  ada: Person;
}

async function launchNodes(given: Settings, launchFar: Launch = launchForTest): Promise<Nodes> {
  const settings = { ...given, LOG_LEVEL: 'info' };
  const near = await launchForTest({ ...settings, NODE_NAME: 'near' });
  const admin = await near.signUp('admin');
  await grantAdmin(settings, admin);
  const far = await launchFar({ ...settings, NODE_NAME: 'far' });
  return { settings, near, far, admin, ada: await near.signUp('Ada') };
}

const open = ({ webSocketUrl }: Postroom, { token }: Person) =>
  ProtocolSocket.open(webSocketUrl, { init: { authorization: `Bearer ${token}` } });

describe.each(buses.filter(({ isMissing }) => !isMissing))('two nodes on $name', ({ kind, settings }) => {
  it('show the connections of both in the order of their start, in pages', async () => {
    const { near, far, admin, ada } = await launchNodes(await settings());
    for (const node of [near, far, far, near]) await open(node, ada);
    for (const node of [near, far]) {
      const all = await node.ask('{ connections { total nodes { id node viewer { name } } } }', {}, admin.token);
      expect(all.connections.total).toBe(4);
      expect(all.connections.nodes).toMatchObject(
        ['near', 'far', 'far', 'near'].map((name) => ({ node: name, viewer: { name: 'Ada' } })),
      );
      const page =
        'query ($after: String) { connections(first: 3, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }';
      const first = await node.ask(page, {}, admin.token);
      expect(first.connections.pageInfo.hasNextPage).toBe(true);
      const second = await node.ask(page, { after: first.connections.pageInfo.endCursor }, admin.token);
      expect(second.connections.pageInfo.hasNextPage).toBe(false);
      const ids = [...first.connections.nodes, ...second.connections.nodes].map(({ id }) => id);
      expect(ids).toEqual(all.connections.nodes.map(({ id }: { id: string }) => id));
    }
  });

  it('show the load and the refusals of both together', async () => {
    const { near, far, admin, ada } = await launchNodes(await settings());
    const [atNear, atFar] = [await near.send('{ near }', {}, ada.token), await far.send('{ far }', {}, ada.token)];
    const query = `query ($id: ID) {
      load(order: REFUSALS) { users { user { name } refusals } addresses { address refusals } }
      refusals(requestId: $id) { node reason viewer { name } }
    }`;
    for (const node of [near, far]) {
      const { load, refusals } = await node.ask(query, {}, admin.token);
      expect(load.users).toEqual([{ user: { name: 'Ada' }, refusals: 2 }]);
      expect(load.addresses).toEqual([{ address: '127.0.0.1', refusals: 2 }]);
      expect(refusals.map(({ node: name }: { node: string }) => name).sort()).toEqual(['far', 'near']);
      for (const [name, { headers }] of Object.entries({ near: atNear, far: atFar })) {
        const found = await node.ask(query, { id: headers.get('x-request-id') }, admin.token);
        const reason = `Cannot query field "${name}" on type "Query".`;
        expect(found.refusals).toEqual([{ node: name, reason, viewer: { name: 'Ada' } }]);
      }
    }
  });

  it('answer with many refusals with long texts', async () => {
    const { near, far, admin } = await launchNodes(await settings());
    const control = String.fromCodePoint(1);
    const headers = { 'content-type': 'application/json' };
    for (let n = 0; n < 20; n += 1) {
      for (const query of ['{ ok: __typename }', `{ ${control.repeat(400)} }`, `{ ${'x'.repeat(400)} }`]) {
        const body = JSON.stringify({ query, operationName: control.repeat(200) });
        await fetch(far.graphqlUrl, { method: 'POST', headers, body });
      }
    }
    const { refusals } = await near.ask('{ refusals { node operation reason } }', {}, admin.token);
    expect(refusals).toHaveLength(50);
  });

  it('answer with a full page of long entries', async () => {
    const { near, far, admin } = await launchNodes({ ...(await settings()), TRUST_PROXY: '1' });
    const address = `192.0.2.${'1'.repeat(60)}`;
    const headers = { 'x-forwarded-for': address };
    await Promise.all(Array.from({ length: 120 }, () => ProtocolSocket.open(far.webSocketUrl, { headers })));
    const query = '{ connections(first: 100) { total nodes { address } pageInfo { hasNextPage } } }';
    const { connections } = await near.ask(query, {}, admin.token);
    expect(connections).toMatchObject({ total: 120, pageInfo: { hasNextPage: true } });
    expect(connections.nodes).toHaveLength(100);
    expect(new Set(connections.nodes.map((node: { address: string }) => node.address))).toEqual(new Set([address]));
  });

  it('show the state of both, and the rooms and errors of both together', async () => {
    const { near, far, admin, ada } = await launchNodes(await settings());
    const room = await near.createRoom(ada, 'hall');
    for (const node of [near, far, far]) {
      const socket = await open(node, ada);
      await socket.follow('1', `subscription { roomEvents(room: "${room}") { cursor } }`);
    }
    for (const node of [near, far]) expect((await node.send('{ room(id: 1) { nam } }')).status).toBe(422);
    for (const node of [near, far]) {
      const { serverStatus } = await node.ask(
        `{ serverStatus {
          nodes { name connections subscriptions roomsFollowed } bus { kind isUp } database { kind isUp }
          mostFollowedRooms { room { id } followers } errors { code count lastAt }
        } }`,
        {},
        admin.token,
      );
      expect(serverStatus).toMatchObject({
        nodes: [
          { name: 'far', connections: 2, subscriptions: 2, roomsFollowed: 1 },
          { name: 'near', connections: 1, subscriptions: 1, roomsFollowed: 1 },
        ],
        bus: { kind, isUp: true },
        database: { isUp: true },
        mostFollowedRooms: [{ room: { id: room }, followers: 3 }],
      });
      expect(serverStatus.errors).toContainEqual({
        code: 'GRAPHQL_VALIDATION_FAILED',
        count: 2,
        lastAt: expect.any(String),
      });
    }
  });

  it('end a connection of the other, and report it in the log of the node that was asked', async () => {
    const { near, far, admin, ada } = await launchNodes(await settings());
    const room = await near.createRoom(ada, 'hall');
    const socket = await open(far, ada);
    const query = `subscription { roomEvents(room: "${room}") { cursor } }`;
    const stream = await EventStream.open(far.graphqlUrl, query, { authorization: `Bearer ${ada.token}` });
    const { connections } = await near.ask('{ connections { nodes { id node } } }', {}, admin.token);
    expect(connections.nodes).toMatchObject([{ node: 'far' }, { node: 'far' }]);
    const end = 'mutation ($id: ID!) { endConnection(input: { id: $id }) { id } }';
    for (const { id } of connections.nodes)
      expect((await near.ask(end, { id }, admin.token)).endConnection).toEqual({ id });
    expect(await socket.closed).toEqual({ code: 1008, reason: 'Ended by an operator' });
    const ended = await stream.take(({ data }) => data?.errors !== undefined);
    expect(ended.data.errors[0].extensions.code).toBe('CONNECTION_ENDED');
    await expect
      .poll(() => near.ask('{ connections { total } }', {}, admin.token))
      .toEqual({ connections: { total: 0 } });
    expect((await near.send(end, { id: connections.nodes[0].id }, admin.token)).code).toBe('NOT_FOUND');
    expect(near.log.filter(({ msg }) => msg === 'connectionEnded')).toMatchObject(
      connections.nodes.map(({ id }: { id: string }) => ({
        audit: { connectionId: id, userId: ada.id, byUserId: admin.id },
      })),
    );
    expect(far.log.filter(({ msg }) => msg === 'connectionEnded')).toEqual([]);
  });

  it('show the state without a node that does not answer, after half a second once', async () => {
    const { near, far, admin } = await withVirtualTimers(async () =>
      launchNodes(await settings(), launchProcessForTest),
    );
    const names = async () =>
      (await near.ask('{ serverStatus { nodes { name } } }', {}, admin.token)).serverStatus.nodes.map(
        ({ name }: { name: string }) => name,
      );
    // A node learns of the others when it starts.
    advanceTime(500);
    await expect.poll(names).toEqual(['far', 'near']);
    const { process: child } = far as Awaited<ReturnType<typeof launchProcessForTest>>;
    child.kill('SIGSTOP');
    try {
      const countPublished = async () => (await readSeries(near, 'postroom_bus_messages_total'))['published'];
      const published = Number(await countPublished());
      let isAnswered = false;
      const first = names().finally(() => {
        isAnswered = true;
      });
      await expect.poll(countPublished).toBeGreaterThan(published);
      advanceTime(499);
      // An answer to another request arrives after that of a question that is over.
      await near.ask('{ __typename }');
      expect(isAnswered).toBe(false);
      advanceTime(1);
      expect(await first).toEqual(['near']);
      // No time passes.
      expect(await names()).toEqual(['near']);
    } finally {
      child.kill('SIGCONT');
    }
    await expect.poll(names).toEqual(['far', 'near']);
  });

  it.runIf(kind === 'postgres')('send no credentials and no e-mail addresses to each other', async () => {
    const { settings: used, near, far, admin, ada } = await launchNodes(await settings());
    const texts = await listen(String(used['DATABASE_URL']));
    await open(far, ada);
    await near.ask('{ connections { nodes { id } } serverStatus { time } }', {}, admin.token);
    await expect.poll(() => texts.join()).toContain(ada.id);
    await expect.poll(() => texts.join()).toContain('"memoryBytes"');
    for (const secret of [ada.token, ada.email, admin.token, admin.email, 'example.org', 'Bearer'])
      expect(texts.join()).not.toContain(secret);
  });

  it('mute a user on both', async () => {
    const { near, far, admin, ada } = await launchNodes(await settings());
    const room = await near.createRoom(ada, 'hall');
    const mute = 'mutation ($input: MuteUserInput!) { muteUser(input: $input) { until } }';
    await near.ask(mute, { input: { user: ada.id, room, until: '2099-01-01T00:00:00.000Z' } }, admin.token);
    const post = 'mutation ($room: ID!) { createPost(input: { room: $room, title: "t" }) { post { id } } }';
    expect(await far.send(post, { room }, ada.token)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  });
});

it.skipIf(postgresBus.isMissing)(
  'muteUser is not answered while a post that has been checked is being committed on another node',
  async () => {
    const database = await backends.cluster.createDatabase();
    const settings = { DATABASE_URL: backends.cluster.url(database), SESSION_KEY: newSessionKey() };
    const proxy = await CommitProxy.start(settings.DATABASE_URL);
    onTestFinished(() => proxy.close());
    const { near, far, admin, ada } = await launchNodes(settings, () =>
      launchForTest({ ...settings, DATABASE_URL: proxy.url }),
    );
    const room = await near.createRoom(ada, 'hall');
    proxy.arm('held');
    const post = 'mutation ($room: ID!) { createPost(input: { room: $room, title: "t" }) { post { id } } }';
    const posting = far.send(post, { room }, ada.token);
    await proxy.arrived;
    const mute = `mutation { muteUser(input: { user: "${ada.id}", room: "${room}", until: "2099-01-01T00:00:00Z" }) { until } }`;
    let isAnswered = false;
    const muting = near.send(mute, {}, admin.token).finally(() => {
      isAnswered = true;
    });
    const waiting = `select pid from pg_stat_activity where datname = '${database}' and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await backends.cluster.query('postgres', waiting)).length).toBe(1);
    expect(isAnswered).toBe(false);
    proxy.cut();
    expect((await muting).status).toBe(200);
    expect((await posting).status).toBe(403);
  },
);
