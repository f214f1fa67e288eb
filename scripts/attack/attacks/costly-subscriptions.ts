import { createPostMutation } from '../accounts.ts';
import type { Attack } from '../attack.ts';
import { openSockets, resumeParams } from '../open-sockets.ts';
import type { Sandbox } from '../sandbox.ts';
import { type Setup, startWithArchive, startWithRoom } from '../setup.ts';
import { sleep, until } from '../waiting.ts';
import { sumCounts, type WebSocketClient } from '../web-socket-client.ts';

/* Subscriptions that cost nearly LIMIT_COST each. Their variables differ, so that no result can be shared. */

interface CostlySetup extends Setup {
  sandbox: Sandbox;
  /** Cursors of posts in the room, used as different variables. */
  positions: string[];
}

async function prepare(sandbox: Sandbox): Promise<CostlySetup> {
  const setup = await startWithArchive(sandbox, 'posts');
  const { client, ada, room } = setup;
  const query =
    'query ($room: ID!) { room(id: $room) { a: posts(first: 100) { edges { cursor } } b: posts(last: 100) { edges { cursor } } } }';
  const pages = await client.ask(query, { room });
  const edges: { cursor: string }[] = [...pages.room.a.edges, ...pages.room.b.edges];
  await client.ask('mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { id } } }', { room }, ada.token);
  return { ...setup, sandbox, positions: edges.map(({ cursor }) => cursor) };
}

const costlySubscription = (room: string, personal = '') => `subscription ($x: String, $y: String) {
  roomEvents(room: "${room}") {
    __typename
    room {
      ${personal}
      a: posts(first: 50, after: $x) { nodes { id author { posts(last: 45) { id } } } }
      b: posts(first: 50, before: $y) { nodes { id author { posts(last: 45) { id } } } }
    }
  }
}`;

/** Subscribes `count` times on each socket, creates a post, and waits for its delivery. */
async function subscribeAndPost(
  setup: CostlySetup,
  sockets: readonly WebSocketClient[],
  count: number,
  personal = '',
): Promise<string> {
  const { client, ada, room, positions } = setup;
  let index = 0;
  for (const socket of sockets) {
    for (let nth = 0; nth < count; nth += 1) {
      const variables = { x: positions[index % 200], y: positions[(index * 7 + Math.floor(index / 200)) % 200] };
      socket.subscribe(`s${nth}`, costlySubscription(room, personal), variables);
      index += 1;
    }
    await socket.waitForPong();
  }
  await sleep(500);
  const startedAt = performance.now();
  const reply = await client.send(
    createPostMutation,
    { input: { room, title: 'one' } },
    { token: ada.token, timeoutMs: 30_000 },
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  await sleep(2_000);
  return `the post took ${seconds.toFixed(1)} s (${reply.status}); ${sumCounts(sockets)}`;
}

interface CostlyOptions {
  name: string;
  promise: string;
  /** The number of subscriptions on each socket. */
  count: number;
  /** A field that only the viewer may see, so that no result is shared with other viewers. */
  personal?: string;
  open: (setup: CostlySetup) => Promise<WebSocketClient[]>;
}

function costlySubscriptions({ name, promise, count, personal, open }: CostlyOptions): Attack {
  return {
    name,
    archive: 'posts',
    promise,
    async run(sandbox, findings) {
      const setup = await prepare(sandbox);
      await sandbox.measure(setup.server, async () => {
        findings.note(await subscribeAndPost(setup, await open(setup), count, personal));
      });
    },
  };
}

const resumed = costlySubscriptions({
  name: 'costly-resumed',
  promise: 'A post does not block the event loop when one address has 500 resumed subscriptions near LIMIT_COST.',
  count: 100,
  open: ({ sandbox, server, cursor }) => openSockets(sandbox, server, 5, () => ({ params: resumeParams(100, cursor) })),
});

const charged = costlySubscriptions({
  name: 'costly-within-rate',
  promise: 'A post does not block the event loop when one address has 90 costly subscriptions within its rate.',
  count: 90,
  open: ({ sandbox, server }) => openSockets(sandbox, server, 1),
});

const personal = costlySubscriptions({
  name: 'costly-personal',
  promise:
    'A post does not block the event loop when one user has 200 resumed subscriptions that select viewer fields.',
  count: 100,
  personal: 'viewerRole',
  open: ({ sandbox, server, ada, cursor }) => {
    const params = { authorization: `Bearer ${ada.token}`, ...resumeParams(100, cursor) };
    return openSockets(sandbox, server, 2, () => ({ params }));
  },
});

const replays: Attack = {
  name: 'costly-replay',
  archive: 'posts',
  promise: 'Subscriptions that replay many events with costly selections do not block other requests.',
  async run(sandbox, findings) {
    const setup = await prepare(sandbox);
    const { client, ada, room, server, cursor } = setup;
    const fields = Array.from({ length: 25 }, (_, index) => `p${index}: createPost(input: $input) { post { id } }`);
    const mutation = `mutation ($input: CreatePostInput!) { ${fields.join(' ')} }`;
    for (let round = 0; round < 20; round += 1)
      await client.ask(mutation, { input: { room, title: 'one' } }, ada.token);
    await sandbox.measure(server, async () => {
      const sockets = await openSockets(sandbox, server, 1, () => ({ params: resumeParams(100, cursor) }));
      findings.note(await subscribeAndPost(setup, sockets, 60));
    });
  },
};

const eventCount = 1_500;
const socketCount = 5;
/** Replays that are free, and those that the rate of an address allows. */
const maxReplayed = 10_000 + 100 * eventCount;

const freeReplays: Attack = {
  name: 'free-replays',
  promise: 'One address replays only as many events as its rate allows, however many subscriptions resume.',
  async run(sandbox, findings) {
    const { server, client, ada, room, cursor } = await startWithRoom(sandbox);
    const fields = Array.from({ length: 25 }, (_, index) => `p${index}: createPost(input: $input) { post { id } }`);
    const mutation = `mutation ($input: CreatePostInput!) { ${fields.join(' ')} }`;
    for (let made = 0; made < eventCount; made += fields.length)
      await client.ask(mutation, { input: { room, title: 'one' } }, ada.token);
    await sandbox.measure(server, async () => {
      const sockets = await openSockets(sandbox, server, socketCount, () => ({ params: resumeParams(100, cursor) }));
      const query = `subscription { roomEvents(room: "${room}") { __typename } }`;
      for (const socket of sockets) for (let nth = 0; nth < 100; nth += 1) socket.subscribe(`s${nth}`, query);
      const countEvents = () => sockets.reduce((sum, { counts }) => sum + (counts['next'] ?? 0), 0);
      let before = -1;
      await until(30_000, async () => {
        const isQuiet = countEvents() === before;
        before = countEvents();
        await sleep(500);
        return isQuiet;
      });
      findings.note(sumCounts(sockets));
      const replayed = countEvents();
      findings.expect(replayed <= maxReplayed, `${replayed} events were replayed; the maximum is ${maxReplayed}`);
    });
  },
};

export const costlySubscriptionAttacks: readonly Attack[] = [resumed, charged, personal, replays, freeReplays];
