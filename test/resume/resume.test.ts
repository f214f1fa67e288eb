import { gql } from '@apollo/client';
import type { Client } from 'graphql-ws';
import { expect, it, onTestFinished } from 'vitest';
import { EventStream, multipartHeaders } from '../support/clients/event-stream.ts';
import { createFaultProxy, type FaultProxy } from '../support/clients/fault-proxy.ts';
import { openClient } from '../support/clients/postroom-client.ts';
import { ProtocolSocket, type Result } from '../support/clients/protocol-socket.ts';
import { createApollo, createUrql, openSse } from '../support/clients/published-clients.ts';
import { firstSeq, seqOf, seqsBetween } from '../support/rooms/cursors.ts';
import { createRandom } from '../support/rooms/unreliable-bus.ts';
import { isSoak } from '../support/run/soak.ts';
import { launchForTest, type Person, type Postroom } from '../support/server/postroom.ts';

const eventCount = isSoak ? 10_000 : 1_000;
const cutCount = 20;
const writerCount = 8;
const retryWaitMs = 20;
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const random = createRandom(seed);

/** The events that one client received through its own proxy, which cuts its connections at random moments. */
class Reader {
  readonly seqs: number[] = [];
  readonly titles: string[] = [];
  /** The number of times that it lost its connection. */
  lost = 0;
  readonly #proxy: FaultProxy;
  readonly #cuts: number[];
  readonly #started = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  #isOpen = true;

  constructor(proxy: FaultProxy) {
    this.#proxy = proxy;
    this.#ended.promise.catch(() => {});
    // Half of the cuts follow a random number of events. Each is followed by another while the client reconnects.
    const counts = Array.from({ length: cutCount / 2 }, () => Math.floor(random() * eventCount * 0.85));
    this.#cuts = counts.sort((a, b) => a - b);
    onTestFinished(() => {
      this.#isOpen = false;
    });
  }

  static async open(postroom: Postroom): Promise<Reader> {
    const proxy = await createFaultProxy(postroom.graphqlUrl);
    onTestFinished(() => proxy.close());
    return new Reader(proxy);
  }

  get url(): string {
    return this.#proxy.url;
  }

  get started(): Promise<void> {
    return this.#started.promise;
  }

  /** Resolves when the last event has arrived. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** The client has received the position where its subscription went live. */
  start(): void {
    this.#started.resolve();
  }

  take({ data, errors, extensions }: Result): void {
    if (errors) return this.fail(errors);
    this.seqs.push(seqOf(extensions.live.cursor));
    const title = data.roomEvents?.post?.title ?? data.postAdded?.title;
    if (title !== undefined) this.titles.push(title);
    if (title === 'last') this.#ended.resolve();
    const [next] = this.#cuts;
    if (next === undefined || this.seqs.length < next) return;
    this.#cuts.shift();
    this.#cut();
    setTimeout(() => this.#cut(), random() * 4 * retryWaitMs);
  }

  fail(reason: unknown): void {
    this.#ended.reject(new Error(`a reader failed: ${JSON.stringify(reason)}`));
  }

  /** Calls `read` again after each lost connection, until the test ends. */
  async run(read: () => Promise<void>): Promise<void> {
    while (this.#isOpen) {
      await read().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, retryWaitMs));
    }
  }

  #cut(): void {
    if (this.#proxy.connectionCount > 0) this.lost += 1;
    this.#proxy.cut();
  }
}

/** Resumes with the argument `after`. */
function readByHand(reader: Reader, room: string): Promise<void> {
  const query = `subscription ($room: ID!, $after: String) {
    roomEvents(room: $room, after: $after) { __typename ... on PostCreated { post { title } } }
  }`;
  let after: string | undefined;
  return reader.run(async () => {
    const socket = await ProtocolSocket.open(reader.url);
    const { start, results } = socket.subscribe('1', query, { room, after });
    if (after === undefined) {
      after = await Promise.race([start, socket.closed.then(() => undefined)]);
      reader.start();
    }
    for (;;) {
      const result = await results.next();
      after = result.extensions.live.cursor;
      reader.take(result);
    }
  });
}

/** Resumes a server-sent event stream with `Last-Event-ID`. */
function readByEventStream(reader: Reader, room: string): Promise<void> {
  const query =
    'subscription ($room: ID!) { roomEvents(room: $room) { cursor at ... on PostCreated { post { title } } } }';
  let lastEventId: string | undefined;
  return reader.run(async () => {
    const stream = await EventStream.open(reader.url, query, lastEventId ? { 'last-event-id': lastEventId } : {}, {
      room,
    });
    if (stream.status !== 200) return reader.fail(stream.refusal);
    lastEventId ??= stream.start;
    reader.start();
    for (;;) {
      const result = await stream.results.next();
      lastEventId = stream.lastEventId;
      reader.take(result);
    }
  });
}

/** Resumes a multipart stream with the argument `after`. */
function readByMultipart(reader: Reader, room: string, start: string): Promise<void> {
  const query = `subscription ($room: ID!, $after: String) {
    roomEvents(room: $room, after: $after) { actor { id } ... on PostCreated { post { title } } }
  }`;
  let after = start;
  return reader.run(async () => {
    const stream = await EventStream.open(reader.url, query, multipartHeaders, { room, after });
    if (stream.status !== 200) return reader.fail(stream.refusal);
    reader.start();
    for (;;) {
      const result = await stream.results.next();
      after = result.extensions.live.cursor;
      reader.take(result);
    }
  });
}

