import { type Client as Connection, createClient } from 'graphql-ws';
import { expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { createResume } from '../../../packages/client/src/index.ts';
import { createFaultProxy } from '../../support/clients/fault-proxy.ts';
import type { Result } from '../../support/clients/protocol-socket.ts';
import { firstSeq, seqOf, seqsBetween } from '../../support/rooms/cursors.ts';
import { launchProcessForTest, type Person, type PostroomProcess } from '../../support/server/postroom.ts';

const roomCount = 10;
/** One room has most of the clients; each of the other rooms has ten clients. */
const clientCount = 1_000;
const smallCount = 10;
const cutCount = 3;
const maxReadsPerRoomAndCut = 5;
/** One post in each of the ten rooms every 50 ms: 200 events per second. */
const batchMs = 50;
const maxRetryWaitMs = 1_000;

/** Collects the sequence numbers that one client received; `until` waits for a number. */
class Client {
  readonly room: string;
  readonly seqs: number[] = [];
  #target: { seq: number; resolve: () => void } | undefined;

  constructor(room: string) {
    this.room = room;
  }

  take(seq: number): void {
    this.seqs.push(seq);
    if (this.#target && seq >= this.#target.seq) this.#target.resolve();
  }

  async until(seq: number): Promise<void> {
    if ((this.seqs.at(-1) ?? 0) >= seq) return;
    await new Promise<void>((resolve) => {
      this.#target = { seq, resolve };
    });
  }
}

/** Creates one post in each room every `batchMs`; `count` is the number of posts in each room. */
class Publisher {
  count = 0;
  readonly #mutation: string;
  readonly #postroom: PostroomProcess;
  readonly #author: Person;
  #isStopped = false;
  #running: Promise<void> | undefined;

  constructor(postroom: PostroomProcess, author: Person, rooms: readonly string[]) {
    this.#postroom = postroom;
    this.#author = author;
    const posts = rooms.map(
      (room, index) => `p${index}: createPost(input: { room: "${room}", title: $title }) { post { id } }`,
    );
    this.#mutation = `mutation ($title: String!) { ${posts} }`;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const next = new Promise((resolve) => setTimeout(resolve, batchMs));
      await this.#postroom.ask(this.#mutation, { title: `post ${this.count + 1}` }, this.#author.token);
      this.count += 1;
      await next;
    }
  }
}

/** The number of log reads for each room between `from` and `to`, in milliseconds since 1970. */
function countLogReads({ log }: PostroomProcess, from: number, to: number): Map<unknown, number> {
  const isWithin = (time: number) => time >= from && time < to;
  const reads = log.filter(({ msg, time }) => msg === 'log read' && isWithin(Date.parse(String(time))));
  return new Map([...Map.groupBy(reads, ({ roomId }) => roomId)].map(([room, { length }]) => [room, length]));
}

it('1,000 clients reconnect three times without a gap, at the cost of a few reads of the log', async ({ annotate }) => {
  const postroom = await launchProcessForTest({ LOG_LEVEL: 'debug' });
  const proxy = await createFaultProxy(postroom.graphqlUrl);
  onTestFinished(() => proxy.close());
  const ada = await postroom.signUp('Ada');
  const rooms = await Promise.all(
    Array.from({ length: roomCount }, (_, index) => postroom.createRoom(ada, `room ${index}`)),
  );
  const failed = Promise.withResolvers<never>();
  const orFail = <T>(promise: Promise<T>) => Promise.race([promise, failed.promise]);

  const clients: Client[] = [];
  const connections: Connection[] = [];
  const dispose = () => Promise.allSettled(connections.map((connection) => connection.dispose()));
  onTestFinished(async () => void (await dispose()));
  const started: Promise<void>[] = [];
  for (let index = 0; index < clientCount; index += 1) {
    const small = Math.floor(index / smallCount) + 1;
    const client = new Client(rooms[small < roomCount ? small : 0] ?? '');
    const { promise, resolve } = Promise.withResolvers<void>();
    const connection = createClient({
      url: proxy.url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      retryAttempts: Number.POSITIVE_INFINITY,
      shouldRetry: () => true,
      retryWait: () => new Promise((wait) => setTimeout(wait, Math.random() * maxRetryWaitMs)),
      ...createResume(),
    });
    connections.push(connection);
    connection.on('ping', () => resolve());
    connection.subscribe(
      {
        query: `subscription { roomEvents(room: "${client.room}") { cursor ... on PostCreated { post { id title } } } }`,
      },
      {
        next: (result) => client.take(seqOf((result as unknown as Result).extensions.live.cursor)),
        error: (error) => failed.reject(new Error(`a client failed: ${JSON.stringify(error)}`)),
        complete: () => {},
      },
    );
    clients.push(client);
    started.push(promise);
  }
  await orFail(Promise.all(started));

  const publisher = new Publisher(postroom, ada, rooms);
  publisher.start();
  const everyone = (count: number) => orFail(Promise.all(clients.map((client) => client.until(firstSeq + count))));
  const cuts: number[] = [];
  for (let cut = 0; cut < cutCount; cut += 1) {
    await everyone(publisher.count + 1);
    expect(proxy.connectionCount).toBe(clientCount);
    cuts.push(Date.now());
    proxy.cut();
    await everyone(publisher.count + 1);
    await annotate(`cut ${cut + 1}: all back after ${(Date.now() - (cuts.at(-1) ?? 0)) / 1_000} s`);
  }
  await publisher.stop();
  await everyone(publisher.count);

  for (const { seqs } of clients) expect(seqs).toEqual(seqsBetween(firstSeq, firstSeq + publisher.count));
  await dispose();
  await postroom.stop();
  // The reads at the start show that reads are counted.
  const readsAtStart = countLogReads(postroom, 0, cuts[0] ?? 0);
  expect([...readsAtStart.keys()].toSorted()).toEqual(rooms.toSorted());
  for (const [index, cut] of cuts.entries()) {
    const reads = countLogReads(postroom, cut, cuts[index + 1] ?? Number.POSITIVE_INFINITY);
    await annotate(`cut ${index + 1}: reads of the log ${[...reads.values()].join(', ')}`);
    // No read of a room whose first client was back before the server had noticed that the last one left.
    expect(Math.max(0, ...reads.values())).toBeLessThanOrEqual(maxReadsPerRoomAndCut);
  }
});
