// Runs on SQLite and on PostgreSQL.

import { beforeAll, expect, it } from 'vitest';
import { InboxStream } from '../support/inbox/inbox-stream.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';
import { statementsDuring } from '../support/server/statements.ts';
import { launchStreamFixture } from '../support/server/stream-fixture.ts';

const server = shareServer({ LOG_LEVEL: 'debug' });
let postroom: Postroom;
let count = 0;

/** The rooms of a user, each with its other user. */
const roomsQuery = '{ viewer { rooms(first: 5) { nodes { id directUser { id name } } } } }';
const mutation = `mutation ($user: ID!) {
  openDirectRoom(input: { user: $user }) { room { id name visibility owner { id } members(first: 5) { nodes { name } } } }
}`;

beforeAll(() => {
  postroom = server.postroom;
});

async function signUpTwo(): Promise<[Person, Person]> {
  count += 1;
  return (await postroom.signUpAll([`Ada ${count}`, `Bob ${count}`])) as [Person, Person];
}

async function open(by: Person, { id }: Pick<Person, 'id'>) {
  return (await postroom.ask(mutation, { user: id }, by.token)).openDirectRoom.room;
}

async function codeOf(by: Person, query: string, variables = {}): Promise<unknown> {
  const { errors } = (await postroom.send(query, variables, by.token)) as unknown as {
    errors?: { extensions: { code: string } }[];
  };
  return errors?.[0]?.extensions.code;
}

const leave = ({ token }: Person, room: string) =>
  postroom.ask('mutation ($room: ID!) { leaveRoom(input: { room: $room }) { room { id } } }', { room }, token);

const deleteUser = ({ id, token }: Person) =>
  postroom.ask('mutation ($id: ID!) { deleteUser(input: { id: $id }) { user { id } } }', { id }, token);

it('both users open the same private room, which belongs to neither', async () => {
  const [ada, bob] = await signUpTwo();
  const room = await open(ada, bob);
  expect(room).toMatchObject({ name: 'direct room', visibility: 'PRIVATE', owner: null });
  expect(room.members.nodes).toHaveLength(2);
  expect(await open(bob, ada)).toEqual(room);
  expect(await open(ada, bob)).toEqual(room);
  const carl = await postroom.signUp('Carl');
  expect((await open(ada, carl)).id).not.toBe(room.id);
  const add = `mutation { addRoomMember(input: { room: "${room.id}", user: "${carl.id}" }) { room { id } } }`;
  expect(await codeOf(ada, add)).toBe('FORBIDDEN');
});

it('calls of both at the same time open one room', async () => {
  const [ada, bob] = await signUpTwo();
  const rooms = await Promise.all(
    Array.from({ length: 10 }, (_, index) => (index % 2 ? open(ada, bob) : open(bob, ada))),
  );
  expect(new Set(rooms.map(({ id }) => id)).size).toBe(1);
  const { rooms: joined } = (await postroom.ask('{ viewer { rooms(first: 5) { nodes { id } } } }', {}, bob.token))
    .viewer;
  expect(joined.nodes).toEqual([{ id: rooms[0].id }]);
});

it('both are told of the room in their inboxes', async () => {
  const [ada, bob] = await signUpTwo();
  const inboxes = await Promise.all([InboxStream.open(postroom, ada), InboxStream.open(postroom, bob)]);
  const { id } = await open(ada, bob);
  for (const inbox of inboxes) expect(await inbox.next()).toMatchObject({ __typename: 'MemberJoined', room: { id } });
});

it('a user who has left it is a member again, whoever opens it', async () => {
  const [ada, bob] = await signUpTwo();
  const room = await open(ada, bob);
  await leave(ada, room.id);
  expect((await open(ada, bob)).id).toBe(room.id);
  await leave(bob, room.id);
  const again = await open(ada, bob);
  expect(again.id).toBe(room.id);
  expect(again.members.nodes).toHaveLength(2);
});

