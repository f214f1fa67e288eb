import { createClient } from 'graphql-ws';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { createResume } from '../../packages/client/src/index.ts';
import { EventStream } from '../support/clients/event-stream.ts';
import { createFaultProxy } from '../support/clients/fault-proxy.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { untilCounts } from '../support/engine/metrics.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();
let postroom: Postroom;
let ada: Person;
let room: string;

const query = 'subscription ($room: ID!, $text: String) { roomEvents(room: $room, after: $text) { cursor } }';

beforeAll(async () => {
  postroom = server.postroom;
  ada = await postroom.signUp('Ada');
  room = await postroom.createRoom(ada, 'lobby');
});

function open(payload?: unknown): Promise<ProtocolSocket> {
  return ProtocolSocket.open(postroom.webSocketUrl, { init: payload });
}

/** The close code and reason after a `connection_init` with this `seen`; undefined if the server acknowledges it. */
async function closeOf(seen: Record<string, string>): Promise<{ code: number; reason: string } | undefined> {
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: false });
  socket.send({ type: 'connection_init', payload: { live: { seen } } });
  return Promise.race([socket.closed, socket.take(({ type }) => type === 'connection_ack').then(() => undefined)]);
}

function entries(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`id ${index}`, 'cursor']));
}

describe('`live.seen`', () => {
  it('has at most LIMIT_SUBSCRIPTIONS entries; one more closes the socket with 4400 and the reason', async () => {
    expect(await closeOf(entries(100))).toBeUndefined();
    const reason = 'live.seen has 101 entries: at most 100 are allowed';
    expect(await closeOf(entries(101))).toEqual({ code: 4400, reason });
  });

  it('has ids and cursors of at most 200 characters', async () => {
    expect(await closeOf({ ['i'.repeat(200)]: 'c'.repeat(200) })).toBeUndefined();
    const ids = { code: 4400, reason: 'live.seen has an id of 201 characters: at most 200 are allowed' };
    expect(await closeOf({ ['i'.repeat(201)]: 'c' })).toEqual(ids);
    const cursors = { code: 4400, reason: 'live.seen has a cursor of 201 characters: at most 200 are allowed' };
    expect(await closeOf({ i: 'c'.repeat(201) })).toEqual(cursors);
  });
});

describe('an operation', () => {
  it('has an id of at most 200 characters; a longer one closes the socket with 4400', async () => {
    const socket = await open();
    await socket.subscribe('i'.repeat(200), query, { room }).start;
    socket.subscribe('i'.repeat(201), query, { room });
    const reason = 'The operation has an id of 201 characters: at most 200 are allowed';
    expect(await socket.closed).toEqual({ code: 4400, reason });
  });

  it('that subscribes has variables of at most 4,096 bytes, over a WebSocket and over SSE', async () => {
    const bytesOf = (text: string) => JSON.stringify({ room, text }).length;
    const longest = 'x'.repeat(4_096 - bytesOf(''));
    const refused = {
      message: 'The variables of a subscription have 4097 bytes as JSON: at most 4096 are allowed.',
      extensions: { code: 'VARIABLES_INVALID' },
    };
    const socket = await open();
    const [fits] = await socket.subscribe('1', query, { room, text: longest }).refused;
    expect(fits?.extensions.code).toBe('CURSOR_INVALID');
    const [tooLong] = await socket.subscribe('2', query, { room, text: `${longest}x` }).refused;
    expect(tooLong).toMatchObject(refused);
    const stream = await EventStream.open(postroom.graphqlUrl, query, {}, { room, text: `${longest}x` });
    expect(stream.status).toBe(422);
    expect(stream.refusal.errors).toMatchObject([refused]);
    const long = await postroom.send(
      'query ($text: String) { __typename @skip(if: false) a: room(id: $text) { id } }',
      {
        text: 'x'.repeat(10_000),
      },
    );
    expect(long.code).not.toBe('VARIABLES_INVALID');
  });
});

describe('a client of graphql-ws with `createResume`', () => {
  const live = `subscription ($room: ID!) { roomEvents(room: $room) { cursor ... on PostCreated { post { title } } } }`;

  /** `seen` returns the cursors that it would send in connection_init. */
  async function openClient() {
    const proxy = await createFaultProxy(postroom.graphqlUrl);
    onTestFinished(() => proxy.close());
    const { connectionParams, on, jsonMessageReplacer } = createResume();
    const client = createClient({
      url: proxy.url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      retryAttempts: Number.POSITIVE_INFINITY,
      retryWait: async () => {},
      lazy: false,
      connectionParams,
      on,
      jsonMessageReplacer,
    });
    onTestFinished(() => void client.dispose());
    return { proxy, client, seen: () => connectionParams().live.seen };
  }

  type Opened = Awaited<ReturnType<typeof openClient>>;

  function follow({ client }: Opened): { titles: string[]; started: Promise<void>; stop: () => void } {
    const started = Promise.withResolvers<void>();
    const titles: string[] = [];
    const off = client.on('ping', () => started.resolve());
    const stop = client.subscribe(
      { query: live, variables: { room } },
      {
        // biome-ignore lint/suspicious/noExplicitAny: its shape is the subscription's.
        next: ({ data }: any) => void titles.push(data.roomEvents.post.title),
        error: started.reject,
        complete: off,
      },
    );
    return { titles, started: started.promise, stop };
  }

  it('forgets operations that have ended, even if events of them are still in transit', async () => {
    const opened = await openClient();
    const last = follow(opened);
    await last.started;
    for (let round = 0; round < 120; round += 1) {
      const { started, stop } = follow(opened);
      if (round % 2 === 0) await started;
      const posted = round % 10 === 0 ? postroom.createPost(ada, room, `round ${round}`) : undefined;
      stop();
      await posted;
    }
    await postroom.createPost(ada, room, 'the last');
    await expect.poll(() => last.titles.at(-1)).toBe('the last');
    expect(Object.keys(opened.seen())).toHaveLength(1);
  });

  it('forgets operations that end while it is disconnected, and resumes the others', async () => {
    const opened = await openClient();
    const kept = follow(opened);
    const left = follow(opened);
    await Promise.all([kept.started, left.started]);
    await postroom.createPost(ada, room, 'before');
    await expect.poll(() => kept.titles).toEqual(['before']);
    opened.client.on('closed', () => left.stop());
    opened.proxy.cut();
    await postroom.createPost(ada, room, 'between');
    await expect.poll(() => kept.titles).toEqual(['before', 'between']);
    await expect.poll(() => Object.keys(opened.seen()).length).toBe(1);
    await opened.client.dispose();
    await untilCounts(postroom, { subscribers: 0 });
  });
});
