import { expect, it } from 'vitest';
import { createPresenceHall, setTyping } from '../../support/rooms/present.ts';
import { launchForTest } from '../../support/server/postroom.ts';

async function launchHall<Name extends string>(...names: Name[]) {
  return createPresenceHall(await launchForTest(), names);
}

it('a user whose connection was lost is reported as absent once, after ten seconds, unless the user is back', async () => {
  const { open } = await launchHall('Ada', 'Bob', 'Eve');
  const bob = await open('Bob');
  const [ada, eve] = [await open('Ada'), await open('Eve')];
  await bob.nextWith('Ada', 'Bob', 'Eve');
  const lostAt = performance.now();
  await Promise.all([ada.destroy(), eve.destroy()]);
  const back = await open('Eve');
  expect(await back.next()).toMatchObject({ users: ['Ada', 'Bob', 'Eve'] });
  expect(await bob.next()).toEqual({ count: 2, users: ['Bob', 'Eve'], typing: [] });
  // The promise is a time, and a slow machine only adds to it.
  expect(performance.now() - lostAt).toBeGreaterThan(9_000);
  back.socket.complete('p');
  expect(await bob.next()).toEqual({ count: 1, users: ['Bob'], typing: [] });
  expect(bob.seen.filter(({ users }) => users.join() === 'Bob,Eve')).toHaveLength(1);
});

it('a user is typing for five seconds after the last setTyping', async () => {
  const { room, open, people, call } = await launchHall('Ada', 'Bob');
  const bob = await open('Bob');
  await bob.next();
  await call(setTyping(room), people.Ada);
  const startedAt = performance.now();
  expect(await bob.next()).toMatchObject({ typing: ['Ada'] });
  await call(setTyping(room), people.Ada);
  expect(await bob.next()).toMatchObject({ typing: [] });
  // The promise is a time, and a slow machine only adds to it.
  expect(performance.now() - startedAt).toBeGreaterThan(4_000);
});

it('200 clients that are disconnected together cause at most five messages in a second, and the last is exact', async ({
  annotate,
}) => {
  const names = Array.from({ length: 200 }, (_, n) => `user ${String(n).padStart(3, '0')}`);
  const { open } = await launchHall('Bob', ...names);
  const startedAt = performance.now();
  const bob = await open('Bob');
  const followers = await Promise.all(names.map((name) => open(name)));
  await bob.next(({ count }) => count === 201);
  // Half of them close their connections.
  const [closed, lost] = [followers.slice(0, 100), followers.slice(100)];
  await Promise.all([...closed.map(({ socket }) => socket.close()), ...lost.map((follower) => follower.destroy())]);
  expect(await bob.next(({ count }) => count === 101)).toEqual({
    count: 101,
    users: ['Bob', ...names.slice(100, 199)],
    typing: [],
  });
  expect(await bob.next(({ count }) => count === 1)).toEqual({ count: 1, users: ['Bob'], typing: [] });
  // Of the whole time: a client that is slow receives the messages of several seconds at once.
  const seconds = Math.ceil((performance.now() - startedAt) / 1_000);
  expect(bob.seen.length).toBeLessThanOrEqual(5 * (seconds + 1));
  await annotate(`${bob.seen.length} messages in ${seconds} s`);
});

it('a client that does not read receives at most two states when it reads again, and the last is the latest', async () => {
  const { open } = await launchHall('Ada', 'Bob', 'Eve');
  const [slow, bob] = [await open('Ada'), await open('Bob')];
  await slow.nextWith('Ada', 'Bob');
  await slow.socket.settle();
  slow.socket.rawSocket.pause();
  const seen = slow.seen.length;
  for (let n = 0; n < 6; n += 1) {
    const eve = await open('Eve');
    await bob.nextWith('Ada', 'Bob', 'Eve');
    await eve.socket.close();
    await bob.nextWith('Ada', 'Bob');
  }
  await open('Eve');
  await bob.nextWith('Ada', 'Bob', 'Eve');
  slow.socket.rawSocket.resume();
  await slow.socket.settle();
  await slow.socket.settle();
  expect(slow.seen.length - seen).toBeLessThanOrEqual(2);
  expect(slow.seen.at(-1)).toMatchObject({ users: ['Ada', 'Bob', 'Eve'] });
  expect(slow.seen.at(-2)).not.toEqual(slow.seen.at(-1));
});
