// Runs on SQLite and on PostgreSQL.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { isPostgresTest, openDirectly } from '../support/database/test-database.ts';
import { readEvents } from '../support/rooms/events.ts';
import { startImport, toText } from '../support/rooms/history.ts';
import { scratchName } from '../support/rooms/names.ts';
import {
  grantAdmin,
  launchProcessForTest,
  type Person,
  type Postroom,
  scratchFolder,
} from '../support/server/postroom.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

/* Rooms and accounts with more rows than one transaction deletes. */

const server = shareServer({ LIMIT_COST: '10000' });
/** Enough that many steps are needed. */
const rowCount = 1_000;
/** Enough that each of several processes deletes a part. A step on PostgreSQL deletes four times as many. */
const rowCountOfCrashes = isPostgresTest ? 4_000 : 2_000;
const patience = { interval: 200 };

const deleteRoom = `mutation ($id: ID!) { deleteRoom(input: { id: $id }) {
  room { id name viewerRole posts { nodes { id } pageInfo { hasNextPage } } members { nodes { id } } }
} }`;
const deleteUser = `mutation ($id: ID!, $posts: Boolean) { deleteUser(input: { id: $id, deletePosts: $posts }) {
  user { name posts { id } drafts { data { id } pagination { total } } }
} }`;

let filled = 100_000_000;

/** Inserts posts past the server, and returns the id of the first. */
function fill(file: string, room: string, author: Person, { count = rowCount, isDraft = false } = {}): string {
  const first = filled;
  filled += count;
  withDatabase(file, (database) =>
    database
      .prepare(
        `insert into posts ("id", "roomId", "authorId", "title", "publishedAt", "createdAt", "updatedAt", "version")
         with recursive series (n) as (select ${first} union all select n + 1 from series where n < ${first + count - 1})
         select 'p00000000000000000' || cast(n as text), '${room}', '${author.id}', 'zebra ' || n, ${isDraft ? 'null' : 'n'}, n, n, 1 from series`,
      )
      .run(),
  );
  return `p00000000000000000${first}`;
}

function count(file: string, table: string, column: string, id: string): number {
  return withDatabase(file, (database) =>
    Number(database.prepare(`select count(*) as n from "${table}" where "${column}" = ?`).get(id)?.['n']),
  );
}

/** Stops the deletion of posts during `work`, while some are left. */
async function whileInterrupted(file: string, column: string, id: string, work: () => Promise<void>): Promise<void> {
  const database = openDirectly(file);
  try {
    database.exec(isPostgresTest ? 'begin; lock table posts in share mode' : 'begin immediate');
    const left = database.prepare(`select count(*) as n from posts where "${column}" = ?`).get(id);
    expect(Number(left?.['n'])).toBeGreaterThan(0);
    await work();
  } finally {
    database.close();
  }
}

async function signUpAdmin(postroom: Postroom): Promise<Person> {
  const admin = await postroom.signUp('Root');
  await grantAdmin({ DATABASE_URL: `sqlite:${server.databaseFile}` }, admin);
  return admin;
}

