import { expect, it, onTestFinished } from 'vitest';
import { seqOf, seqsBetween } from './support/live.ts';
import { type LiveOperation, LiveSocket } from './support/live-client.ts';
import { launchForTest, type Person, type Postroom } from './support/postroom.ts';
import { shareServer, withDatabase } from './support/shared-server.ts';

const server = shareServer();
const postCount = 30;
const readCount = 400;
const writeCount = 400;
const readerCount = 4;
const writerCount = 3;

interface PostState {
  id: string;
  version: number;
}

/** What one query said: the room's position, and posts as they were. */
interface Reading {
  query: string;
  seq: number;
  posts: PostState[];
}

/** The cursor in every place where it can stand: before, behind, below and beside what it belongs to. */
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

/** Whatever stands anywhere in the answer: cursors by their names, posts by their versions. */
function collect(value: unknown, reading: Reading): Reading {
  if (typeof value !== 'object' || value === null) return reading;
  if ('version' in value) reading.posts.push(value as PostState);
  for (const [key, item] of Object.entries(value)) {
    if (key === 'cursor' || key === 'position') reading.seq = Math.max(reading.seq, seqOf(item));
    else collect(item, reading);
  }
  return reading;
}

interface LoggedEvent {
  seq: number;
  subjectId: string;
  version: number;
}

function readLog(room: string): LoggedEvent[] {
  const sql = 'select "seq", "subjectId", "version" from "roomEvents" where "roomId" = ? order by "seq"';
  return withDatabase(server.databaseFile, (database) => database.prepare(sql).all(room)) as unknown as LoggedEvent[];
}

interface Progress {
  reads: number;
  writes: number;
}

function isDone({ reads, writes }: Progress): boolean {
  return reads >= readCount && writes >= writeCount;
}

/** Changes one post after the other, as long as there is more to read. */
async function write(postroom: Postroom, author: Person, posts: readonly string[], progress: Progress): Promise<void> {
  const changes = posts.map(
    (id, index) => `p${index}: updatePost(input: { id: "${id}", title: $title }) { post { id } }`,
  );
  while (!isDone(progress)) {
    await postroom.ask(`mutation ($title: String) { ${changes} }`, { title: `title ${progress.writes}` }, author.token);
    progress.writes += posts.length;
  }
}

const title = 'Room.cursor is not newer than anything else the query read, and what follows it is all that came since';

it(title, { timeout: 120_000 }, async () => {
  const { postroom } = server;
  // Writes of another process come between any two reads of this one.
  const other = await launchForTest({ DATABASE_URL: `sqlite:${server.databaseFile}` });
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'lobby');
  const posts: string[] = [];
  while (posts.length < postCount) posts.push(await postroom.createPost(ada, room, `post ${posts.length}`));
  const socket = await LiveSocket.open(postroom.webSocketUrl);
  onTestFinished(() => socket.close());

  const readings: Reading[] = [];
  const followed: { seq: number; operation: LiveOperation }[] = [];
  const progress = { reads: 0, writes: 0 };
  const reader = async () => {
    while (!isDone(progress)) {
      progress.reads += 1;
      const number = progress.reads;
      const query = queries[number % queries.length] ?? '';
      const reading: Reading = { query, seq: -1, posts: [] };
      readings.push(reading);
      const post = posts[number % posts.length];
      collect(await postroom.ask(query, { room, post, author: ada.id }), reading);
      if (number % 20 !== 0) continue;
      const { room: found } = await postroom.ask('query ($room: ID!) { room(id: $room) { cursor } }', { room });
      const subscription =
        'subscription ($room: ID!, $after: String) { roomEvents(room: $room, after: $after) { cursor } }';
      const operation = socket.subscribe(String(number), subscription, { room, after: found.cursor });
      followed.push({ seq: seqOf(found.cursor), operation });
    }
  };
  const writing = Array.from({ length: writerCount }, (_, writer) => {
    const own = posts.filter((_, index) => index % writerCount === writer);
    return write(other, ada, own, progress);
  });
  await Promise.all(Array.from({ length: readerCount }, reader));
  await Promise.all(writing);

  const log = readLog(room);
  expect(log.length).toBeGreaterThan(writeCount);
  for (const { query, seq, posts: read } of readings) {
    expect(read.length, query).toBeGreaterThan(0);
    const versions = new Map(read.map(({ id, version }) => [id, version]));
    const missed = log.filter(
      (event) => event.seq <= seq && event.version > (versions.get(event.subjectId) ?? Number.POSITIVE_INFINITY),
    );
    expect(missed, query).toEqual([]);
  }
  const last = log.length;
  expect(followed.length).toBeGreaterThan(10);
  for (const { seq, operation } of followed) {
    const events = await operation.results.take(last - seq);
    expect(events.map(({ data }) => seqOf(data.roomEvents.cursor))).toEqual(seqsBetween(seq, last));
  }
});
