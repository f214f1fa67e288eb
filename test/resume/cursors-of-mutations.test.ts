// Runs on SQLite and on PostgreSQL.
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { isPostgresTest } from '../support/database/test-database.ts';
import {
  expectNothingMissed,
  keepWriting,
  type Reading,
  readingOf,
  readLog,
} from '../support/rooms/cursor-readings.ts';
import { seqOf } from '../support/rooms/cursors.ts';
import { isSoak } from '../support/run/soak.ts';
import { launchForTest, type Person } from '../support/server/postroom.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

const server = shareServer();
const postCount = 30;
const readCount = isSoak ? 60 : 15;
const writeCount = isSoak ? 400 : 100;

let ada: Person;
let room: string;
/** A room that only the tested mutations change. */
let quiet: string;
let posts: string[];

beforeAll(async () => {
  const { postroom } = server;
  ada = await postroom.signUp('Ada');
  room = await postroom.createRoom(ada, 'lobby');
  quiet = await postroom.createRoom(ada, 'quiet');
  posts = [];
  while (posts.length < postCount) posts.push(await postroom.createPost(ada, room, `post ${posts.length}`));
});

/** Repeats `read` while another server writes, so that its commits may occur between any two reads of one operation. */
async function readWhileWriting(read: (number: number) => Promise<Reading>): Promise<Reading[]> {
  const other = await launchForTest({ DATABASE_URL: `sqlite:${server.databaseFile}` });
  const readings: Reading[] = [];
  let writes = 0;
  const isDone = () => readings.length >= readCount && writes >= writeCount;
  const onWritten = (count: number) => {
    writes += count;
  };
  const writing = [0, 1, 2].map((writer) => {
    const own = posts.filter((_, index) => index % 3 === writer);
    return keepWriting(other, { author: ada, posts: own, isDone, onWritten });
  });
  while (!isDone()) readings.push(await read(readings.length));
  await Promise.all(writing);
  return readings;
}

/** Selects the posts of the room first, and its cursor in a deeply nested field, which is read last. */
const deep =
  'posts(last: 100) { id version author { posts(last: 1) { author { posts(last: 1) { room { cursor } } } } } }';
/** Selects a post that the mutation returns, whether or not the mutation changes it. */
const deepPost = `post { id version author { ${deep} } room { cursor } }`;

it.each([
  ['a room, where nothing changed', `joinRoom(input: { room: $room }) { room { owner { ${deep} } cursor } }`],
  ['a post, where nothing changed', `publishPost(input: { id: $post }) { ${deepPost} }`],
  ['a post, where nothing was to change', `updatePost(input: { id: $post }) { ${deepPost} }`],
  ['a post that was changed', `updatePost(input: { id: $post, body: "changed here" }) { ${deepPost} }`],
  ['an account', `updateUser(input: { id: $user, name: "Ada" }) { user { ${deep} } }`],
  [
    'another room',
    `createPost(input: { room: $quiet, title: "here", publish: false }) { post { author { ${deep} } } }`,
  ],
  [
    'several payloads',
    `first: joinRoom(input: { room: $room }) { room { posts(last: 100) { nodes { id version } } } }
     second: updatePost(input: { id: $post, body: "changed here" }) { ${deepPost} }
     third: joinRoom(input: { room: $room }) { room { cursor } }`,
  ],
])('Room.cursor in the answer to a mutation is not newer than any other field of the answer: %s', async (_title, fields) => {
  const used = ['room', 'quiet', 'post', 'user'].filter((name) => fields.includes(`$${name}`));
  const mutation = `mutation (${used.map((name) => `$${name}: ID!`)}) { ${fields} }`;
  const readings = await readWhileWriting(async (number) => {
    const variables = { room, quiet, post: posts[number % posts.length], user: ada.id };
    return readingOf(mutation, room, await server.postroom.ask(mutation, variables, ada.token));
  });
  expectNothingMissed(readings, readLog(server.databaseFile, room));
});

it('the cursor of another room in an event is not newer than any other field of the event', async () => {
  const { postroom } = server;
  const bob = await postroom.signUp('Bob');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const { start, results } = socket.subscribe(
    '1',
    `subscription ($room: ID!) { roomEvents(room: $room) { room { owner { ${deep} } } } }`,
    { room: quiet },
  );
  await start;
  const field = (name: string) => `${name}(input: { room: $room }) { room { id } }`;
  const readings = await readWhileWriting(async (number) => {
    await postroom.ask(
      `mutation ($room: ID!) { ${field(number % 2 ? 'leaveRoom' : 'joinRoom')} }`,
      { room: quiet },
      bob.token,
    );
    return readingOf('an event', room, await results.next());
  });
  await socket.close();
  expectNothingMissed(readings, readLog(server.databaseFile, room));
});

