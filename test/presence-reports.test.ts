import { describe, expect, it, onTestFinished } from 'vitest';
import { createId } from '../src/ids.ts';
import { type AccessHolder, endWithoutAccess, type FindUsersWithAccess } from '../src/live/access.ts';
import { type Bus, type BusMessage, presenceTopic, roomTopic } from '../src/live/bus/bus.ts';
import { createMemoryBus } from '../src/live/bus/memory.ts';
import { openPostgresBus } from '../src/live/bus/postgres.ts';
import { openRedisBus } from '../src/live/bus/redis.ts';
import type { Feed } from '../src/live/feed/feed.ts';
import { GroupCosts } from '../src/live/groups/group-costs.ts';
import { LiveCounts } from '../src/live/live-counts.ts';
import { Presence, type PresenceParts } from '../src/live/presence/presence.ts';
import type { PresenceState } from '../src/live/presence/presence-state.ts';
import type { StateRequest } from '../src/live/states/state-stream.ts';
import type { Sink } from '../src/live/stream.ts';
import { postgresBus, redisBus, useBackends } from './support/backends.ts';
import { createFaultProxy } from './support/fault-proxy.ts';

/* The presence in more and larger rooms than a test can fill with connections, on two nodes. */

const backends = useBackends();

const ignore = () => {};
const throwLater = (error: unknown) => void Promise.reject(error);

const buses: { name: string; isMissing: boolean; url: () => string; open: (url: string) => Promise<Bus> }[] = [
  {
    ...postgresBus,
    url: () => backends.cluster.url('postgres'),
    open: (url) => openPostgresBus(url, { onError: throwLater }),
  },
  {
    ...redisBus,
    url: () => backends.redis.url,
    open: (url) => openRedisBus(url, { databaseId: 'reports', onError: throwLater }),
  },
];

const request: Omit<StateRequest<PresenceState>, 'visibleRooms'> = {
  key: 'k',
  traits: { isPersonal: false },
  viewerKey: 'v',
  cost: 1,
  transport: 'websocket',
  address: '',
  chargedId: null,
  onEnd: ignore,
  executeShared: async () => null,
  executePersonal: async () => null,
};
const sink: Sink = {
  write: ignore,
  isFull: () => false,
  onceDrained: ignore,
  onceRead: ignore,
  end: ignore,
  disconnect: ignore,
};

/** A node with the presence alone. */
function createNode(
  bus: Bus,
  {
    findUsersWithAccess = async () => undefined,
    ...own
  }: Partial<Pick<PresenceParts, 'askOthers'>> & { findUsersWithAccess?: FindUsersWithAccess } = {},
) {
  const watched: Iterable<AccessHolder>[] = [];
  const check = (holders: Iterable<AccessHolder>) => endWithoutAccess(holders, 'R', findUsersWithAccess);
  const watchAccess = async (_: string, holders: Iterable<AccessHolder>) => {
    watched.push(holders);
    return { deleted: false, checkAccess: check } as Feed;
  };
  const checkAccess = () => Promise.all(watched.map(check));
  const costs = new GroupCosts({ maxCost: Number.POSITIVE_INFINITY, freeReopenMs: 0 });
  const shared = { costs, counts: new LiveCounts(), onError: throwLater };
  const defaults = { askOthers: async () => {} };
  const presence = new Presence({
    bus,
    fanOut: { watchAccess, unwatchAccess: ignore },
    ...shared,
    ...defaults,
    ...own,
  });
  const enter = async (roomId: string, name: string, userId = createId('User')) => {
    const visibleRooms = { userId, seesAll: false };
    const viewer = { user: { id: userId, name }, address: '', keyId: undefined, visibleRooms };
    (await presence.subscribe(roomId, viewer, { ...request, visibleRooms })).start(sink);
  };
  onTestFinished(async () => {
    await presence.close();
    await bus.close();
  });
  return { presence, enter, checkAccess };
}

function event(roomId: string): BusMessage {
  const numbers = { seq: 1, mark: 1, previousMark: 0, version: 1, at: 1 };
  return {
    type: 'roomChanged',
    roomId,
    event: { roomId, ...numbers, type: 'PostCreated', subjectId: 'P', actorId: null, content: undefined },
  };
}

const roomsOf = (count: number) => Array.from({ length: count }, () => createId('Room'));

for (const { name, isMissing, url, open } of buses)
  describe.skipIf(isMissing)(`over ${name}`, () => {
    it('the answer to a question about large rooms is complete, and no event is lost', async () => {
      const [near, far] = [await open(url()), await open(url())];
      const { presence, enter } = createNode(near);
      const other = createNode(far, { askOthers: (ids) => presence.report(ids) });
      const rooms = roomsOf(4);
      const viewers = Array.from({ length: 10_000 }, (_, n) => `user ${n}`);
      for (const room of rooms) await Promise.all(viewers.map((viewer) => enter(room, viewer)));
      await expect.poll(() => near.waitingCount()).toBe(0);
      const received: string[] = [];
      await far.subscribe(roomTopic('busy'), ({ type }) => received.push(type));
      const { lost } = near.counts;
      near.publish(event('busy'));
      const answered = presence.report(rooms);
      near.publish(event('busy'));
      for (const room of rooms)
        await expect.poll(async () => (await other.presence.read(room)).count).toBe(viewers.length);
      await answered;
      expect(received).toEqual(['roomChanged', 'roomChanged']);
      expect([near.counts.lost - lost, far.counts.wakeUps]).toEqual([0, 0]);
    });

    it('every lease of a node with many rooms is renewed after the bus was down', async () => {
      const proxy = await createFaultProxy(url());
      onTestFinished(() => proxy.close());
      const [near, far] = [await open(proxy.url), await open(url())];
      const { enter } = createNode(near);
      const rooms = roomsOf(4_000);
      const reported = new Set<string>();
      for (const room of rooms) await far.subscribe(presenceTopic(room), () => reported.add(room));
      await Promise.all(rooms.map((room) => enter(room, 'Ada')));
      await expect.poll(() => reported.size).toBe(rooms.length);
      reported.clear();
      proxy.cut();
      await expect.poll(() => reported.size).toBe(rooms.length);
    });
  });

it('a viewer who enters while the access of the others is checked remains present; one without access does not', async () => {
  const members = new Set(['Ada', 'Bob', 'Eve']);
  const held = Promise.withResolvers<void>();
  let isHeld = false;
  const findUsersWithAccess = async (_: string, userIds: readonly string[]) => {
    const allowed = new Set(userIds.filter((id) => members.has(id)));
    if (isHeld) await held.promise;
    return allowed;
  };
  const { presence, enter, checkAccess } = createNode(createMemoryBus(), { findUsersWithAccess });
  const [room = ''] = roomsOf(1);
  await enter(room, 'Ada', 'Ada');
  await enter(room, 'Eve', 'Eve');
  members.delete('Eve');
  isHeld = true;
  const checked = checkAccess();
  isHeld = false;
  await enter(room, 'Bob', 'Bob');
  held.resolve();
  await checked;
  expect(await presence.read(room)).toMatchObject({ count: 2, users: ['Ada', 'Bob'] });
});