function readByGraphqlSse(reader: Reader, room: string, after: string): void {
  const { subscribe } = openSse(reader.url, retryWaitMs);
  const query = `subscription ($room: ID!, $after: String) {
    roomEvents(room: $room, after: $after) { at room { id } ... on PostCreated { post { title } } }
  }`;
  const sink = {
    next: (result: unknown) => reader.take(result as Result),
    error: (error: unknown) => reader.fail(String(error)),
    complete: () => reader.fail('complete'),
  };
  onTestFinished(subscribe({ query, variables: { room, after } }, sink));
  reader.start();
}

/** The WebSocket of @postroom/client, which the next three clients use. */
function openLive(reader: Reader): Client {
  const { live } = openClient(reader.url, { retryWaitMs: () => retryWaitMs });
  live.on('ping', () => reader.start());
  return live;
}

function readByGraphqlWs(reader: Reader, room: string): void {
  const query = `subscription { roomEvents(room: "${room}") { cursor ... on PostCreated { post { title } } } }`;
  openLive(reader).subscribe(
    { query },
    {
      next: (result) => reader.take(result as unknown as Result),
      error: (error) => reader.fail(error),
      complete: () => {},
    },
  );
}

function readByApollo(reader: Reader, room: string): void {
  const apollo = createApollo(openLive(reader));
  const query = gql`subscription ($room: ID!) {
    roomEvents(room: $room) { at actor { name } ... on PostCreated { post { title } } }
  }`;
  const subscription = apollo.subscribe({ query, variables: { room }, fetchPolicy: 'no-cache' }).subscribe({
    next: (result) => reader.take(result as unknown as Result),
    error: (error) => reader.fail(error),
  });
  onTestFinished(() => subscription.unsubscribe());
}

function readByUrql(reader: Reader, room: string): void {
  const urql = createUrql(openLive(reader));
  const query = 'subscription ($room: ID!) { postAdded(room: $room) { id title } }';
  const { unsubscribe } = urql.subscription(query, { room }).subscribe(({ data, error, extensions }) => {
    if (error) reader.fail(error);
    else if (data) reader.take({ data, extensions } as unknown as Result);
  });
  onTestFinished(unsubscribe);
}

const batch = Array.from({ length: 9 }, (_, index) => index);
const writeBatch = `mutation ($change: UpdatePostInput!, ${batch.map((index) => `$p${index}: CreatePostInput!`)}) {
  ${batch.map((index) => `p${index}: createPost(input: $p${index}) { post { id } }`)}
  updatePost(input: $change) { post { id } }
}`;

/** Several writers send mutations, each of which creates nine posts and updates one post. */
async function write(postroom: Postroom, author: Person, room: string): Promise<{ titles: string[]; count: number }> {
  const titles: string[] = [];
  let count = 0;
  const createTitle = () => {
    count += 1;
    titles.push(`post ${count}`);
    return `post ${count}`;
  };
  const writer = async () => {
    let id = await postroom.createPost(author, room, createTitle());
    while (count < eventCount) {
      const posts = Object.fromEntries(batch.map((index) => [`p${index}`, { room, title: createTitle() }]));
      count += 1;
      const data = await postroom.ask(writeBatch, { ...posts, change: { id, body: 'changed' } }, author.token);
      id = data.p0.post.id;
    }
  };
  await Promise.all(Array.from({ length: writerCount }, writer));
  return { titles, count };
}

it(`every client receives ${eventCount} events once, in order, through 20 disconnections`, {
  timeout: 240_000,
}, async ({ annotate }) => {
  await annotate(`seed ${seed}`);
  const postroom = await launchForTest();
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'lobby');
  const open = () => Reader.open(postroom);
  const readers = {
    hand: await open(),
    stream: await open(),
    multipart: await open(),
    graphqlSse: await open(),
    graphqlWs: await open(),
    apollo: await open(),
    urql: await open(),
  };
  const { hand, stream, multipart, graphqlSse, graphqlWs, apollo, urql } = readers;
  const start = await postroom.cursorOf(room);
  void readByHand(hand, room);
  void readByEventStream(stream, room);
  void readByMultipart(multipart, room, start);
  readByGraphqlSse(graphqlSse, room, start);
  readByGraphqlWs(graphqlWs, room);
  readByApollo(apollo, room);
  readByUrql(urql, room);
  const all = Object.values(readers);
  // A reader that fails before it has started would otherwise be waited for until the test times out.
  await Promise.race([Promise.all(all.map(({ started }) => started)), Promise.all(all.map(({ ended }) => ended))]);

  const { titles, count } = await write(postroom, ada, room);
  await postroom.createPost(ada, room, 'last');

  for (const [name, reader] of Object.entries(readers)) {
    await reader.ended;
    expect(reader.lost, `${name}, seed ${seed}`).toBeGreaterThanOrEqual(cutCount / 4);
    if (reader !== urql)
      expect(reader.seqs, `${name}, seed ${seed}`).toEqual(seqsBetween(firstSeq, firstSeq + count + 1));
    expect(reader.titles, `${name}, seed ${seed}`).toEqual(hand.titles);
  }
  expect(hand.titles.toSorted()).toEqual([...titles, 'last'].toSorted());
});
