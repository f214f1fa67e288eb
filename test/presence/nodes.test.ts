import { describe, expect, it, onTestFinished } from 'vitest';
import type { Bus } from '../../src/live/bus/bus.ts';
import { createFaultProxy } from '../support/clients/fault-proxy.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { createPresenceHall, readPresence, setTyping } from '../support/rooms/present.ts';
import { createUnreliablePair } from '../support/rooms/unreliable-bus.ts';
import { busesBetweenNodes, useBackends } from '../support/server/backends.ts';
import { launchForTest, type Settings, scratchFolder } from '../support/server/postroom.ts';

/* The presence in a room whose viewers are connected to two nodes. */

it('a page of a report that was lost is repeated while other pages change', async () => {
  const [nearBus, farBus] = createUnreliablePair('none');
  let isLosing = false;
  const losing: Bus = {
    ...farBus,
    kind: 'redis',
    publish(message) {
      if (!isLosing || message.type !== 'presencePageReported' || message.index === 0) return farBus.publish(message);
      isLosing = false;
    },
  };
  const settings = { DATABASE_URL: `sqlite:${scratchFolder()}/postroom.db` };
  const near = await launchForTest(settings, { bus: { ...nearBus, kind: 'redis' } });
  const far = await launchForTest(settings, { bus: losing });
  const names = Array.from({ length: 102 }, (_, n) => `viewer ${n}`);
  const { room, people, open } = await createPresenceHall(near, names);
  const watcher = await open(undefined, false, near);
  const enter = async (name: string) => open(name, true, far);
  await Promise.all(names.slice(0, 100).map(enter));
  await watcher.next(({ count }) => count === 100);
  const last = await Promise.all(names.slice(100).map(enter));
  await watcher.next(({ count }) => count === 102);
  isLosing = true;
  last[0]?.socket.complete('p');
  const typing = setInterval(
    () => void far.ask(`mutation { ${setTyping(room)} }`, {}, people['viewer 1']?.token),
    1_000,
  );
  onTestFinished(() => clearInterval(typing));
  await watcher.next(({ count }) => count === 101);
  expect(isLosing).toBe(false);
});

async function launchHall<Name extends string>(given: Settings, ...names: Name[]) {
  const near = await launchForTest(given);
  const far = await launchForTest(given);
  return { ...(await createPresenceHall(near, names)), near, far };
}

