import { copyArchive } from '../archive.ts';
import type { Arena } from '../arena.ts';
import type { Attack } from '../attack.ts';
import type { Caller } from '../caller.ts';
import { openCrowd, resuming } from '../crowd.ts';
import { type LiveSocket, sumCounts } from '../live-socket.ts';
import { createPost, type Person, signUp } from '../people.ts';
import type { Server } from '../server.ts';
import { sleep } from '../waiting.ts';

/* Subscriptions that cost nearly LIMIT_COST each. Their variables differ, so that no result can be shared. */

interface Stage {
  arena: Arena;
  server: Server;
  caller: Caller;
  ada: Person;
  room: string;
  cursor: string;
  /** Cursors of posts in the room, used as different variables. */
  positions: string[];
}

async function prepare(arena: Arena): Promise<Stage> {
  const folder = arena.newFolder();
  copyArchive('posts', folder);
  const server = await arena.start({ folder });
  const caller = arena.caller(server, '127.0.0.9');
  const { room } = await caller.ask(
    '{ room: roomByName(name: "archive") { id cursor a: posts(first: 100) { edges { cursor } } b: posts(last: 100) { edges { cursor } } } }',
  );
  const positions = [...room.a.edges, ...room.b.edges].map(({ cursor }: { cursor: string }) => cursor);
  const ada = await signUp(caller);
  await caller.ask(
    'mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { id } } }',
    { room: room.id },
    ada.token,
  );
  return { arena, server, caller, ada, room: room.id, cursor: room.cursor, positions };
}

const each = (room: string, personal = '') => `subscription ($x: String, $y: String) {
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
  stage: Stage,
  sockets: readonly LiveSocket[],
  count: number,
  personal = '',
): Promise<string> {
  const { caller, ada, room, positions } = stage;
  let index = 0;
  for (const socket of sockets) {
    for (let nth = 0; nth < count; nth += 1) {
      const variables = { x: positions[index % 200], y: positions[(index * 7 + Math.floor(index / 200)) % 200] };
      socket.subscribe(`s${nth}`, each(room, personal), variables);
      index += 1;
    }
    await socket.settle();
  }
  await sleep(500);
  const startedAt = performance.now();
  const reply = await caller.send(
    createPost,
    { input: { room, title: 'one' } },
    { token: ada.token, timeoutMs: 30_000 },
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  await sleep(2_000);
  return `the post took ${seconds.toFixed(1)} s (${reply.status}); ${sumCounts(sockets)}`;
}

const resumed: Attack = {
  name: 'costly-resumed',
  archive: 'posts',
  promise: 'A post does not block the event loop when one address has 500 resumed subscriptions near LIMIT_COST.',
  async run(arena, findings) {
    const stage = await prepare(arena);
    await arena.measure(stage.server, async () => {
      const sockets = await openCrowd(arena, stage.server, 5, () => ({ params: resuming(100, stage.cursor) }));
      findings.note(await subscribeAndPost(stage, sockets, 100));
    });
  },
};

const charged: Attack = {
  name: 'costly-within-rate',
  archive: 'posts',
  promise: 'A post does not block the event loop when one address has 90 costly subscriptions within its rate.',
  async run(arena, findings) {
    const stage = await prepare(arena);
    await arena.measure(stage.server, async () => {
      findings.note(await subscribeAndPost(stage, await openCrowd(arena, stage.server, 1), 90));
    });
  },
};

const personal: Attack = {
  name: 'costly-personal',
  archive: 'posts',
  promise:
    'A post does not block the event loop when one user has 200 resumed subscriptions that select viewer fields.',
  async run(arena, findings) {
    const stage = await prepare(arena);
    await arena.measure(stage.server, async () => {
      const authorization = `Bearer ${stage.ada.token}`;
      const sockets = await openCrowd(arena, stage.server, 2, () => ({
        params: { authorization, ...resuming(100, stage.cursor) },
      }));
      findings.note(await subscribeAndPost(stage, sockets, 100, 'viewerRole'));
    });
  },
};

const replays: Attack = {
  name: 'costly-replay',
  archive: 'posts',
  promise: 'Subscriptions that replay many events with costly selections do not block other requests.',
  async run(arena, findings) {
    const stage = await prepare(arena);
    const { caller, ada, room, server, cursor } = stage;
    const fields = Array.from({ length: 25 }, (_, index) => `p${index}: createPost(input: $input) { post { id } }`);
    const mutation = `mutation ($input: CreatePostInput!) { ${fields.join(' ')} }`;
    for (let round = 0; round < 20; round += 1)
      await caller.ask(mutation, { input: { room, title: 'one' } }, ada.token);
    await arena.measure(server, async () => {
      const sockets = await openCrowd(arena, server, 1, () => ({ params: resuming(100, cursor) }));
      findings.note(await subscribeAndPost(stage, sockets, 60));
    });
  },
};

export const standingCostAttacks: readonly Attack[] = [resumed, charged, personal, replays];