it('Room.cursor in the answer to a mutation is after the event of the mutation, and before the events of later mutations', async () => {
  const { postroom } = server;
  const room = await postroom.createRoom(ada, 'own');
  const create = (name: string) =>
    `${name}: createPost(input: { room: $room, title: "${name}" }) { post { room { cursor } } }`;
  const ask = (fields: string) => postroom.ask(`mutation ($room: ID!) { ${fields} }`, { room }, ada.token);
  const seqsOf = (payloads: Record<string, { post: { room: { cursor: string } } }>) =>
    Object.values(payloads).map(({ post }) => seqOf(post.room.cursor));
  expect(seqsOf(await ask(create('one')))).toEqual([2]);
  expect(seqsOf(await ask(create('two')))).toEqual([3]);
  // Both payloads have the cursor after the first mutation: the second may change data that the first payload contains.
  expect(seqsOf(await ask(`${create('three')} ${create('four')}`))).toEqual([4, 4]);
  const made = await postroom.ask(
    'mutation { createRoom(input: { name: "made" }) { room { cursor } } }',
    {},
    ada.token,
  );
  expect(seqOf(made.createRoom.room.cursor)).toBe(1);
});

it.skipIf(isPostgresTest)(
  'no snapshot of the database stays open after mutations that fail, time out, or whose client disconnects',
  async () => {
    const hasty = await launchForTest({ DATABASE_URL: `sqlite:${server.databaseFile}`, OPERATION_TIMEOUT_MS: '1' });
    const mutation = 'mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { cursor } } }';
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${ada.token}` };
    const body = JSON.stringify({ query: mutation, variables: { room } });
    for (let round = 0; round < 20; round += 1) {
      const refused = await server.postroom.send(mutation, { room: 'nowhere' }, ada.token);
      expect(refused.code).toBe('NOT_FOUND');
      expect([200, 503]).toContain((await hasty.send(mutation, { room }, ada.token)).status);
      const signal = AbortSignal.timeout(round);
      await Promise.allSettled([fetch(server.postroom.graphqlUrl, { method: 'POST', headers, body, signal })]);
    }
    const isBusy = () =>
      withDatabase(
        server.databaseFile,
        (database) => database.prepare('pragma wal_checkpoint(truncate)').get()?.['busy'],
      );
    await expect.poll(isBusy).toBe(0);
    expect((await server.postroom.send(mutation, { room }, ada.token)).status).toBe(200);
    expect([200, 503]).toContain((await hasty.send(mutation, { room }, ada.token)).status);
  },
);

it('many mutations at once that select a cursor are all answered, each with a cursor that is not newer than its own event', async () => {
  const { postroom } = server;
  const room = await postroom.createRoom(ada, 'crowd');
  const mutation = `mutation ($room: ID!) {
    createPost(input: { room: $room, title: "one of many" }) { post { id version room { cursor } } }
  }`;
  const answers = await Promise.all(Array.from({ length: 50 }, () => postroom.ask(mutation, { room }, ada.token)));
  const log = readLog(server.databaseFile, room);
  expect(log).toHaveLength(1 + 50);
  expectNothingMissed(
    answers.map((answer) => readingOf(mutation, room, answer)),
    log,
  );
  for (const { createPost } of answers) {
    const { seq: own = 0 } = log.find(({ subjectId }) => subjectId === createPost.post.id) ?? {};
    expect(seqOf(createPost.post.room.cursor)).toBeLessThanOrEqual(own);
  }
});

// On PostgreSQL no process locks the whole database.
it.skipIf(isPostgresTest)(
  'queries that select a cursor do not wait for mutations that select one and wait for the write lock of another process',
  async () => {
    const { postroom } = server;
    const writer = new DatabaseSync(server.databaseFile);
    writer.exec('begin immediate');
    const mutation = 'mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { cursor } } }';
    const waiting = Array.from({ length: 20 }, () => postroom.ask(mutation, { room }, ada.token));
    let answered = 0;
    const settled = Promise.all(waiting.map((answer) => answer.finally(() => (answered += 1))));
    for (let round = 0; round < 20; round += 1) {
      await postroom.ask('query ($room: ID!) { room(id: $room) { cursor } }', { room });
    }
    expect(answered).toBe(0);
    writer.exec('rollback');
    writer.close();
    await settled;
  },
);
