import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { RoomEvent } from '../../src/data/event-log/events.ts';
import {
  type Bus,
  type BusMessage,
  type BusOptions,
  commonTopic,
  nodesTopic,
  presenceTopic,
  roomTopic,
} from '../../src/live/bus/bus.ts';
import { openLocalBus, openLocalExchange } from '../../src/live/bus/local.ts';
import { createMemoryBus } from '../../src/live/bus/memory.ts';
import { openPostgresBus } from '../../src/live/bus/postgres.ts';
import { openRedisBus } from '../../src/live/bus/redis.ts';
import { createFaultProxy } from '../support/clients/fault-proxy.ts';
import { postgresBus, redisBus, useBackends } from '../support/server/backends.ts';

/* One suite for all implementations of the bus. */

const databaseId = randomUUID();
const backends = useBackends();

/** A bus that passes messages between processes through a server. */
interface NetworkKind {
  name: string;
  isMissing: boolean;
  serverUrl: () => string;
  open: (url: string, options: BusOptions) => Promise<Bus>;
  /** Publishes a text as another process could. */
  publishText: (topic: string, text: string) => Promise<unknown>;
  /** Makes the server close the connections of listeners. */
  disconnect: () => Promise<unknown>;
}

const networkKinds: NetworkKind[] = [
  {
    ...postgresBus,
    serverUrl: () => backends.cluster.url('postgres'),
    open: openPostgresBus,
    publishText: (_, text) => backends.cluster.query('postgres', `select pg_notify('postroom', $1)`, [text]),
    disconnect: () =>
      backends.cluster.query(
        'postgres',
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'postroom bus'`,
      ),
  },
  {
    ...redisBus,
    serverUrl: () => backends.redis.url,
    open: (url, options) => openRedisBus(url, { databaseId, ...options }),
    publishText: (topic, text) => backends.redis.send('PUBLISH', `postroom:0:${databaseId}:${topic}`, text),
    disconnect: () => backends.redis.send('CLIENT', 'KILL', 'TYPE', 'pubsub'),
  },
  {
    name: 'the socket of a parent',
    isMissing: false,
    serverUrl: () => exchange.url,
    open: (url, options) => openLocalBus(exchange.addressOf(url), options),
    publishText: (topic, text) => exchange.publish(topic, text),
    disconnect: () => exchange.disconnect(),
  },
];

/** The exchange of the workers of one machine. It is on a port, so that the proxy with faults can be before it. */
const exchange = {
  server: undefined as unknown as Server,
  sockets: new Set<Socket>(),
  get url() {
    return `tcp://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  },
  addressOf: (url: string) => ({ host: '127.0.0.1', port: Number(new URL(url).port) }),
  async publish(topic: string, text: string) {
    const socket = connect(this.addressOf(this.url));
    socket.end(`publish ${topic}\t${text}\n`);
    await once(socket, 'close');
  },
  async disconnect() {
    for (const socket of this.sockets) socket.destroy();
  },
};
beforeAll(async () => {
  exchange.server = await openLocalExchange({ host: '127.0.0.1', port: 0 });
  exchange.server.on('connection', (socket) => {
    exchange.sockets.add(socket);
    socket.on('close', () => exchange.sockets.delete(socket));
  });
});
afterAll(() => exchange.server.close());

interface Node {
  bus: Bus;
  errors: unknown[];
  /** The states that were reported to the operator. */
  states: string[];
}

type Launch = () => Promise<Node>;

async function launchNode(open: (options: BusOptions) => Bus | Promise<Bus>): Promise<Node> {
  const errors: unknown[] = [];
  const states: string[] = [];
  const bus = await open({
    onError: (error) => errors.push(error),
    onDown: () => states.push('down'),
    onUp: () => states.push('up'),
  });
  onTestFinished(() => bus.close());
  return { bus, errors, states };
}

function launchOn({ open, serverUrl }: NetworkKind, url = serverUrl()): Promise<Node> {
  return launchNode((options) => open(url, options));
}

function event(roomId: string, seq: number, content?: RoomEvent['content']): BusMessage {
  const row = { roomId, seq, mark: seq, previousMark: seq - 1, subjectId: 'P', version: 1, actorId: null, at: seq };
  return { type: 'roomChanged', roomId, event: { ...row, type: 'PostCreated', content } };
}

const users = Array.from({ length: 100 }, () => randomUUID());

/** A report of about 4 kB. */
function report(roomId: string, number: number): BusMessage {
  const page = { number, index: 0, pageCount: 1, users, first: [], anonymous: 0, typing: [], leaseMs: 1_000 };
  return { type: 'presencePageReported', roomId, node: 'N', ...page };
}

function contentOf(title: string, body: string): RoomEvent['content'] {
  const versioned = { createdAt: 1, updatedAt: 1, version: 1 };
  return {
    post: { ...versioned, id: 'P', roomId: 'R', authorId: 'U', title, body, publishedAt: null },
    author: { ...versioned, id: 'U', name: title, role: 'MEMBER', deletedAt: null },
  };
}

async function listen({ bus }: Node, topic: string): Promise<BusMessage[]> {
  const received: BusMessage[] = [];
  await bus.subscribe(topic, (message) => received.push(message));
  return received;
}

function seqsOf(messages: readonly BusMessage[]): number[] {
  return messages.flatMap((message) => (message.type === 'roomChanged' ? message.event.seq : []));
}

function count(to: number): number[] {
  return Array.from({ length: to }, (_, index) => index + 1);
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function heapBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

let rooms = 0;

function newRoom(): string {
  rooms += 1;
  return `R${rooms}`;
}

/** The rules that every bus keeps. `launch` returns a node; nodes may be in one process or in several. */
function describeEveryBus(name: string, isMissing: boolean, launch: (test: { isShared: boolean }) => [Launch, Launch]) {
  describe.skipIf(isMissing)(name, () => {
    const pair = async () => {
      const [one, other] = launch({ isShared: true });
      const near = await one();
      return { near, far: one === other ? near : await other() };
    };

    it('delivers the messages of one publisher in order, to its own listeners at once', async () => {
      const { near, far } = await pair();
      const room = newRoom();
      const [here, there] = [await listen(near, roomTopic(room)), await listen(far, roomTopic(room))];
      for (const seq of count(2_000)) near.bus.publish(event(room, seq));
      expect(seqsOf(here)).toEqual(count(2_000));
      await expect.poll(() => there.length).toBeGreaterThanOrEqual(2_000);
      expect(seqsOf(there)).toEqual(count(2_000));
    });

    it('delivers no message of its own twice', async () => {
      const { near, far } = await pair();
      const room = newRoom();
      const [here, there] = [await listen(near, roomTopic(room)), await listen(far, roomTopic(room))];
      near.bus.publish(event(room, 1));
      await expect.poll(() => there.length).toBe(1);
      far.bus.publish(event(room, 2));
      await expect.poll(() => here.length).toBe(2);
      expect([seqsOf(here), seqsOf(there)]).toEqual([
        [1, 2],
        [1, 2],
      ]);
    });

    it('delivers only the messages of a topic, and none after the listener has unsubscribed', async () => {
      const { near, far } = await pair();
      const [room, other] = [newRoom(), newRoom()];
      const received: BusMessage[] = [];
      const before = far.bus.listenerCount();
      const leave = await far.bus.subscribe(roomTopic(room), (message) => received.push(message));
      const others = await listen(far, roomTopic(other));
      expect(far.bus.listenerCount()).toBe(before + 2);
      near.bus.publish(event(room, 1));
      near.bus.publish(event(other, 1));
      await expect.poll(() => others.length).toBe(1);
      expect(received).toEqual([event(room, 1)]);
      leave();
      leave();
      expect(far.bus.listenerCount()).toBe(before + 1);
      near.bus.publish(event(room, 2));
      near.bus.publish(event(other, 2));
      await expect.poll(() => others.length).toBe(2);
      expect(received).toEqual([event(room, 1)]);
    });

    it('delivers to a listener that subscribes again right after it has left, and to two equal listeners', async () => {
      const { near, far } = await pair();
      const room = newRoom();
      const received: BusMessage[] = [];
      const listener = (message: BusMessage) => received.push(message);
      for (let round = 0; round < 20; round += 1) (await far.bus.subscribe(roomTopic(room), listener))();
      const leave = await far.bus.subscribe(roomTopic(room), listener);
      await far.bus.subscribe(roomTopic(room), listener);
      near.bus.publish(event(room, 1));
      await expect.poll(() => seqsOf(received)).toEqual([1, 1]);
      leave();
      near.bus.publish(event(room, 2));
      await expect.poll(() => seqsOf(received)).toEqual([1, 1, 2]);
    });

    it('a listener that throws keeps no message from the other listeners', async () => {
      const { near, far } = await pair();
      const room = newRoom();
      const failure = new Error('a bad listener');
      await far.bus.subscribe(roomTopic(room), () => {
        throw failure;
      });
      const received = await listen(far, roomTopic(room));
      for (const seq of count(3)) near.bus.publish(event(room, seq));
      await expect.poll(() => seqsOf(received)).toEqual([1, 2, 3]);
      expect(far.errors).toEqual([failure, failure, failure]);
    });

    it('keeps any text as it is', async () => {
      const { near, far } = await pair();
      const room = newRoom();
      const received = await listen(far, roomTopic(room));
      const text = 'Ä İ 日本 👩‍👩‍👧 \u0000 \n \r\n " \\ \u2028 \ud800 \udfff {"v":2}';
      near.bus.publish(event(room, 1, contentOf(text, `${text}\n${text}`)));
      await expect.poll(() => received).toEqual([event(room, 1, contentOf(text, `${text}\n${text}`))]);
    });

    it('delivers every kind of message as it was published', async () => {
      const { near, far } = await pair();
      const common: BusMessage[] = [
        { type: 'userDeleted', userId: 'U' },
        { type: 'keyRevoked', keyId: 'K' },
        { type: 'passwordChanged', userId: 'U', sessionsFrom: Date.now() },
        { type: 'contentErased' },
      ];
      const received = await listen(far, commonTopic);
      for (const message of common) near.bus.publish(message);
      await expect.poll(() => received).toEqual(common);
      const room = newRoom();
      const ofRoom = await listen(far, roomTopic(room));
      near.bus.publish({ type: 'roomDeleted', roomId: room, actorId: null });
      await expect.poll(() => ofRoom).toEqual([{ type: 'roomDeleted', roomId: room, actorId: null }]);
    });

    it('sends the last messages before it closes, and has no listeners afterwards', async () => {
      const { near, far } = await pair();
      const room = newRoom();
      const received = await listen(far, roomTopic(room));
      for (const seq of count(500)) near.bus.publish(event(room, seq));
      await near.bus.close();
      expect(near.bus.listenerCount()).toBe(0);
      await expect.poll(() => seqsOf(received)).toEqual(count(500));
      near.bus.publish(event(room, 501));
      await near.bus.close();
    });
  });
}

describeEveryBus('the bus in memory', false, () => {
  const launch = () => launchNode(createMemoryBus);
  return [launch, launch];
});

for (const kind of networkKinds) {
  describeEveryBus(`the bus over ${kind.name}`, kind.isMissing, () => [() => launchOn(kind), () => launchOn(kind)]);
}

describe.for(networkKinds)('the bus over $name, as a network', (kind) => {
  const test = it.skipIf(kind.isMissing);

  test('passes messages between processes in both directions, in the order of each publisher', async () => {
    const nodes = await Promise.all([launchOn(kind), launchOn(kind), launchOn(kind)]);
    const room = newRoom();
    const received = await Promise.all(nodes.map((node) => listen(node, roomTopic(room))));
    for (const seq of count(300))
      for (const [index, { bus }] of nodes.entries()) bus.publish(event(room, 10 * seq + index));
    for (const messages of received) {
      await expect.poll(() => messages.length).toBe(900);
      for (const index of nodes.keys()) {
        expect(seqsOf(messages).filter((seq) => seq % 10 === index)).toEqual(count(300).map((seq) => 10 * seq + index));
      }
    }
  });

  test('an event with a large content arrives, without the content if it is too large for the server', async () => {
    const [near, far] = [await launchOn(kind), await launchOn(kind)];
    const room = newRoom();
    const received = await listen(far, roomTopic(room));
    const sizes = [100, 7_000, 7_999, 8_000, 20_000, 1_000_000];
    for (const [index, size] of sizes.entries()) {
      near.bus.publish(event(room, index + 1, contentOf('Ä', 'ä'.repeat(size / 2))));
    }
    await expect.poll(() => seqsOf(received)).toEqual(count(sizes.length));
    const contents = received.map((message) => message.type === 'roomChanged' && message.event.content);
    expect(contents[0]).toEqual(contentOf('Ä', 'ä'.repeat(50)));
    expect(contents.at(-1)).toBeUndefined();
    expect(near.states).toEqual([]);
  });

  test('a message of another version, of an unknown type or with other fields wakes the listeners of its topic', async () => {
    const far = await launchOn(kind);
    const room = newRoom();
    const [ofRoom, common] = [await listen(far, roomTopic(room)), await listen(far, commonTopic)];
    const { event: good } = event(room, 1) as Extract<BusMessage, { type: 'roomChanged' }>;
    const strange: unknown[] = [
      { v: 2, message: { type: 'roomDeleted', roomId: room } },
      { v: 1, message: { type: 'roomPainted', roomId: room } },
      { v: 1, message: { type: '__proto__', roomId: room } },
      { v: 1, message: { type: 'roomDeleted', roomId: 'another' } },
      { v: 1, message: { type: 'roomChanged', roomId: room } },
      { v: 1, message: { type: 'roomChanged', roomId: room, event: { ...good, seq: '1' } } },
      { v: 1, message: { type: 'roomChanged', roomId: room, event: { ...good, type: 5 } } },
      { v: 1, message: { type: 'roomChanged', roomId: room, event: { ...good, roomId: 'another' } } },
      { v: 1, message: null },
    ];
    for (const fields of strange) {
      const text = JSON.stringify({ topic: roomTopic(room), from: 'elsewhere', ...(fields as object) });
      await kind.publishText(roomTopic(room), text);
    }
    await expect.poll(() => ofRoom).toEqual(strange.map(() => ({ type: 'roomMayHaveChanged', roomId: room })));
    expect(common).toEqual([]);
    await kind.publishText(commonTopic, JSON.stringify({ v: 3, from: 'x', topic: commonTopic, message: {} }));
    await expect.poll(() => common).toEqual([{ type: 'anythingMayHaveChanged' }]);
    expect(far.errors).toEqual([]);
  });

  test('a question of nodes wakes only nodes that know questions: older programs ignore it', async () => {
    const far = await launchOn(kind);
    const [common, ofNodes] = [await listen(far, commonTopic), await listen(far, nodesTopic)];
    const message = { type: 'nodesAskedOtherwise', asker: 'x', ask: 1, question: '{}' };
    await kind.publishText(nodesTopic, JSON.stringify({ v: 1, from: 'elsewhere', topic: nodesTopic, message }));
    await expect.poll(() => ofNodes).toEqual([{ type: 'roomMayHaveChanged', roomId: 'nodes' }]);
    expect(common).toEqual([]);
    expect(far.errors).toEqual([]);
  });

  test('reports of presence, however many, evict no event: those that do not fit are dropped alone', async () => {
    const [near, far] = [await launchOn(kind), await launchOn(kind)];
    const room = newRoom();
    const [ofRoom, ofPresence] = [await listen(far, roomTopic(room)), await listen(far, presenceTopic(room))];
    near.bus.publish(event(room, 1));
    for (const number of count(2_000)) near.bus.publish(report(room, number));
    near.bus.publish(event(room, 2));
    await expect.poll(() => seqsOf(ofRoom)).toEqual([1, 2]);
    expect(near.bus.counts.lost).toBe(2_000 - ofPresence.length);
    expect([ofPresence.length > 50, near.bus.counts.lost > 0, far.bus.counts.wakeUps]).toEqual([true, true, 0]);
    near.bus.publish(report(room, 2_001));
    await expect.poll(() => ofPresence.at(-1)).toMatchObject({ number: 2_001 });
  });

  test('a text that is not a message wakes everybody; the bus stays up', async () => {
    const far = await launchOn(kind);
    const common = await listen(far, commonTopic);
    const texts = ['', '{', 'null', '7', '[]', '{"v":1}', 'x'.repeat(7_000), '{"topic":{}}'];
    for (const text of texts) await kind.publishText(commonTopic, text);
    await expect.poll(() => common).toEqual(texts.map(() => ({ type: 'anythingMayHaveChanged' })));
    expect([far.bus.isUp(), far.states, far.errors]).toEqual([true, [], []]);
  });

  test('the context of a trace arrives with its event; an event with a malformed one arrives without it', async () => {
    const far = await launchOn(kind);
    const room = newRoom();
    const received = await listen(far, roomTopic(room));
    const { event: plain } = event(room, 1) as Extract<BusMessage, { type: 'roomChanged' }>;
    const long = 'x'.repeat(600);
    const [parent, state] = [{ traceparent: '00-…-01' }, { tracestate: 'vendor=1' }];
    const traces = [parent, { ...parent, ...state, more: 1 }, { ...parent, tracestate: long }, { traceparent: long }];
    for (const trace of [...traces, state, 7, null, [parent]]) {
      const message = { type: 'roomChanged', roomId: room, event: { ...plain, trace } };
      await kind.publishText(roomTopic(room), JSON.stringify({ v: 1, from: 'x', topic: roomTopic(room), message }));
    }
    const read = () => received.map((message) => message.type === 'roomChanged' && message.event.trace);
    const none = undefined;
    await expect.poll(read).toEqual([parent, { ...parent, ...state }, parent, none, none, none, none, none]);
  });

  test('content without a column that this program knows is left out, and unknown columns are not kept', async () => {
    const far = await launchOn(kind);
    const room = newRoom();
    const received = await listen(far, roomTopic(room));
    const content = contentOf('a title', 'a body');
    const send = (content: object) => {
      const message = { ...event(room, 1), event: { ...(event(room, 1) as { event: object }).event, content } };
      return kind.publishText(roomTopic(room), JSON.stringify({ v: 1, from: 'x', topic: roomTopic(room), message }));
    };
    const { publishedAt: _, ...older } = content?.post ?? { publishedAt: 1 };
    await send({ ...content, post: older });
    await send({ ...content, author: { ...content?.author, passwordHash: 'secret' }, extra: 1 });
    await expect.poll(() => received).toEqual([event(room, 1), event(room, 1, content)]);
    expect(JSON.stringify(received)).not.toContain('secret');
  });

  test('after the server has closed its connections it is up again by itself, and wakes its listeners', async () => {
    const [near, far] = [await launchOn(kind), await launchOn(kind)];
    const room = newRoom();
    const [ofRoom, common] = [await listen(far, roomTopic(room)), await listen(far, commonTopic)];
    await kind.disconnect();
    await expect.poll(() => [...near.states, ...far.states]).toEqual(['down', 'up', 'down', 'up']);
    expect(common).toContainEqual({ type: 'anythingMayHaveChanged' });
    near.bus.publish(event(room, 1));
    await expect.poll(() => seqsOf(ofRoom)).toEqual([1]);
  });

  test('while the server is not reachable, publishing and subscribing do not wait; later everything works again', async () => {
    const proxy = await createFaultProxy(kind.serverUrl());
    const near = await launchOn(kind, proxy.url);
    const far = await launchOn(kind);
    const changes: boolean[] = [];
    near.bus.onStateChange(() => changes.push(near.bus.isUp()));
    const { url } = proxy;
    await proxy.close();
    await expect.poll(() => near.states).toEqual(['down']);
    const room = newRoom();
    const [here, there] = [await listen(near, roomTopic(room)), await listen(far, roomTopic(room))];
    near.bus.publish(event(room, 1));
    expect(seqsOf(here)).toEqual([1]);
    const again = await createFaultProxy(kind.serverUrl(), Number(new URL(url).port));
    onTestFinished(() => again.close());
    await expect.poll(() => near.states).toEqual(['down', 'up']);
    expect(changes).toEqual([false, true]);
    await expect.poll(() => seqsOf(there)).toEqual([1]);
    far.bus.publish(event(room, 2));
    await expect.poll(() => seqsOf(here)).toEqual([1, 2]);
  });

  test('opens without its server, reports that it is down, and is up when the server is there', async () => {
    const proxy = await createFaultProxy(kind.serverUrl());
    const port = Number(new URL(proxy.url).port);
    await proxy.close();
    const near = await launchOn(kind, proxy.url);
    expect([near.bus.isUp(), near.states]).toEqual([false, ['down']]);
    const again = await createFaultProxy(kind.serverUrl(), port);
    onTestFinished(() => again.close());
    await expect.poll(() => near.bus.isUp()).toBe(true);
    expect(near.states).toEqual(['down', 'up']);
  });

  test('a server that hangs is found; memory stays bounded, and lost messages become a wake-up', async () => {
    const proxy = await createFaultProxy(kind.serverUrl());
    onTestFinished(() => proxy.close());
    const near = await launchOn(kind, proxy.url);
    const far = await launchOn(kind);
    const room = newRoom();
    const [ofRoom, common] = [await listen(far, roomTopic(room)), await listen(far, commonTopic)];
    const common2 = await listen(near, commonTopic);
    proxy.freeze();
    const waiting = near.bus.subscribe(roomTopic(newRoom()), () => {});
    const before = heapBytes();
    const body = 'b'.repeat(3_000);
    const published = 15_000;
    for (const seq of count(published)) near.bus.publish(event(room, seq, contentOf('t', body)));
    await expect.poll(() => near.states).toEqual(['down']);
    await waiting;
    // All messages together have 50 MB.
    expect(heapBytes() - before).toBeLessThan(20e6);
    proxy.thaw();
    await expect.poll(() => near.states).toEqual(['down', 'up']);
    await expect.poll(() => common).toContainEqual({ type: 'anythingMayHaveChanged' });
    expect(common2).toContainEqual({ type: 'anythingMayHaveChanged' });
    expect(ofRoom.length).toBeLessThan(published);
    const last = randomInt(1e6, 2e6);
    near.bus.publish(event(room, last));
    await expect.poll(() => seqsOf(ofRoom).at(-1)).toBe(last);
  });
});

describe.for(networkKinds)('the bus over $name', (kind) => {
  it.skipIf(kind.isMissing)(
    'holds nothing for subscriptions that have ended, however long its connection lasts',
    async () => {
      const { bus } = await launchOn(kind);
      const subscribeAndEnd = async (times: number) => {
        for (let index = 0; index < times; index += 1) (await bus.subscribe(roomTopic('R'), () => {}))();
      };
      await subscribeAndEnd(1_000);
      const before = heapBytes();
      await subscribeAndEnd(8_000);
      // About 500 bytes were held for each.
      expect(heapBytes() - before).toBeLessThan(2e6);
    },
  );
});

describe.skipIf(redisBus.isMissing)('Redis', () => {
  const kind = networkKinds[1] as NetworkKind;

  it('that is stopped and started again without its data loses no subscription', async () => {
    const [near, far] = [await launchOn(kind), await launchOn(kind)];
    const received = await Promise.all(count(50).map((index) => listen(far, roomTopic(`restarted ${index}`))));
    await backends.redis.stop();
    await expect.poll(() => [...near.states, ...far.states]).toEqual(['down', 'down']);
    await backends.redis.start();
    await expect.poll(() => [near.bus.isUp(), far.bus.isUp()]).toEqual([true, true]);
    for (const index of count(50)) near.bus.publish(event(`restarted ${index}`, index));
    for (const index of count(50)) await expect.poll(() => seqsOf(received[index - 1] ?? [])).toEqual([index]);
  });

  it('that hangs (SIGSTOP) is found, and used again when it continues', async () => {
    const [near, far] = [await launchOn(kind), await launchOn(kind)];
    const room = newRoom();
    const received = await listen(far, roomTopic(room));
    backends.redis.signal('SIGSTOP');
    onTestFinished(() => backends.redis.signal('SIGCONT'));
    await expect.poll(() => [near.bus.isUp(), far.bus.isUp()]).toEqual([false, false]);
    backends.redis.signal('SIGCONT');
    await expect.poll(() => [near.bus.isUp(), far.bus.isUp()]).toEqual([true, true]);
    near.bus.publish(event(room, 1));
    await expect.poll(() => seqsOf(received)).toEqual([1]);
  });

  it.each([
    ['of other databases', '', 'another'],
    ['that are copies and select another number', '/5', databaseId],
  ])('serves installations %s: neither receives the messages of the other', async (_, path, id) => {
    const one = await launchOn(kind);
    const url = `${backends.redis.url}${path}`;
    const other = await launchNode((options) => openRedisBus(url, { databaseId: id, ...options }));
    const [here, there] = [await listen(one, commonTopic), await listen(other, commonTopic)];
    one.bus.publish({ type: 'contentErased' });
    other.bus.publish({ type: 'keyRevoked', keyId: 'K' });
    const third = await launchOn(kind);
    third.bus.publish({ type: 'userDeleted', userId: 'U' });
    await expect.poll(() => here).toEqual([{ type: 'contentErased' }, { type: 'userDeleted', userId: 'U' }]);
    expect(there).toEqual([{ type: 'keyRevoked', keyId: 'K' }]);
  });
});
