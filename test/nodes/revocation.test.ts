import { describe, expect, it } from 'vitest';
import type { PartOverrides } from '../../src/server.ts';
import { sendAs } from '../support/identity/credentials.ts';
import { createUnreliableBus } from '../support/rooms/unreliable-bus.ts';
import { launchForTest } from '../support/server/postroom.ts';
import { withDatabase, withDatabaseLocked } from '../support/server/shared-server.ts';
import {
  createKey,
  createPrivateRoom,
  eventsOf,
  follow,
  lastErrorCodeOf,
  launchStreamFixture,
  outcomeOf,
} from '../support/server/stream-fixture.ts';
import { advanceTime, withVirtualTimers } from '../support/server/virtual-timers.ts';

/* What one server revokes takes effect on another server on the same database within two seconds. */

const limitMs = 2_000;

const buses: Record<string, () => [PartOverrides, PartOverrides]> = {
  'that share a bus': () => {
    const bus = createUnreliableBus('none');
    return [{ bus }, { bus }];
  },
  'that share a bus which loses, repeats and reorders messages': () => {
    const bus = createUnreliableBus('unreliable', 16);
    return [{ bus }, { bus }];
  },
  'without a bus': () => [{}, {}],
};

describe.each(Object.keys(buses))('of two servers %s', (name) => {
  it('one revokes a membership while its holder streams from the other: the streams end within two seconds, without an event after the revocation', async () => {
    const [here, there] = buses[name]?.() ?? [{}, {}];
    const launch = async () => {
      const world = await launchStreamFixture({}, there);
      return { world, other: await launchForTest(world.settings, here) };
    };
    const { world, other } = await withVirtualTimers(launch, { withClock: true });
    const { file, postroom, ada, owner } = world;
    const privateRoom = await createPrivateRoom(world, [ada.id]);
    const { sockets, streams } = await follow(other, privateRoom, `Bearer ${ada.token}`);
    await postroom.createPost(owner, privateRoom, 'before');
    advanceTime(limitMs);
    for (const socket of sockets) await socket.take(({ type }) => type === 'next');
    let isPosting = true;
    const posting = (async () => {
      for (let n = 0; isPosting; n += 1) await postroom.createPost(owner, privateRoom, `number ${n}`);
    })();
    const remove = `mutation { removeRoomMember(input: { room: "${privateRoom}", user: "${ada.id}" }) { room { id } } }`;
    await postroom.ask(remove, {}, owner.token);
    advanceTime(limitMs);
    for (const socket of sockets) expect(await outcomeOf(socket)).toBe('MEMBERSHIP_REVOKED');
    for (const stream of streams) expect(await lastErrorCodeOf(stream)).toBe('MEMBERSHIP_REVOKED');
    for (const title of ['after', 'long after']) await postroom.createPost(owner, privateRoom, title);
    isPosting = false;
    await posting;
    const log = withDatabase(file, (database) =>
      database
        .prepare(
          `select "seq", "type", "title" from "roomEvents" left join posts on posts."id" = "subjectId" where "roomEvents"."roomId" = ? order by "seq"`,
        )
        .all(privateRoom),
    );
    const left = log.findIndex(({ type }) => type === 'MemberLeft');
    expect(left).toBeGreaterThan(0);
    const earlier = log.slice(0, left).map(({ title }) => title);
    expect(log.length).toBeGreaterThan(left + 1);
    const received = [
      ...sockets.map((socket) => socket.nexts('e').map(({ data }) => data.roomEvents.post?.title)),
      ...streams.map((stream) => eventsOf(stream).map(({ roomEvents }) => roomEvents.post?.title)),
    ];
    for (const titles of received) {
      const posts = titles.filter((title) => title !== undefined);
      expect(posts).toContain('before');
      expect(posts).toEqual(earlier.filter((title) => posts.includes(title)));
    }
  });
});

it('a key that one server revokes is refused by another server that has just cached it within two seconds', async () => {
  const launch = async () => {
    const world = await launchStreamFixture();
    return { world, other: await launchForTest(world.settings) };
  };
  const { world, other } = await withVirtualTimers(launch, { withClock: true });
  const { key, id } = await createKey(world);
  const ask = async () => (await sendAs(other, `ApiKey ${key}`)).status;
  expect(await ask()).toBe(200);
  await world.postroom.ask(`mutation { revokeApiKey(input: { id: "${id}" }) { apiKey { id } } }`, {}, world.ada.token);
  advanceTime(limitMs);
  expect(await ask()).toBe(401);
});

it('the time of use of a key is written at most once a minute by two servers, however many requests arrive at once', async () => {
  const launch = async () => {
    const world = await launchStreamFixture({ LOG_LEVEL: 'debug' });
    return { world, other: await launchForTest({ ...world.settings, LOG_LEVEL: 'debug' }) };
  };
  // On a busy machine, the requests may take longer than a server keeps what it read of a key.
  const { world, other } = await withVirtualTimers(launch, { withClock: true });
  const { key } = await createKey(world);
  const writes = () =>
    [world.postroom, other].flatMap(({ log }) =>
      log.filter(({ sql }) => /^update "apiKeys" set "lastUsedAt"/.test(String(sql))),
    );
  for (const postroom of [world.postroom, other]) {
    // No request waits for the write.
    await withDatabaseLocked(world.file, async () => {
      const all = await Promise.all(Array.from({ length: 30 }, () => sendAs(postroom, `ApiKey ${key}`)));
      expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]));
    });
    // The writes take their turn before this one.
    await postroom.createPost(world.owner, world.room, 'later');
    expect(writes()).toHaveLength(1);
  }
});
