import { expect, it } from 'vitest';
import { createPresenceHall, readPresence, setTyping } from '../support/rooms/present.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();

const createHall = <Name extends string>(...names: Name[]) => createPresenceHall(server.postroom, names);

it('setTyping shows by name who is typing, until the user no longer types', async () => {
  const { room, open, people, call } = await createHall('Bob', 'Ada');
  const bob = await open('Bob');
  await bob.next();
  await call(setTyping(room), people.Bob);
  expect(await bob.next()).toEqual({ count: 1, users: ['Bob'], typing: ['Bob'] });
  await call(setTyping(room), people.Ada);
  expect(await bob.next()).toEqual({ count: 1, users: ['Bob'], typing: ['Ada', 'Bob'] });
  await call(setTyping(room, false), people.Bob);
  expect(await bob.next()).toEqual({ count: 1, users: ['Bob'], typing: ['Ada'] });
});

it('setTyping is repeated without a change of the state', async () => {
  const { room, open, people, call, postroom } = await createHall('Bob', 'Ada');
  const bob = await open('Bob');
  await bob.next();
  for (let n = 0; n < 3; n += 1) await call(setTyping(room), people.Ada);
  expect(await bob.next()).toMatchObject({ typing: ['Ada'] });
  await call(setTyping(room), people.Ada);
  await call(setTyping(room), people.Bob);
  expect(await bob.next()).toMatchObject({ typing: ['Ada', 'Bob'] });
  expect(await readPresence(postroom, room)).toEqual({ count: 1, users: ['Bob'], typing: ['Ada', 'Bob'] });
});

it('a user that publishes a post in the room is no longer typing there', async () => {
  const { room, open, people, call, postroom } = await createHall('Bob', 'Ada');
  const bob = await open('Bob');
  for (const person of Object.values(people)) await call(setTyping(room), person);
  await bob.next(({ typing }) => typing.join() === 'Ada,Bob');
  await call(`createPost(input: { room: "${room}", title: "draft", publish: false }) { post { id } }`, people.Ada);
  await postroom.createPost(people.Bob, room, 'a post');
  expect(await bob.next()).toMatchObject({ typing: ['Ada'] });
});

it('lists at most the first 10 of those who type, and the first 100 of those who are present', async () => {
  const names = Array.from({ length: 102 }, (_, n) => `user ${String(n).padStart(3, '0')}`);
  const { room, open, people, call } = await createHall(...names);
  const last = await open('user 101');
  const followers = await Promise.all(names.slice(0, 101).map((name) => open(name)));
  for (const name of [...names.slice(90, 101)].reverse()) await call(setTyping(room), people[name]);
  expect(await last.next(({ count, typing }) => count === 102 && typing[0] === names[90])).toEqual({
    count: 102,
    users: names.slice(0, 100),
    typing: names.slice(90, 100),
  });
  followers[0]?.socket.complete('p');
  expect(await last.next(({ count }) => count === 101)).toMatchObject({ users: names.slice(1, 101) });
});

it('only users who may post in a room may type in it', async () => {
  const { room, owner, people, call, postroom } = await createHall('Ada', 'Bob');
  const send = (token?: string) => postroom.send(`mutation { ${setTyping(room)} }`, {}, token);
  expect(await send()).toMatchObject({ code: 'UNAUTHENTICATED' });
  await call(`updateRoom(input: { id: "${room}", visibility: PRIVATE }) { room { id } }`);
  await call(`addRoomMember(input: { room: "${room}", user: "${people.Bob.id}" }) { room { id } }`);
  expect(await send(people.Ada.token)).toMatchObject({ code: 'NOT_FOUND' });
  expect(await send(people.Bob.token)).toMatchObject({ code: undefined });
  expect(await readPresence(postroom, room, owner.token)).toEqual({ count: 0, users: [], typing: ['Bob'] });
  await call(`removeRoomMember(input: { room: "${room}", user: "${people.Bob.id}" }) { room { id } }`);
  const read = () => readPresence(postroom, room, owner.token);
  await expect.poll(read).toEqual({ count: 0, users: [], typing: [] });
});
