import { describe, expect, it } from 'vitest';
import { EventStream } from '../support/clients/event-stream.ts';
import type { Result } from '../support/clients/protocol-socket.ts';
import { createPresenceHall, presenceQuery, readPresence } from '../support/rooms/present.ts';
import type { Person } from '../support/server/postroom.ts';
import { launchForTest } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();

const createHall = <Name extends string>(...names: Name[]) => createPresenceHall(server.postroom, names);

const closePrivate = (room: string) => `updateRoom(input: { id: "${room}", visibility: PRIVATE }) { room { id } }`;
const member = (action: string, room: string, { id }: Person) =>
  `${action}RoomMember(input: { room: "${room}", user: "${id}" }) { room { id } }`;

describe('roomPresence', () => {
  it('sends the state at once, then whenever it has changed, users by name', async () => {
    const { open } = await createHall('Bob', 'Ada');
    const bob = await open('Bob');
    expect(await bob.next()).toEqual({ count: 1, users: ['Bob'], typing: [] });
    const ada = await open('Ada');
    expect(await ada.next()).toEqual({ count: 2, users: ['Ada', 'Bob'], typing: [] });
    expect(await bob.next()).toEqual({ count: 2, users: ['Ada', 'Bob'], typing: [] });
    ada.socket.complete('p');
    expect(await bob.next()).toEqual({ count: 1, users: ['Bob'], typing: [] });
    expect(bob.seen).toHaveLength(3);
  });

  it('does not show a viewer that subscribes with visible: false', async () => {
    const { open } = await createHall('Ada', 'Bob');
    const hidden = await open('Bob', false);
    expect(await hidden.next()).toEqual({ count: 0, users: [], typing: [] });
    const ada = await open('Ada');
    expect(await ada.next()).toEqual({ count: 1, users: ['Ada'], typing: [] });
    expect(await hidden.next()).toEqual({ count: 1, users: ['Ada'], typing: [] });
  });

  it('counts two tabs of a user once, until both are closed, and counts anonymous viewers without listing them', async () => {
    const { open } = await createHall('Ada', 'Bob');
    const bob = await open('Bob');
    const [first, second] = [await open('Ada'), await open('Ada')];
    expect(await bob.nextWith('Ada', 'Bob')).toMatchObject({ count: 2 });
    const anonymous = await open();
    expect(await bob.next()).toEqual({ count: 3, users: ['Ada', 'Bob'], typing: [] });
    await first.socket.close();
    await anonymous.socket.close();
    expect(await bob.next()).toEqual({ count: 2, users: ['Ada', 'Bob'], typing: [] });
    await second.socket.close();
    expect(await bob.next()).toEqual({ count: 1, users: ['Bob'], typing: [] });
  });

  it('counts an anonymous viewer once for each connection, whatever the number of its subscriptions', async () => {
    const { open, room } = await createHall('Bob', 'Eve');
    const bob = await open('Bob');
    await bob.next();
    const anonymous = await open();
    for (const id of ['1', '2', '3']) await anonymous.socket.subscribe(id, presenceQuery, { room }).results.next();
    const other = await open();
    expect(await other.next()).toMatchObject({ count: 3 });
    expect((await open('Eve')).seen).toEqual([]);
    expect(await bob.nextWith('Bob', 'Eve')).toMatchObject({ count: 4 });
    for (const id of ['p', '1', '2']) anonymous.socket.complete(id);
    await anonymous.socket.settle();
    await other.socket.close();
    expect(await bob.next(({ count }) => count < 4)).toMatchObject({ count: 3 });
    anonymous.socket.complete('3');
    expect(await bob.next()).toMatchObject({ count: 2 });
  });

  it('does not report a user whose socket was destroyed and who is back', async () => {
    const { open } = await createHall('Ada', 'Bob', 'Eve');
    const bob = await open('Bob');
    const ada = await open('Ada');
    await bob.nextWith('Ada', 'Bob');
    await ada.destroy();
    const back = await open('Ada');
    expect(await back.next()).toMatchObject({ users: ['Ada', 'Bob'] });
    await open('Eve');
    expect(await bob.next()).toMatchObject({ count: 3, users: ['Ada', 'Bob', 'Eve'] });
    back.socket.complete('p');
    expect(await bob.next()).toMatchObject({ count: 2, users: ['Bob', 'Eve'] });
  });

  it('is the same over server-sent events', async () => {
    const { postroom, room, people, open } = await createHall('Ada', 'Bob');
    const bob = await open('Bob');
    const headers = { authorization: `Bearer ${people.Ada.token}` };
    const ada = await EventStream.open(postroom.graphqlUrl, presenceQuery, headers, { room });
    expect(await bob.nextWith('Ada', 'Bob')).toMatchObject({ count: 2 });
    const { data } = await ada.results.next();
    expect(data.roomPresence.count).toBe(2);
  });

  it('does not change the cursor of the room', async () => {
    const { postroom, room, open, people, call } = await createHall('Ada', 'Bob');
    const cursor = await postroom.cursorOf(room);
    const bob = await open('Bob');
    await open('Ada');
    await bob.nextWith('Ada', 'Bob');
    await call(`setTyping(input: { room: "${room}", typing: true }) { room { id } }`, people.Ada);
    await bob.next(({ typing }) => typing.length > 0);
    expect(await postroom.cursorOf(room)).toBe(cursor);
  });

  it('refuses a room that does not exist or is not visible', async () => {
    const { room, open, call } = await createHall('Ada');
    await call(closePrivate(room));
    expect(await (await open('Ada')).refused).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
    expect(await (await open()).refused).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
  });

  it('executes a selection that reads the viewer for each viewer', async () => {
    const { open, room } = await createHall('Ada', 'Bob');
    const query = 'subscription ($room: ID!) { roomPresence(room: $room) { users { name email } } }';
    const [ada, bob] = [await open('Ada', false), await open('Bob', false)];
    const seenByAda = ada.socket.subscribe('e', query, { room }).results;
    const seenByBob = bob.socket.subscribe('e', query, { room }).results;
    const isComplete = ({ data }: { data?: { roomPresence: { users: unknown[] } } }) =>
      data?.roomPresence.users.length === 2;
    const email = expect.stringContaining('@');
    expect((await seenByAda.next(isComplete)).data.roomPresence.users).toEqual([
      { name: 'Ada', email },
      { name: 'Bob', email: null },
    ]);
    expect((await seenByBob.next(isComplete)).data.roomPresence.users).toEqual([
      { name: 'Ada', email: null },
      { name: 'Bob', email },
    ]);
  });

  it('sends no viewer what another sees, also if several selections of one document are found to be personal at once', async () => {
    const { open, call, room, people } = await createHall('Ada', 'Bob');
    await call(`joinRoom(input: { room: "${room}" }) { room { id } }`, people.Ada);
    const [ada, bob] = [await open('Ada', false), await open('Bob', false)];
    const roleOf = ({ data }: Result) => data.roomPresence.room.viewerRole;
    for (const round of ['A', 'B', 'C', 'D']) {
      const query = `subscription ${round}($room: ID!, $isNamed: Boolean!) {
        roomPresence(room: $room) { room { viewerRole name @include(if: $isNamed) } }
      }`;
      const subscribe = ({ socket }: typeof ada) =>
        [false, true].map((isNamed) => socket.subscribe(`${round}${isNamed}`, query, { room, isNamed }).results.next());
      const [seenByAda, seenByBob] = [subscribe(ada), subscribe(bob)];
      expect((await Promise.all(seenByAda)).map(roleOf)).toEqual(['MEMBER', 'MEMBER']);
      expect((await Promise.all(seenByBob)).map(roleOf)).toEqual([null, null]);
    }
  });
});

