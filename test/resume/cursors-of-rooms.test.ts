// Runs on SQLite and on PostgreSQL.
import { expect, it } from 'vitest';
import { type LiveOperation, ProtocolSocket } from '../support/clients/protocol-socket.ts';
import {
  expectNothingMissed,
  keepWriting,
  type Reading,
  readingOf,
  readLog,
} from '../support/rooms/cursor-readings.ts';
import { seqOf, seqsBetween } from '../support/rooms/cursors.ts';
import { launchForTest } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();
const postCount = 30;
const readCount = 400;
const writeCount = 400;
const readerCount = 4;
const writerCount = 3;

/** Select the cursor before, after, below and beside the data that it must not be newer than. */
const queries = [
  'query ($room: ID!) { room(id: $room) { cursor posts(last: 100) { nodes { id version } } } }',
  'query ($room: ID!) { room(id: $room) { posts(last: 100) { nodes { id version } } cursor } }',
  'query ($room: ID!) { posts(limit: 100, filter: { room: $room }) { data { id version room { cursor } } } }',
  'query ($post: ID!) { post(id: $post) { id version room { cursor } } }',
  'query ($post: ID!) { node(id: $post) { ... on Post { id version room { ...Position } } } } fragment Position on Room { position: cursor }',
  'query ($post: ID!, $room: ID!) { post(id: $post) { id version } node(id: $room) { ... on Room { cursor } } }',
  `query ($author: ID!) {
    user(id: $author) {
      posts(last: 100) { id version author { posts(last: 1) { author { posts(last: 1) { room { cursor } } } } } }
    }
  }`,
  'query ($post: ID!) { post(id: $post) { id version author { posts(last: 2) { room { owner { posts(last: 1) { room { cursor } } } } } } } }',
];

const title = 'Room.cursor is not newer than anything else the query read, and what follows it is all that came since';

it(title, async () => {
  const { postroom } = server;
  // Another server writes, so that its commits may occur between any two reads of one query.
  const other = await launchForTest({ DATABASE_URL: `sqlite:${server.databaseFile}` });
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'lobby');
  const posts: string[] = [];
  while (posts.length < postCount) posts.push(await postroom.createPost(ada, room, `post ${posts.length}`));
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);

  const readings: Reading[] = [];
  const followed: { seq: number; operation: LiveOperation }[] = [];
  let reads = 0;
  let writes = 0;
  const isDone = () => reads >= readCount && writes >= writeCount;
  const reader = async () => {
    while (!isDone()) {
      reads += 1;
      const number = reads;
      const query = queries[number % queries.length] ?? '';
      const post = posts[number % posts.length];
      readings.push(readingOf(query, room, await postroom.ask(query, { room, post, author: ada.id })));
      if (number % 20 !== 0) continue;
      const after = await postroom.cursorOf(room);
      const subscription =
        'subscription ($room: ID!, $after: String) { roomEvents(room: $room, after: $after) { cursor } }';
      const operation = socket.subscribe(String(number), subscription, { room, after });
      followed.push({ seq: seqOf(after), operation });
    }
  };
  const onWritten = (count: number) => {
    writes += count;
  };
  const writing = Array.from({ length: writerCount }, (_, writer) => {
    const own = posts.filter((_, index) => index % writerCount === writer);
    return keepWriting(other, { author: ada, posts: own, isDone, onWritten });
  });
  await Promise.all(Array.from({ length: readerCount }, reader));
  await Promise.all(writing);

  const log = readLog(server.databaseFile, room);
  expect(log.length).toBeGreaterThan(writeCount);
  expectNothingMissed(readings, log);
  const last = log.length;
  expect(followed.length).toBeGreaterThan(10);
  for (const { seq, operation } of followed) {
    const events = await operation.results.take(last - seq);
    expect(events.map(({ data }) => seqOf(data.roomEvents.cursor))).toEqual(seqsBetween(seq, last));
  }
});