it('a room with many posts is gone for everybody with the answer, while its posts are still being deleted', async () => {
  const { postroom, databaseFile: file } = server;
  const [ada, bob, root] = [await postroom.signUp('Ada'), await postroom.signUp('Bob'), await signUpAdmin(postroom)];
  const name = scratchName();
  const room = await postroom.createRoom(ada, name);
  await postroom.ask('mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { id } } }', { room }, bob.token);
  const post = fill(file, room, bob);
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  await socket.follow('1', 'subscription ($room: ID!) { roomEvents(room: $room) { cursor } }', { room });
  const answer = await postroom.ask(deleteRoom, { id: room }, ada.token);
  expect(answer.deleteRoom.room).toEqual({
    id: room,
    name,
    viewerRole: 'OWNER',
    posts: { nodes: [], pageInfo: { hasNextPage: false } },
    members: { nodes: [] },
  });
  const query = `query ($room: ID!, $post: ID!, $bob: ID!, $name: String!) {
    room(id: $room) { id } node(id: $room) { id } roomByName(name: $name) { id } empty: roomByName(name: "") { id }
    post(id: $post) { id } postNode: node(id: $post) { id } user(id: $bob) { posts(last: 5) { id } }
    named: rooms(filter: { name: $name }) { data { id } pagination { total } }
    joined: rooms(filter: { member: $bob }) { data { id } pagination { total } }
    rooms(limit: 100) { data { id } }
    inRoom: posts(filter: { room: $room }) { data { id } pagination { total } }
    byBob: posts(filter: { author: $bob }) { data { id } pagination { total } }
    found: posts(filter: { title: "zebra" }) { data { id } }
  }`;
  const none = { data: [], pagination: { total: 0 } };
  await whileInterrupted(file, 'roomId', room, async () => {
    for (const token of [root.token, ada.token, bob.token, undefined]) {
      const { rooms, ...found } = await postroom.ask(query, { room, post, bob: bob.id, name }, token);
      expect(rooms.data).not.toContainEqual({ id: room });
      expect(found).toEqual({
        room: null,
        node: null,
        roomByName: null,
        empty: null,
        post: null,
        postNode: null,
        user: { posts: [] },
        named: none,
        joined: none,
        inRoom: none,
        byBob: none,
        found: { data: [] },
      });
    }
  });
  const { payload } = await socket.take(({ type }) => type === 'error');
  expect(payload).toMatchObject([{ extensions: { code: 'ROOM_DELETED' } }]);
  const changes = [
    'createPost(input: { room: $room, title: "late" }) { post { id } }',
    'joinRoom(input: { room: $room }) { room { id } }',
    'updateRoom(input: { id: $room, name: "late" }) { room { id } }',
    'deleteRoom(input: { id: $room }) { room { id } }',
  ];
  for (const change of changes) {
    const reply = await postroom.send(`mutation ($room: ID!) { ${change} }`, { room }, root.token);
    expect(reply).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  }
  const deletePost = 'mutation ($post: ID!) { deletePost(input: { id: $post }) { post { id } } }';
  expect(await postroom.send(deletePost, { post }, root.token)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  expect(await postroom.createRoom(bob, name)).not.toBe(room);
  await expect.poll(() => count(file, 'posts', 'roomId', room), patience).toBe(0);
  await expect.poll(() => count(file, 'rooms', 'id', room), patience).toBe(0);
  for (const table of ['roomMembers', 'roomEvents']) expect(count(file, table, 'roomId', room)).toBe(0);
});

it('the posts of an account with many posts are gone for everybody with the answer, and each is reported once, in order', async () => {
  const { postroom, databaseFile: file } = server;
  const [ada, bob, root] = [await postroom.signUp('Ada'), await postroom.signUp('Bob'), await signUpAdmin(postroom)];
  const [room, own] = [await postroom.createRoom(bob, scratchName()), await postroom.createRoom(ada, scratchName())];
  const join = 'mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { cursor } } }';
  const { joinRoom } = await postroom.ask(join, { room }, ada.token);
  const post = fill(file, room, ada);
  const draft = fill(file, own, ada, { count: 300, isDraft: true });
  const answer = await postroom.ask(deleteUser, { id: ada.id, posts: true }, ada.token);
  expect(answer.deleteUser.user).toEqual({ name: 'Ada', posts: [], drafts: { data: [], pagination: { total: 0 } } });
  const query = `query ($ada: ID!, $post: ID!, $draft: ID!, $room: ID!, $own: ID!) {
    user(id: $ada) { name posts { id } } post(id: $post) { id } node(id: $post) { id } draft: post(id: $draft) { id }
    room(id: $room) { posts { nodes { id } pageInfo { hasNextPage } } members { nodes { name } } }
    own: room(id: $own) { owner { id } members { nodes { id } } }
    joined: rooms(filter: { member: $ada }) { pagination { total } }
    inRoom: posts(filter: { room: $room }) { data { id } pagination { total } }
    byAda: posts(filter: { author: $ada }) { data { id } pagination { total } }
    all: posts(limit: 100) { data { author { id } } }
    found: posts(filter: { title: "zebra" }) { data { id } }
  }`;
  await whileInterrupted(file, 'authorId', ada.id, async () => {
    for (const token of [root.token, bob.token, undefined]) {
      const { all, ...found } = await postroom.ask(query, { ada: ada.id, post, draft, room, own }, token);
      expect(all.data).not.toContainEqual({ author: { id: ada.id } });
      expect(found).toEqual({
        user: { name: 'deleted user', posts: [] },
        post: null,
        node: null,
        draft: null,
        room: { posts: { nodes: [], pageInfo: { hasNextPage: false } }, members: { nodes: [{ name: 'Bob' }] } },
        own: { owner: null, members: { nodes: [] } },
        joined: { pagination: { total: 0 } },
        inRoom: { data: [], pagination: { total: 0 } },
        byAda: { data: [], pagination: { total: 0 } },
        found: { data: [] },
      });
    }
  });
  const deletePost = 'mutation ($post: ID!) { deletePost(input: { id: $post }) { post { id } } }';
  const late = `p00000000000000000${filled - 301}`;
  expect(await postroom.send(deletePost, { post: late }, root.token)).toMatchObject({ status: 404 });
  // Others write in the same room meanwhile.
  for (let index = 0; index < 20; index += 1) await postroom.createPost(bob, room, 'between');
  const events = await readEvents(postroom, { room, after: joinRoom.room.cursor, count: rowCount + 21 });
  const deleted = events.filter(({ __typename }) => __typename === 'PostDeleted');
  expect(deleted.map(({ postId }) => postId)).toEqual(idsFrom(post));
  expect(deleted.every(({ actor }) => actor === null)).toBe(true);
  expect(events.filter(({ __typename }) => __typename === 'MemberLeft')).toHaveLength(1);
  const isErased = () => count(file, 'users', 'erasing', 'POSTS') + count(file, 'roomEvents', 'actorId', ada.id) === 0;
  await expect.poll(isErased, patience).toBe(true);
  for (const [table, column] of [
    ['posts', 'authorId'],
    ['roomMembers', 'userId'],
    ['rooms', 'ownerId'],
  ] as const) {
    expect(count(file, table, column, ada.id)).toBe(0);
  }
});

it('an account whose posts stay keeps all of them, and loses its drafts', async () => {
  const { postroom, databaseFile: file } = server;
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, scratchName());
  const post = fill(file, room, ada, { count: 100 });
  fill(file, room, ada, { count: 300, isDraft: true });
  await postroom.ask(deleteUser, { id: ada.id, posts: false }, ada.token);
  await expect.poll(() => count(file, 'posts', 'authorId', ada.id), patience).toBe(100);
  const query = `query ($ada: ID!) { posts(filter: { author: $ada }, limit: 1) { data { id } pagination { total } } }`;
  const { posts } = await postroom.ask(query, { ada: ada.id });
  expect(posts).toEqual({ data: [{ id: post }], pagination: { total: 100 } });
});