describe('the limits of subscriptions', () => {
  it('apply to roomPresence: the number on a socket, and the cost of all different ones of an address', async () => {
    const postroom = await launchForTest({ LIMIT_COST: '200', LIMIT_SUBSCRIPTIONS: '2' });
    const { room, open } = await createPresenceHall(postroom, ['Ada']);
    const code = (expected: string) =>
      expect.arrayContaining([
        { extensions: expect.objectContaining({ code: expected }), message: expect.any(String) },
      ]);
    const { socket } = await open('Ada');
    socket.subscribe('2', presenceQuery, { room });
    const refused = socket.subscribe('3', presenceQuery, { room });
    expect(await refused.refused).toEqual(code('SUBSCRIPTION_LIMIT_EXCEEDED'));
    // All together may cost 1,000. The first two cost 111 each, and the others 101 each.
    const others = await Promise.all(Array.from({ length: 9 }, () => open()));
    const answers = others.map(({ socket: other }, n) =>
      other.subscribe('o', `subscription ($room: ID!) { roomPresence(room: $room) { count users { a${n}: name } } }`, {
        room,
      }),
    );
    const outcomes = await Promise.all(
      answers.map((answer) =>
        Promise.race([answer.refused.then(() => 'refused'), answer.results.next().then(() => 'ok')]),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'refused')).toHaveLength(2);
  });
});

describe('Room.presence', () => {
  it('is the present state, for everyone who sees the room', async () => {
    const { postroom, room, open } = await createHall('Ada');
    expect(await readPresence(postroom, room)).toEqual({ count: 0, users: [], typing: [] });
    const ada = await open('Ada');
    await ada.next();
    expect(await readPresence(postroom, room)).toEqual({ count: 1, users: ['Ada'], typing: [] });
    await ada.socket.close();
    const other = await open(undefined, false);
    expect(await other.next()).toEqual({ count: 0, users: [], typing: [] });
  });
});

