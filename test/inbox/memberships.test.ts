// Runs on SQLite and on PostgreSQL.
import { beforeAll, expect, it } from 'vitest';
import { changeMembership, createSharedRoom } from '../support/rooms/read-state.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

/*
 * What the database stores about earlier memberships, for streams over all rooms of a user: the cursors of rooms that the
 * user has left are ignored, and a change of the memberships is found on every node, also if its message was lost.
 */

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

function versionOf({ id }: Person): number {
  return Number(rowsOf(`select "version" from "membershipVersions" where "userId" = '${id}'`)[0]?.['version'] ?? 0);
}

/** Whether the version of the member is greater after `work`. */
async function isAdvancedBy(member: Person, work: () => Promise<unknown>): Promise<boolean> {
  const before = versionOf(member);
  await work();
  return versionOf(member) > before;
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

it('each membership that begins or ends advances the version of its user, and nothing else does', async () => {
  const member = await postroom.signUp('member');
  const room = await postroom.createRoom(owner, 'versions');
  const change = (name: 'joinRoom' | 'leaveRoom') => () => changeMembership(postroom, name, member, room);
  for (const work of [
    change('joinRoom'),
    change('leaveRoom'),
    () => manage('addRoomMember', room, member),
    () => manage('removeRoomMember', room, member),
    () => postroom.createRoom(member, 'own'),
    change('joinRoom'),
  ])
    expect(await isAdvancedBy(member, work)).toBe(true);
  for (const work of [
    change('joinRoom'),
    () => manage('addRoomMember', room, member),
    () => postroom.createPost(member, room, 'a post'),
    () => postroom.ask(`mutation { markRead(input: { room: "${room}" }) { room { id } } }`, {}, member.token),
    () => postroom.createRoom(owner, 'of the owner'),
  ])
    expect(await isAdvancedBy(member, work)).toBe(false);
  await changeMembership(postroom, 'leaveRoom', member, room);
  expect(await isAdvancedBy(member, change('leaveRoom'))).toBe(false);
});

it('requests that join the same user at the same time all succeed', async () => {
  const member = await postroom.signUp('member');
  const room = await postroom.createRoom(owner, 'at once');
  const joins = () => Promise.all([1, 2, 3, 4].map(() => changeMembership(postroom, 'joinRoom', member, room)));
  expect(await isAdvancedBy(member, joins)).toBe(true);
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
  await expect.poll(() => [formerRoomsOf(member), versionOf(member)]).toEqual([[], 0]);
  expect(formerRoomsOf(other)).toEqual([kept]);
  expect(versionOf(other)).toBeGreaterThan(0);
});
