// Runs on SQLite and on PostgreSQL.
import { beforeAll, expect, it } from 'vitest';
import { changeMembership, createSharedRoom } from '../support/rooms/read-state.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

/* What the database stores about the memberships of a user: the former ones, and the log of the user. */

const server = shareServer();
let postroom: Postroom;
let owner: Person;
beforeAll(async () => {
  ({ postroom } = server);
  owner = await postroom.signUp('owner');
});

function rowsOf(sql: string): Record<string, unknown>[] {
  return withDatabase(server.databaseFile, (database) => database.prepare(sql).all());
}

function formerRoomsOf({ id }: Person): string[] {
  return rowsOf(`select "roomId" from "formerMembers" where "userId" = '${id}' order by "roomId"`).map(({ roomId }) =>
    String(roomId),
  );
}

function headOf({ id }: Person): number {
  return Number(rowsOf(`select "head" from "userLogs" where "userId" = '${id}'`)[0]?.['head'] ?? 0);
}

/** The events that `work` adds to the log of the member, each as its type and the number before it in the log of its room. */
async function eventsOf({ id }: Person, work: () => Promise<unknown>): Promise<string[]> {
  const read = () => rowsOf(`select * from "userEvents" where "userId" = '${id}' order by "seq"`);
  const before = read().length;
  await work();
  return read()
    .slice(before)
    .map(({ type, roomSeq }) => `${type} ${roomSeq}`);
}

const manage = (field: 'addRoomMember' | 'removeRoomMember', room: string, { id }: Person) =>
  postroom.ask(`mutation { ${field}(input: { room: "${room}", user: "${id}" }) { room { id } } }`, {}, owner.token);

it('a user who leaves or is removed is a former member, also after joining again', async () => {
  const member = await postroom.signUp('member');
  const rooms = [await createSharedRoom(postroom, owner, member), await createSharedRoom(postroom, owner, member)];
  const [left = '', removed = ''] = rooms;
  expect(formerRoomsOf(member)).toEqual([]);
  await changeMembership(postroom, 'leaveRoom', member, left);
  await manage('removeRoomMember', removed, member);
  expect(formerRoomsOf(member)).toEqual(rooms.toSorted());
  for (const change of ['joinRoom', 'leaveRoom'] as const) await changeMembership(postroom, change, member, left);
  expect(formerRoomsOf(member)).toEqual(rooms.toSorted());
});

it('a user who never was a member of a room is no former member of it', async () => {
  const member = await postroom.signUp('member');
  const room = await postroom.createRoom(owner, 'never');
  await changeMembership(postroom, 'leaveRoom', member, room);
  await manage('removeRoomMember', room, member);
  expect(formerRoomsOf(member)).toEqual([]);
});

it('each membership that begins or ends is an event in the log of its user, and so is each read position that moves', async () => {
  const member = await postroom.signUp('member');
  const room = await postroom.createRoom(owner, 'events');
  const own = await postroom.createRoom(member, 'of the member');
  const change = (name: 'joinRoom' | 'leaveRoom') => () => changeMembership(postroom, name, member, room);
  const read = () =>
    postroom.ask(`mutation { markRead(input: { room: "${room}" }) { room { id } } }`, {}, member.token);
  const remove = `mutation { deleteRoom(input: { id: "${own}" }) { room { id } } }`;
  const expected: [work: () => Promise<unknown>, events: string[]][] = [
    [change('joinRoom'), ['MemberJoined 1']],
    [change('joinRoom'), []],
    [() => postroom.createPost(owner, room, 'a post'), []],
    [read, ['RoomRead 0']],
    [read, []],
    [() => postroom.createPost(member, room, 'an own post'), []],
    [change('leaveRoom'), ['MemberLeft 4']],
    [change('leaveRoom'), []],
    [() => manage('addRoomMember', room, member), ['MemberJoined 5']],
    [() => manage('addRoomMember', room, member), []],
    [() => manage('removeRoomMember', room, member), ['MemberLeft 6']],
    [() => postroom.createRoom(member, 'another'), ['MemberJoined 0']],
    [() => postroom.createRoom(owner, 'of the owner'), []],
    [() => postroom.ask(remove, {}, member.token), ['RoomDeleted 1']],
  ];
  for (const [work, events] of expected) expect(await eventsOf(member, work)).toEqual(events);
});

it('requests that join the same user at the same time all succeed', async () => {
  const member = await postroom.signUp('member');
  const room = await postroom.createRoom(owner, 'at once');
  const joins = () => Promise.all([1, 2, 3, 4].map(() => changeMembership(postroom, 'joinRoom', member, room)));
  expect(await eventsOf(member, joins)).toEqual(['MemberJoined 1']);
});

it('the log of a user keeps the latest 10,000 events', async () => {
  const member = await postroom.signUp('member');
  const room = await createSharedRoom(postroom, owner, member);
  withDatabase(server.databaseFile, (database) =>
    database.prepare(`update "userLogs" set "head" = 10000 where "userId" = '${member.id}'`).run(),
  );
  await changeMembership(postroom, 'leaveRoom', member, room);
  const numbers = rowsOf(`select "seq" from "userEvents" where "userId" = '${member.id}'`);
  expect(numbers.map(({ seq }) => Number(seq))).toEqual([10_001]);
});

it('users who join and leave the same rooms at the same time, in different orders, all succeed', async () => {
  const members = await Promise.all([1, 2, 3, 4].map(() => postroom.signUp('member')));
  const rooms = await Promise.all(
    ['one', 'two', 'three'].map((name) => postroom.createRoom(owner, `crossing ${name}`)),
  );
  for (const change of ['joinRoom', 'leaveRoom', 'joinRoom'] as const) {
    const changes = members.flatMap((member, turn) =>
      rooms.map((_, index) => changeMembership(postroom, change, member, rooms[(index + turn) % rooms.length] ?? '')),
    );
    await Promise.all(changes);
  }
  for (const { id } of members) {
    expect(rowsOf(`select "roomId" from "roomMembers" where "userId" = '${id}'`)).toHaveLength(rooms.length);
  }
});

it('the deletion of a room, or of an account, removes what is stored about their memberships', async () => {
  const [member, other] = [await postroom.signUp('member'), await postroom.signUp('other')];
  const [deleted, kept] = [
    await createSharedRoom(postroom, owner, member),
    await createSharedRoom(postroom, owner, member),
  ];
  await changeMembership(postroom, 'joinRoom', other, kept);
  for (const room of [deleted, kept]) await changeMembership(postroom, 'leaveRoom', member, room);
  await changeMembership(postroom, 'leaveRoom', other, kept);
  await postroom.ask(`mutation { deleteRoom(input: { id: "${deleted}" }) { room { id } } }`, {}, owner.token);
  expect(formerRoomsOf(member)).toEqual([kept]);
  await postroom.ask(`mutation { deleteUser(input: { id: "${member.id}" }) { user { id } } }`, {}, member.token);
  await expect
    .poll(() => [
      formerRoomsOf(member),
      headOf(member),
      rowsOf(`select * from "userEvents" where "userId" = '${member.id}'`),
    ])
    .toEqual([[], 0, []]);
  expect(formerRoomsOf(other)).toEqual([kept]);
  expect(headOf(other)).toBeGreaterThan(0);
});