it('a deletion continues after a crash, and reports each post once, in order', async () => {
  const file = join(scratchFolder(), 'postroom.db');
  const settings = { DATABASE_URL: `sqlite:${file}` };
  let postroom = await launchProcessForTest(settings);
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const [room, lost] = [await postroom.createRoom(bob, 'lobby'), await postroom.createRoom(bob, 'lost')];
  const { cursor } = (await postroom.ask('query ($room: ID!) { room(id: $room) { cursor } }', { room })).room;
  const post = fill(file, room, ada, { count: rowCountOfCrashes });
  fill(file, lost, bob, { count: rowCountOfCrashes });
  await postroom.ask(deleteRoom, { id: lost }, bob.token);
  await postroom.ask(deleteUser, { id: ada.id, posts: true }, ada.token);
  let left = count(file, 'posts', 'authorId', ada.id);
  // Each process deletes a part.
  for (let crashes = 0; crashes < 2; crashes += 1) {
    await postroom.kill();
    left = count(file, 'posts', 'authorId', ada.id);
    expect(left).toBeGreaterThan(0);
    expect(count(file, 'posts', 'roomId', lost)).toBeGreaterThan(0);
    postroom = await launchProcessForTest(settings);
    await expect.poll(() => count(file, 'posts', 'authorId', ada.id), { ...patience, interval: 1 }).toBeLessThan(left);
  }
  await expect.poll(() => count(file, 'rooms', 'id', lost), patience).toBe(0);
  expect(count(file, 'posts', 'roomId', lost)).toBe(0);
  const events = await readEvents(postroom, { room, after: cursor, count: rowCountOfCrashes });
  expect(events.map(({ postId }) => postId)).toEqual(idsFrom(post, rowCountOfCrashes));
}, 180_000);

it('an import that runs while its room is deleted leaves no posts of the room', async () => {
  const { postroom, databaseFile: file } = server;
  const root = await signUpAdmin(postroom);
  const name = scratchName();
  const lines = [
    { type: 'room', name },
    { type: 'user', name: 'Zoe', createdAt: '2020-01-01T00:00:00Z' },
    ...Array.from({ length: 2_500 }, (_, n) => ({
      type: 'post',
      room: name,
      author: 'Zoe',
      title: `t${n}`,
      body: `b${n}`,
      publishedAt: new Date(1_600_000_000_000 + n).toISOString(),
    })),
  ];
  const { child, ended } = await startImport({ DATABASE_URL: `sqlite:${file}` });
  child.stdin.write(toText(lines.slice(0, 1_500)));
  const find = async () =>
    (await postroom.ask('query ($name: String!) { roomByName(name: $name) { id } }', { name })).roomByName;
  await expect.poll(find, patience).not.toBeNull();
  const { id } = await find();
  await postroom.ask(deleteRoom, { id }, root.token);
  child.stdin.end(toText(lines.slice(1_500)));
  // The later lines are refused.
  expect(await ended).toEqual([2, null]);
  await expect.poll(() => count(file, 'rooms', 'id', id), patience).toBe(0);
  expect(count(file, 'posts', 'roomId', id)).toBe(0);
});

/** The ids of the inserted posts, from the first one. */
function idsFrom(first: string, count = rowCount): string[] {
  const number = Number(first.slice(-9));
  return Array.from({ length: count }, (_, index) => `p00000000000000000${number + index}`);
}
