// Runs on SQLite and on PostgreSQL.
import { beforeAll, expect, it } from 'vitest';
import { type BusMessage, roomTopic, userTopic } from '../../src/live/bus/bus.ts';
import { createMemoryBus } from '../../src/live/bus/memory.ts';
import { writePosts } from '../support/database/rows.ts';
import { changeMembership, createSharedRoom, markRead, readStateOf } from '../support/rooms/read-state.ts';
import { launchForTest, type Person, type Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

/* How far a member has read a room. */

const server = shareServer();
let postroom: Postroom;
let [ada, bob, cleo]: Person[] = [];
beforeAll(async () => {
  ({ postroom } = server);
  [ada, bob, cleo] = [await postroom.signUp('Ada'), await postroom.signUp('Bob'), await postroom.signUp('Cleo')];
});

const people = () => ({ ada: ada as Person, bob: bob as Person, cleo: cleo as Person });

async function timeOf(post: string): Promise<string> {
  return (await postroom.ask(`{ post(id: "${post}") { publishedAt } }`)).post.publishedAt;
}

it('a member has read a room up to the time of joining', async () => {
  const { ada, bob } = people();
  const room = await createSharedRoom(postroom, ada, bob);
  const { members } = (await postroom.ask(`{ room(id: "${room}") { members { edges { joinedAt } } } }`)).room;
  const joined: string[] = members.edges.map(({ joinedAt }: { joinedAt: string }) => joinedAt);
  expect(await readStateOf(postroom, room, ada)).toEqual({ unread: 0, lastRead: joined[0] });
  expect(await readStateOf(postroom, room, bob)).toEqual({ unread: 0, lastRead: joined[1] });
});

it('a mark of a post moves the position to its time, and leaves later posts unread', async () => {
  const { ada, bob } = people();
  const room = await createSharedRoom(postroom, ada, bob);
  const posts = [];
  for (const title of ['one', 'two', 'three']) posts.push(await postroom.createPost(ada, room, title));
  const [, second = ''] = posts;
  const { status, data } = await markRead(postroom, bob, { room, post: second });
  const state = { unread: 1, lastRead: await timeOf(second) };
  expect({ status, data }).toEqual({ status: 200, data: { markRead: { room: { id: room, ...state } } } });
  expect(await readStateOf(postroom, room, bob)).toEqual(state);
});

it('a mark without a post, or with null, moves the position to the latest event', async () => {
  const { ada, bob } = people();
  const room = await createSharedRoom(postroom, ada, bob);
  for (const post of [undefined, null]) {
    const latest = await postroom.createPost(ada, room, 'latest');
    expect((await markRead(postroom, bob, { room, ...(post === null && { post }) })).data.markRead.room).toMatchObject({
      unread: 0,
      lastRead: await timeOf(latest),
    });
  }
});

it('the position never moves back', async () => {
  const { ada, bob } = people();
  const room = await createSharedRoom(postroom, ada, bob);
  const first = await postroom.createPost(ada, room, 'one');
  await postroom.createPost(ada, room, 'two');
  await markRead(postroom, bob, { room });
  const state = await readStateOf(postroom, room, bob);
  expect(await markRead(postroom, bob, { room, post: first })).toMatchObject({
    status: 200,
    data: { markRead: { room: state } },
  });
  // Marks at the same time, in any order, leave the latest position.
  const posts: string[] = [];
  for (const title of ['three', 'four', 'five', 'six']) posts.push(await postroom.createPost(ada, room, title));
  const marks = [2, 0, 3, 1].map((index) => markRead(postroom, bob, { room, post: posts[index] ?? '' }));
  expect((await Promise.all(marks)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(await readStateOf(postroom, room, bob)).toEqual({ unread: 0, lastRead: await timeOf(posts[3] ?? '') });
});

it('a member who publishes a post has read the room up to it', async () => {
  const { ada, bob } = people();
  const room = await createSharedRoom(postroom, ada, bob);
  await postroom.createPost(ada, room, 'one');
  expect(await readStateOf(postroom, room, bob)).toMatchObject({ unread: 1 });
  const own = await postroom.createPost(bob, room, 'own');
  expect(await readStateOf(postroom, room, bob)).toEqual({ unread: 0, lastRead: await timeOf(own) });

  // A draft reads nothing until it is published.
  const draft = `mutation { createPost(input: { room: "${room}", title: "d", publish: false }) { post { id } } }`;
  const { id } = (await postroom.ask(draft, {}, bob.token)).createPost.post;
  await postroom.createPost(ada, room, 'two');
  expect(await readStateOf(postroom, room, bob)).toMatchObject({ unread: 1 });
  await postroom.ask(`mutation { publishPost(input: { id: "${id}" }) { post { id } } }`, {}, bob.token);
  expect(await readStateOf(postroom, room, bob)).toEqual({ unread: 0, lastRead: await timeOf(id) });

  // A change of an earlier post does not.
  await postroom.createPost(ada, room, 'three');
  await postroom.ask(`mutation { updatePost(input: { id: "${id}", title: "e" }) { post { id } } }`, {}, bob.token);
  expect(await readStateOf(postroom, room, bob)).toMatchObject({ unread: 1 });
});

it('an author who is not a member has no position', async () => {
  const { ada, bob, cleo } = people();
  const room = await createSharedRoom(postroom, ada, bob);
  await postroom.createPost(cleo, room, 'by a guest');
  expect(await readStateOf(postroom, room, cleo)).toEqual({ unread: null, lastRead: null });
  expect(await readStateOf(postroom, room)).toEqual({ unread: null, lastRead: null });
});

it('a post that is not a published post of the room is refused, whether or not it exists', async () => {
  const { ada, bob } = people();
  const [room, other] = [await createSharedRoom(postroom, ada, bob), await createSharedRoom(postroom, ada, bob)];
  const draft = `mutation { createPost(input: { room: "${room}", title: "d", publish: false }) { post { id } } }`;
  const own = (await postroom.ask(draft, {}, bob.token)).createPost.post.id;
  const deleted = await postroom.createPost(bob, room, 'deleted');
  await postroom.ask(`mutation { deletePost(input: { id: "${deleted}" }) { post { id } } }`, {}, bob.token);
  const elsewhere = await postroom.createPost(ada, other, 'elsewhere');
  const state = await readStateOf(postroom, room, bob);
  for (const post of [elsewhere, own, deleted, room, 'nowhere', '', '\u0000', 'x'.repeat(10_000)]) {
    const reply = await markRead(postroom, bob, { room, post });
    expect(reply).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', data: { markRead: null } });
    expect(reply.errors?.[0]?.extensions.details).toEqual([{ field: 'post', issue: 'invalid' }]);
  }
  expect(await readStateOf(postroom, room, bob)).toEqual(state);
});

it('a public room is forbidden to users who are not members, and a private room does not exist for them', async () => {
  const { ada, bob, cleo } = people();
  const room = await createSharedRoom(postroom, ada, bob);
  expect(await markRead(postroom, cleo, { room })).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  const post = await postroom.createPost(ada, room, 'one');
  expect(await markRead(postroom, cleo, { room, post })).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  await postroom.ask(
    `mutation { updateRoom(input: { id: "${room}", visibility: PRIVATE }) { room { id } } }`,
    {},
    ada.token,
  );
  expect(await markRead(postroom, cleo, { room })).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  expect(await markRead(postroom, cleo, { room: 'nowhere' })).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  expect(await markRead(postroom, undefined, { room })).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
  expect(await markRead(postroom, bob, { room })).toMatchObject({ status: 200 });
});

it('the mutation may be repeated, so it takes no idempotency key', async () => {
  const { ada, bob } = people();
  const room = await createSharedRoom(postroom, ada, bob);
  const mutation = `mutation { markRead(input: { room: "${room}" }) @idempotent(key: "k") { room { id } } }`;
  expect(await postroom.send(mutation, {}, bob.token)).toMatchObject({ code: 'VALIDATION_ERROR' });
});

it('leaving a room removes the position, and joining again starts with a new one', async () => {
  const { ada, bob } = people();
  const room = await createSharedRoom(postroom, ada, bob);
  await postroom.createPost(ada, room, 'one');
  await changeMembership(postroom, 'leaveRoom', bob, room);
  expect(await readStateOf(postroom, room, bob)).toEqual({ unread: null, lastRead: null });
  await postroom.createPost(ada, room, 'two');
  await changeMembership(postroom, 'joinRoom', bob, room);
  expect(await readStateOf(postroom, room, bob)).toMatchObject({ unread: 0, lastRead: expect.any(String) });
  await postroom.createPost(ada, room, 'three');
  expect(await readStateOf(postroom, room, bob)).toMatchObject({ unread: 1 });
});

it('a mark up to now includes imported posts until now, and no mark goes beyond new posts', async () => {
  const { ada, bob, cleo } = people();
  const room = await createSharedRoom(postroom, ada, bob);
  const { lastRead } = await readStateOf(postroom, room, bob);
  const author = cleo.id;
  const soon = Date.parse(lastRead ?? '') + 1;
  await expect.poll(() => Date.now()).toBeGreaterThan(soon);
  const [, future = ''] = writePosts(server.databaseFile, { room, author, times: [soon, Date.UTC(2099, 0)] });
  expect(await readStateOf(postroom, room, bob)).toMatchObject({ unread: 2 });
  await markRead(postroom, bob, { room });
  expect(await readStateOf(postroom, room, bob)).toEqual({ unread: 1, lastRead: new Date(soon).toISOString() });
  await markRead(postroom, bob, { room, post: future });
  await postroom.createPost(ada, room, 'new');
  expect(await readStateOf(postroom, room, bob)).toMatchObject({ unread: 2 });
});

it('a mark that moves the position is announced once, to the user alone', async () => {
  const bus = createMemoryBus();
  const postroom = await launchForTest({}, { bus });
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const room = await createSharedRoom(postroom, ada, bob);
  const first = await postroom.createPost(ada, room, 'one');
  await postroom.createPost(ada, room, 'two');
  const received: Record<string, BusMessage[]> = { ada: [], bob: [], room: [] };
  for (const [name, topic] of [
    ['ada', userTopic(ada.id)],
    ['bob', userTopic(bob.id)],
    ['room', roomTopic(room)],
  ] as const)
    await bus.subscribe(topic, (message) => received[name]?.push(message));
  for (const post of [first, first, undefined, undefined, first])
    expect(await markRead(postroom, bob, { room, ...(post !== undefined && { post }) })).toMatchObject({ status: 200 });
  const { posts } = (await postroom.ask(`{ room(id: "${room}") { posts { nodes { publishedAt } } } }`)).room;
  const times: number[] = posts.nodes.map(({ publishedAt }: { publishedAt: string }) => Date.parse(publishedAt));
  const marks = times.map((readUpTo) => ({ type: 'roomRead', userId: bob.id, roomId: room, readUpTo }));
  expect(received).toEqual({ ada: [], bob: marks, room: [] });
});