for (const { name, kind, isMissing, settings } of busesBetweenNodes(useBackends()))
  describe.skipIf(isMissing)(`over ${name}`, () => {
    it('a node shows who is present and who is typing through another', async () => {
      const { near, far, room, people, open, call } = await launchHall(await settings(), 'Ada', 'Bob', 'Eve');
      const ada = await open('Ada', true, near);
      expect(await ada.next()).toEqual({ count: 1, users: ['Ada'], typing: [] });
      const bob = await open('Bob', true, far);
      expect(await bob.next()).toEqual({ count: 2, users: ['Ada', 'Bob'], typing: [] });
      expect(await ada.next()).toEqual({ count: 2, users: ['Ada', 'Bob'], typing: [] });
      const tab = await open('Ada', true, far);
      const anonymous = await open(undefined, true, far);
      expect(await ada.next()).toEqual({ count: 3, users: ['Ada', 'Bob'], typing: [] });
      await call(setTyping(room), people.Eve);
      for (const follower of [ada, bob])
        expect(await follower.next(({ typing }) => typing.length > 0)).toMatchObject({ count: 3, typing: ['Eve'] });
      await far.ask(`mutation { ${setTyping(room, false)} }`, {}, people.Eve.token);
      expect(await ada.next()).toMatchObject({ typing: [] });
      await anonymous.socket.close();
      await tab.socket.close();
      expect(await ada.next()).toEqual({ count: 2, users: ['Ada', 'Bob'], typing: [] });
      await bob.socket.close();
      expect(await ada.next()).toEqual({ count: 1, users: ['Ada'], typing: [] });
    });

    it('a post through one node ends the typing through another', async () => {
      const { near, far, room, people, open, call } = await launchHall(await settings(), 'Ada');
      const ada = await open('Ada', true, far);
      await call(setTyping(room), people.Ada);
      await ada.next(({ typing }) => typing.length > 0);
      await far.createPost(people.Ada, room, 'a post');
      expect(await ada.next()).toMatchObject({ typing: [] });
      expect(await readPresence(near, room)).toMatchObject({ count: 1, typing: [] });
    });

    it('a node without viewers in the room answers queries', async () => {
      const { near, far, room, open } = await launchHall(await settings(), 'Ada');
      expect(await readPresence(far, room)).toEqual({ count: 0, users: [], typing: [] });
      const ada = await open('Ada', true, near);
      await ada.next();
      const watcher = await open(undefined, false, far);
      expect(await watcher.nextWith('Ada')).toEqual({ count: 1, users: ['Ada'], typing: [] });
      expect(await readPresence(far, room)).toEqual({ count: 1, users: ['Ada'], typing: [] });
      const rooms = await far.ask('{ rooms { data { presence { count } } } }');
      expect(rooms.rooms.data).toEqual([{ presence: { count: 1 } }]);
    });

    it('a user that loses the membership through one node is absent on the other', async () => {
      const { near, far, room, people, open, call } = await launchHall(await settings(), 'Ada', 'Bob');
      await call(`updateRoom(input: { id: "${room}", visibility: PRIVATE }) { room { id } }`);
      for (const { id } of Object.values(people))
        await call(`addRoomMember(input: { room: "${room}", user: "${id}" }) { room { id } }`);
      const ada = await open('Ada', true, far);
      const bob = await open('Bob', true, near);
      await bob.nextWith('Ada', 'Bob');
      await call(`removeRoomMember(input: { room: "${room}", user: "${people.Ada.id}" }) { room { id } }`);
      expect(await ada.refused).toMatchObject([{ extensions: { code: 'MEMBERSHIP_REVOKED' } }]);
      expect(await bob.next()).toEqual({ count: 1, users: ['Bob'], typing: [] });
    });

    it('the viewers of a node that stops are not absent while they connect to another', async () => {
      const { near, far, open } = await launchHall(await settings(), 'Ada', 'Bob', 'Eve');
      const bob = await open('Bob', true, near);
      const ada = await open('Ada', true, far);
      await bob.nextWith('Ada', 'Bob');
      await far.stop();
      await ada.socket.closed;
      await open('Ada', true, near);
      const eve = await open('Eve', true, near);
      expect(await bob.next()).toEqual({ count: 3, users: ['Ada', 'Bob', 'Eve'], typing: [] });
      eve.socket.complete('p');
      expect(await bob.next()).toEqual({ count: 2, users: ['Ada', 'Bob'], typing: [] });
    });

    it('the presence of more users than one message can name is complete', async () => {
      const names = Array.from({ length: 230 }, (_, n) => `${String(n).padStart(3, '0')} ${'ü'.repeat(40)}`);
      const { near, far, room, people, open } = await launchHall(await settings(), ...names);
      const watcher = await open(undefined, false, near);
      await watcher.next();
      // They do not select the users, whose names would be most of the work of the test.
      const enter = async (name: string) => {
        const init = { authorization: `Bearer ${people[name]?.token}` };
        const socket = await ProtocolSocket.open(far.webSocketUrl, { init });
        socket.subscribe('p', `subscription { roomPresence(room: "${room}") { count } }`);
        return socket;
      };
      const sockets = await Promise.all(names.map(enter));
      expect(await watcher.next(({ count }) => count === 230)).toMatchObject({ users: names.slice(0, 100) });
      const late = await open(undefined, false, near);
      expect(await late.next()).toMatchObject({ count: 230, users: names.slice(0, 100) });
      for (const socket of sockets.slice(0, 120)) socket.complete('p');
      expect(await watcher.next(({ count }) => count === 110)).toMatchObject({ users: names.slice(120, 220) });
    });

    it('nodes agree again after one of them had lost the bus while viewers came and went', async () => {
      const given = await settings();
      const [setting, bus = ''] =
        kind === 'redis' ? ['REDIS_URL', given['REDIS_URL']] : ['DATABASE_URL', given['DATABASE_URL']];
      const proxy = await createFaultProxy(bus);
      onTestFinished(() => proxy.close());
      const near = await launchForTest(given);
      const far = await launchForTest({ ...given, [setting]: proxy.url });
      const { room, open } = await createPresenceHall(near, ['Ada', 'Bob', 'Eve', 'Max', 'Zoe']);
      const [ada, max] = [await open('Ada', true, near), await open('Max', true, near)];
      const [bob, zoe] = [await open('Bob', true, far), await open('Zoe', true, far)];
      for (const follower of [ada, bob]) await follower.nextWith('Ada', 'Bob', 'Max', 'Zoe');
      proxy.retarget('http://127.0.0.1:1');
      max.socket.complete('p');
      await ada.nextWith('Ada', 'Bob', 'Zoe');
      await open('Eve', true, near);
      await ada.nextWith('Ada', 'Bob', 'Eve', 'Zoe');
      zoe.socket.complete('p');
      await zoe.socket.settle();
      proxy.retarget(bus);
      for (const follower of [ada, bob]) await follower.nextWith('Ada', 'Bob', 'Eve');
      for (const node of [near, far]) expect(await readPresence(node, room)).toMatchObject({ count: 3 });
    });
  });
