// Runs on SQLite and on PostgreSQL.
import { beforeAll, expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { writePosts, writeUsers } from '../support/database/rows.ts';
import { createSharedRoom, markRead, readStateOf } from '../support/rooms/read-state.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

/* The number of posts that a member has not read. */

const server = shareServer({ LOG_LEVEL: 'debug' });
let postroom: Postroom;
let [ada, bob]: Person[] = [];
beforeAll(async () => {
  ({ postroom } = server);
  [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
});

const people = () => ({ ada: ada as Person, bob: bob as Person });

async function unreadOf(room: string, viewer: Person): Promise<number | null> {
  return (await readStateOf(postroom, room, viewer)).unread;
}

it('published posts by others are counted, in every room and for every member alone', async () => {
  const { ada, bob } = people();
  const [room, other] = [await createSharedRoom(postroom, ada, bob), await createSharedRoom(postroom, ada, bob)];
  await postroom.createPost(ada, room, 'one');
  await postroom.createPost(ada, room, 'two');
  await postroom.ask(
    `mutation { createPost(input: { room: "${room}", title: "draft", publish: false }) { post { id } } }`,
    {},
    ada.token,
  );
  expect(await unreadOf(room, bob)).toBe(2);
  expect(await unreadOf(room, ada)).toBe(0);
  expect(await unreadOf(other, bob)).toBe(0);
});

it('a post that is deleted is not counted any more, and a post that is changed is not counted again', async () => {
  const { ada, bob } = people();
  const room = await createSharedRoom(postroom, ada, bob);
  const read = await postroom.createPost(ada, room, 'read');
  await markRead(postroom, bob, { room });
  const [deleted] = [await postroom.createPost(ada, room, 'deleted'), await postroom.createPost(ada, room, 'kept')];
  expect(await unreadOf(room, bob)).toBe(2);
  await postroom.ask(`mutation { deletePost(input: { id: "${deleted}" }) { post { id } } }`, {}, ada.token);
  await postroom.ask(`mutation { updatePost(input: { id: "${read}", title: "new" }) { post { id } } }`, {}, ada.token);
  expect(await unreadOf(room, bob)).toBe(1);
});

it('at most 100 posts are counted', async () => {
  const { ada, bob } = people();
  const room = await createSharedRoom(postroom, ada, bob);
  const [author = ''] = writeUsers(server.databaseFile, [1]);
  const start = Date.UTC(2098, 0);
  const write = (count: number, from: number) =>
    writePosts(server.databaseFile, { room, author, times: Array.from({ length: count }, (_, index) => from + index) });
  write(99, start);
  expect(await unreadOf(room, bob)).toBe(99);
  write(1, start + 1_000);
  expect(await unreadOf(room, bob)).toBe(100);
  write(50, start + 2_000);
  expect(await unreadOf(room, bob)).toBe(100);
});

it("a member's own posts are not counted, also if they are later than the position", async () => {
  const { ada, bob } = people();
  const room = await createSharedRoom(postroom, ada, bob);
  writePosts(server.databaseFile, { room, author: bob.id, times: Array.from({ length: 150 }, (_, at) => 4e12 + at) });
  writePosts(server.databaseFile, { room, author: ada.id, times: [4e12 + 200] });
  expect(await unreadOf(room, bob)).toBe(1);
});

it('a post that is written while a room is marked is either read or counted', async () => {
  const { ada, bob } = people();
  const room = await createSharedRoom(postroom, ada, bob);
  for (let round = 0; round < 10; round += 1) {
    const writes = [1, 2, 3].map((each) => postroom.createPost(ada, room, `post ${each}`));
    await Promise.all([...writes, markRead(postroom, bob, { room })]);
    const { room: found } = await postroom.ask(
      `{ room(id: "${room}") { unread lastRead posts(last: 3) { nodes { publishedAt } } } }`,
      {},
      bob.token,
    );
    const later = found.posts.nodes.filter((post: { publishedAt: string }) => post.publishedAt > found.lastRead);
    expect(found.unread).toBe(later.length);
    await markRead(postroom, bob, { room });
    expect(await unreadOf(room, bob)).toBe(0);
  }
});

it('the counts and positions of a list of rooms take one statement each', async () => {
  const { ada, bob } = people();
  for (let index = 0; index < 5; index += 1) await createSharedRoom(postroom, ada, bob);
  const statementsOf = async (fields: string) => {
    const before = postroom.log.length;
    const { viewer } = await postroom.ask(`{ viewer { rooms(first: 50) { nodes { id ${fields} } } } }`, {}, bob.token);
    expect(viewer.rooms.nodes.length).toBeGreaterThan(4);
    // The log is written after the answer is sent.
    await postroom.ask('{ roomByName(name: "end") { id } }');
    const isEnd = ({ sql }: Record<string, unknown>) => String(sql).includes('"name" = ');
    await expect.poll(() => postroom.log.slice(before).some(isEnd)).toBe(true);
    return postroom.log.slice(before).filter(({ sql }) => String(sql).includes('from "roomMembers"')).length;
  };
  const page = await statementsOf('');
  expect(await statementsOf('unread')).toBe(page + 1);
  expect(await statementsOf('unread lastRead viewerRole')).toBe(page + 2);
});

it('each subscriber of a room receives their own count', async () => {
  const { ada, bob } = people();
  const room = await createSharedRoom(postroom, ada, bob);
  const follow = async ({ token }: Person) => {
    const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `Bearer ${token}` } });
    const { start, results } = socket.subscribe(
      '1',
      `subscription { roomEvents(room: "${room}") { room { unread } } }`,
    );
    await start;
    return results;
  };
  const [ofAda, ofBob] = [await follow(ada), await follow(bob)];
  await postroom.createPost(ada, room, 'one');
  expect((await ofAda.next()).data?.['roomEvents']).toEqual({ room: { unread: 0 } });
  expect((await ofBob.next()).data?.['roomEvents']).toEqual({ room: { unread: 1 } });
});

it('the posts of an account that is being deleted with them are not counted', async () => {
  const { ada, bob } = people();
  const room = await createSharedRoom(postroom, ada, bob);
  const cleo = await postroom.signUp('Cleo');
  await postroom.createPost(cleo, room, 'one');
  expect(await unreadOf(room, bob)).toBe(1);
  withDatabase(server.databaseFile, (database) =>
    database.exec(`update users set "erasing" = 'POSTS' where "id" = '${cleo.id}'`),
  );
  expect(await unreadOf(room, bob)).toBe(0);
});
