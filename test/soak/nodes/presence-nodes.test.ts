import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createFaultProxy } from '../../support/clients/fault-proxy.ts';
import { createPresenceHall, readPresence } from '../../support/rooms/present.ts';
import { hasRedis, RedisServer } from '../../support/rooms/redis-server.ts';
import { launchForTest, launchProcessForTest, scratchFolder } from '../../support/server/postroom.ts';

/* The presence in a room whose viewers are connected to two nodes, one of which fails. */

const leaseMs = 30_000;

async function launchRedis() {
  const redis = await RedisServer.launch();
  onTestFinished(() => redis.stop());
  return redis;
}

const settingsWith = (url: string) => ({
  DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}`,
  REDIS_URL: url,
});

const namesOf = (count: number) => Array.from({ length: count }, (_, n) => `user ${String(n).padStart(3, '0')}`);

it.skipIf(!hasRedis)(
  'the users of a node that is killed disappear with its lease, except those who are back elsewhere',
  async ({ annotate }) => {
    const settings = settingsWith((await launchRedis()).url);
    const near = await launchForTest(settings);
    const far = await launchProcessForTest(settings);
    const names = namesOf(40);
    const { room, open } = await createPresenceHall(near, ['Bob', ...names]);
    const bob = await open('Bob');
    await Promise.all(names.map((name) => open(name, true, far)));
    await bob.next(({ count }) => count === 41);
    const killedAt = performance.now();
    await far.kill();
    await Promise.all(names.slice(0, 10).map((name) => open(name)));
    expect(await bob.next()).toEqual({ count: 11, users: ['Bob', ...names.slice(0, 10)], typing: [] });
    const elapsedMs = performance.now() - killedAt;
    // A slow machine only adds to the time; the test's own timeout is the upper bound.
    expect(elapsedMs).toBeGreaterThan(leaseMs / 2);
    expect(await readPresence(near, room)).toMatchObject({ count: 11 });
    await annotate(`after ${Math.round(elapsedMs / 1_000)} s`);
  },
);

it.skipIf(!hasRedis)('nodes that are cut off from each other agree again after the bus is back', async () => {
  const redis = await launchRedis();
  const proxy = await createFaultProxy(redis.url);
  onTestFinished(() => proxy.close());
  const settings = settingsWith(redis.url);
  const near = await launchForTest(settings);
  const far = await launchForTest({ ...settings, REDIS_URL: proxy.url });
  const { room, open } = await createPresenceHall(near, ['Ada', 'Bob', 'Eve', 'Max']);
  const bob = await open('Bob');
  const ada = await open('Ada', true, far);
  await bob.nextWith('Ada', 'Bob');
  await ada.nextWith('Ada', 'Bob');
  proxy.freeze();
  expect(await bob.nextWith('Bob')).toMatchObject({ count: 1 });
  expect(await ada.nextWith('Ada')).toMatchObject({ count: 1 });
  await open('Eve', true, far);
  await open('Max', true, near);
  proxy.thaw();
  const all = ['Ada', 'Bob', 'Eve', 'Max'];
  for (const follower of [ada, bob]) expect(await follower.nextWith(...all)).toMatchObject({ count: 4 });
  for (const node of [near, far]) expect(await readPresence(node, room)).toMatchObject({ count: 4 });
});