describe('a viewer that loses access is absent', () => {
  it('after the membership was removed', async () => {
    const { room, open, people, call } = await createHall('Ada', 'Bob');
    await call(closePrivate(room));
    for (const person of [people.Ada, people.Bob]) await call(member('add', room, person));
    const bob = await open('Bob');
    const ada = await open('Ada');
    await bob.nextWith('Ada', 'Bob');
    await call(member('remove', room, people.Ada));
    expect(await ada.refused).toMatchObject([{ extensions: { code: 'MEMBERSHIP_REVOKED' } }]);
    expect(await bob.next()).toEqual({ count: 1, users: ['Bob'], typing: [] });
  });

  it('and a viewer that enters at the same time is present', async () => {
    const { room, open, people, call } = await createHall('Ada', 'Bob', 'Eve');
    await call(closePrivate(room));
    for (const person of [people.Ada, people.Bob]) await call(member('add', room, person));
    const ada = await open('Ada');
    await ada.next();
    for (let round = 0; round < 10; round += 1) {
      await call(member('add', room, people.Eve));
      const eve = await open('Eve');
      await ada.nextWith('Ada', 'Eve');
      const [bob] = await Promise.all([open('Bob'), call(member('remove', room, people.Eve))]);
      await eve.refused;
      await ada.nextWith('Ada', 'Bob');
      expect(await readPresence(server.postroom, room, people.Ada.token)).toMatchObject({ users: ['Ada', 'Bob'] });
      bob.socket.complete('p');
      await ada.nextWith('Ada');
    }
  });

  it('after the membership was removed while its connection was lost', async () => {
    const { room, open, people, call } = await createHall('Ada', 'Bob');
    await call(closePrivate(room));
    for (const person of [people.Ada, people.Bob]) await call(member('add', room, person));
    const bob = await open('Bob');
    const ada = await open('Ada');
    await bob.nextWith('Ada', 'Bob');
    await ada.destroy();
    await call(member('remove', room, people.Ada));
    expect(await bob.next()).toEqual({ count: 1, users: ['Bob'], typing: [] });
  });

  it('after the room has become private', async () => {
    const { room, open, people, call } = await createHall('Ada', 'Bob');
    await call(member('add', room, people.Bob));
    const bob = await open('Bob');
    const [ada, anonymous] = [await open('Ada'), await open()];
    await bob.next(({ count }) => count === 3);
    await call(closePrivate(room));
    for (const { refused } of [ada, anonymous])
      expect(await refused).toMatchObject([{ extensions: { code: 'MEMBERSHIP_REVOKED' } }]);
    expect(await bob.nextWith('Bob')).toEqual({ count: 1, users: ['Bob'], typing: [] });
  });

  it('after a new password has revoked the session', async () => {
    const { open, people, postroom } = await createHall('Ada', 'Bob');
    const bob = await open('Bob');
    const { email, password } = people.Ada;
    const signIn = 'mutation ($input: SignInInput!) { signIn(input: $input) { accessToken } }';
    const { accessToken } = (await postroom.ask(signIn, { input: { email, password } })).signIn;
    const ada = await open('Ada');
    await bob.nextWith('Ada', 'Bob');
    const change = `mutation { changePassword(input: { currentPassword: "${password}", newPassword: "another horse" }) { expiresAt } }`;
    await postroom.ask(change, {}, accessToken);
    expect(await ada.socket.closed).toMatchObject({ code: 4403 });
    expect(await bob.next()).toEqual({ count: 1, users: ['Bob'], typing: [] });
  });

  it('after the account was deleted, also while its connection was lost', async () => {
    const { open, people, call } = await createHall('Ada', 'Bob', 'Eve');
    const bob = await open('Bob');
    const [ada, eve] = [await open('Ada'), await open('Eve')];
    await bob.nextWith('Ada', 'Bob', 'Eve');
    await eve.destroy();
    for (const person of [people.Ada, people.Eve])
      await call(`deleteUser(input: { id: "${person.id}" }) { user { id } }`, person);
    await ada.socket.closed;
    // A state between the deletion and its message counts a user who is no longer shown.
    expect(await bob.next(({ count }) => count === 1)).toEqual({ count: 1, users: ['Bob'], typing: [] });
  });

  it('after the room was deleted', async () => {
    const { room, open, call } = await createHall('Ada');
    const ada = await open('Ada');
    await ada.next();
    await call(`deleteRoom(input: { id: "${room}" }) { room { id } }`);
    expect(await ada.refused).toMatchObject([{ extensions: { code: 'ROOM_DELETED' } }]);
  });
});