it('each of the two reads in it who the other is, also after one has left it', async () => {
  const [ada, bob] = await signUpTwo();
  const { id } = await open(ada, bob);
  const hall = await postroom.createRoom(ada, `hall ${count}`);
  const usersOf = async ({ token }: Person) => (await postroom.ask(roomsQuery, {}, token)).viewer.rooms.nodes;
  const toAda = [{ id, directUser: { id: ada.id, name: `Ada ${count}` } }];
  expect(await usersOf(bob)).toEqual(toAda);
  await leave(ada, id);
  expect(await usersOf(ada)).toEqual([{ id: hall, directUser: null }]);
  expect(await usersOf(bob)).toEqual(toAda);
  const opened = 'mutation ($user: ID!) { openDirectRoom(input: { user: $user }) { room { directUser { id } } } }';
  const { openDirectRoom } = await postroom.ask(opened, { user: bob.id }, ada.token);
  expect(openDirectRoom.room.directUser).toEqual({ id: bob.id });
  await deleteUser(ada);
  expect(await usersOf(bob)).toEqual([{ id, directUser: null }]);
});

it('the event with which a room begins in an inbox says to each who the other is', async () => {
  const [ada, bob] = await signUpTwo();
  const query = 'subscription { inbox { ... on MemberJoined { user { id } room { directUser { id } } } } }';
  const inboxes = await Promise.all([ada, bob].map((person) => InboxStream.open(postroom, person, { query })));
  await open(ada, bob);
  for (const [index, other] of [bob, ada].entries())
    expect(await inboxes[index]?.next()).toMatchObject({ room: { directUser: { id: other.id } } });
});

it('the other users of 50 direct rooms are read together', async () => {
  const [ada, ...others] = await postroom.signUpAll(Array.from({ length: 51 }, (_, index) => `Person ${index}`));
  if (!ada) throw new Error('There is no first person.');
  await Promise.all(others.map((other) => open(ada, other)));
  const query = '{ viewer { rooms(first: 50) { nodes { directUser { id } } } } }';
  const statements = await statementsDuring(postroom, async () => {
    const { nodes } = (await postroom.ask(query, {}, ada.token)).viewer.rooms;
    expect(new Set(nodes.map((node: { directUser: Person }) => node.directUser.id)).size).toBe(50);
  });
  const reads = statements.filter((text) =>
    text.startsWith('select * from "directRooms" where "directRooms"."roomId"'),
  );
  // On a busy machine the execution yields within the list.
  expect(reads.length).toBeGreaterThan(0);
  expect(reads.length).toBeLessThan(25);
});

it('nobody opens it with themselves, or with a user who does not exist', async () => {
  const [ada, bob] = await signUpTwo();
  expect(await codeOf(ada, mutation, { user: ada.id })).toBe('VALIDATION_ERROR');
  expect(await codeOf(ada, mutation, { user: 'u1' })).toBe('NOT_FOUND');
  await deleteUser(bob);
  expect(await codeOf(ada, mutation, { user: bob.id })).toBe('NOT_FOUND');
});

it('a room that an admin has deleted is replaced by a new one', async () => {
  const { postroom: own, owner: admin, ada } = await launchStreamFixture();
  const openHere = async () => (await own.ask(mutation, { user: admin.id }, ada.token)).openDirectRoom.room;
  const { id } = await openHere();
  // An admin sees all private rooms.
  const carl = await own.signUp('Carl');
  const { openDirectRoom: foreign } = await own.ask(mutation, { user: carl.id }, ada.token);
  const seen = await own.ask(`{ room(id: "${foreign.room.id}") { name directUser { id } } }`, {}, admin.token);
  expect(seen.room).toEqual({ name: 'direct room', directUser: null });
  await own.ask(`mutation { deleteRoom(input: { id: "${id}" }) { room { id } } }`, {}, admin.token);
  const next = await openHere();
  expect(next.id).not.toBe(id);
  expect(next.members.nodes).toHaveLength(2);
});
