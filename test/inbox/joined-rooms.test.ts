// Runs on SQLite and on PostgreSQL.
import { beforeAll, expect, it } from 'vitest';
import { changeMembership, createSharedRoom } from '../support/rooms/read-state.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

/* The rooms of which the viewer is a member. */

const server = shareServer();
let postroom: Postroom;
let owner: Person;
beforeAll(async () => {
  ({ postroom } = server);
  owner = await postroom.signUp('owner');
});

interface Rooms {
  edges: { cursor: string; node: { id: string } }[];
  nodes: { id: string; name: string }[];
  pageInfo: { hasPreviousPage: boolean; hasNextPage: boolean; startCursor: string | null; endCursor: string | null };
}

const fields = `{
  edges { cursor node { id } } nodes { id name } pageInfo { hasPreviousPage hasNextPage startCursor endCursor }
}`;

async function roomsOf(viewer: Person, args: Record<string, unknown> = {}): Promise<Rooms> {
  const query = `query ($first: Int, $after: String, $last: Int, $before: String) {
    viewer { rooms(first: $first, after: $after, last: $last, before: $before) ${fields} }
  }`;
  return (await postroom.ask(query, args, viewer.token)).viewer.rooms;
}

const idsOf = ({ nodes }: Rooms) => nodes.map(({ id }) => id);

/** A new member of this number of rooms. They are returned in their order in the list. */
async function joinRooms(count: number): Promise<{ member: Person; rooms: string[] }> {
  const member = await postroom.signUp('member');
  const rooms: string[] = [];
  for (let index = 0; index < count; index += 1) rooms.unshift(await createSharedRoom(postroom, owner, member));
  return { member, rooms };
}

it('the room with the latest event comes first, whatever the event is', async () => {
  const { member, rooms } = await joinRooms(3);
  const [newest = '', middle = '', oldest = ''] = rooms;
  expect(idsOf(await roomsOf(member))).toEqual([newest, middle, oldest]);
  await postroom.createPost(owner, oldest, 'a post');
  expect(idsOf(await roomsOf(member))).toEqual([oldest, newest, middle]);
  await postroom.ask(
    `mutation { updateRoom(input: { id: "${middle}", name: "new" }) { room { id } } }`,
    {},
    owner.token,
  );
  expect(idsOf(await roomsOf(member))).toEqual([middle, oldest, newest]);
  await changeMembership(postroom, 'joinRoom', await postroom.signUp('another'), newest);
  expect(idsOf(await roomsOf(member))).toEqual([newest, middle, oldest]);
});

it('a mark is no event, and does not change the order', async () => {
  const { member, rooms } = await joinRooms(2);
  const mark = `mutation { markRead(input: { room: "${rooms[1]}" }) { room { id } } }`;
  await postroom.ask(mark, {}, member.token);
  expect(idsOf(await roomsOf(member))).toEqual(rooms);
});

it('pages continue from a cursor in either direction, without a gap or a repetition', async () => {
  const { member, rooms } = await joinRooms(5);
  const first = await roomsOf(member, { first: 2 });
  expect(first).toEqual({
    edges: first.nodes.map(({ id }) => ({ cursor: expect.any(String), node: { id } })),
    nodes: rooms.slice(0, 2).map((id) => ({ id, name: expect.any(String) })),
    pageInfo: {
      hasPreviousPage: false,
      hasNextPage: true,
      startCursor: first.edges[0]?.cursor,
      endCursor: first.edges[1]?.cursor,
    },
  });
  const second = await roomsOf(member, { first: 2, after: first.pageInfo.endCursor });
  expect([idsOf(second), second.pageInfo]).toMatchObject([
    rooms.slice(2, 4),
    { hasPreviousPage: true, hasNextPage: true },
  ]);
  const third = await roomsOf(member, { first: 2, after: second.pageInfo.endCursor });
  expect([idsOf(third), third.pageInfo]).toMatchObject([rooms.slice(4), { hasPreviousPage: true, hasNextPage: false }]);
  const back = await roomsOf(member, { last: 2, before: third.pageInfo.startCursor });
  expect([idsOf(back), back.pageInfo]).toMatchObject([rooms.slice(2, 4), { hasPreviousPage: true, hasNextPage: true }]);
  expect(idsOf(await roomsOf(member, { last: 3 }))).toEqual(rooms.slice(2));
  const between = { after: first.edges[0]?.cursor, before: third.pageInfo.startCursor };
  expect(idsOf(await roomsOf(member, between))).toEqual(rooms.slice(1, 4));
});

it('the first 20 rooms are returned without arguments, and arguments out of range are refused', async () => {
  const { member, rooms } = await joinRooms(21);
  expect(idsOf(await roomsOf(member))).toEqual(rooms.slice(0, 20));
  for (const [args, field] of [
    ['first: 0', 'first'],
    ['last: 101', 'last'],
    ['after: "nonsense"', 'after'],
    ['before: ""', 'before'],
  ]) {
    // The list of another user is empty, but not less strict.
    for (const user of ['viewer', `user(id: "${owner.id}")`]) {
      const { errors } = await postroom.send(`{ ${user} { rooms(${args}) { nodes { id } } } }`, {}, member.token);
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field }] });
    }
  }
});

it('a room enters with its first membership and goes with the last, also if it is private or deleted', async () => {
  const { member, rooms } = await joinRooms(1);
  const own = await postroom.createRoom(member, 'own');
  const create = 'mutation { createRoom(input: { name: "den", visibility: PRIVATE }) { room { id } } }';
  const den = (await postroom.ask(create, {}, owner.token)).createRoom.room.id;
  const change = (name: string) =>
    postroom.ask(
      `mutation { ${name}(input: { room: "${den}", user: "${member.id}" }) { room { id } } }`,
      {},
      owner.token,
    );
  await change('addRoomMember');
  expect(idsOf(await roomsOf(member))).toEqual([den, own, ...rooms]);
  await change('removeRoomMember');
  expect(idsOf(await roomsOf(member))).toEqual([own, ...rooms]);
  await changeMembership(postroom, 'leaveRoom', member, rooms[0] ?? '');
  expect(idsOf(await roomsOf(member))).toEqual([own]);
  await postroom.ask(`mutation { deleteRoom(input: { id: "${own}" }) { room { id } } }`, {}, member.token);
  const empty = { hasPreviousPage: false, hasNextPage: false, startCursor: null, endCursor: null };
  expect(await roomsOf(member)).toEqual({ edges: [], nodes: [], pageInfo: empty });
});

it('the rooms of another user are not listed, also not for an owner of these rooms', async () => {
  const { member } = await joinRooms(2);
  const query = `{ user(id: "${member.id}") { rooms ${fields} } }`;
  const empty = { hasPreviousPage: false, hasNextPage: false, startCursor: null, endCursor: null };
  for (const token of [owner.token, undefined]) {
    const { user } = await postroom.ask(query, {}, token);
    expect(user.rooms).toEqual({ edges: [], nodes: [], pageInfo: empty });
  }
  expect((await postroom.ask(query, {}, member.token)).user.rooms.nodes).toHaveLength(2);
});
