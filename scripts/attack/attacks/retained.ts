import { connect } from 'node:net';
import type { Arena } from '../arena.ts';
import type { Attack } from '../attack.ts';
import type { Caller } from '../caller.ts';
import { openCrowd, resuming } from '../crowd.ts';
import { type LiveSocket, sumCounts } from '../live-socket.ts';
import { createRoom, cursorOf, signUp, titlesOf } from '../people.ts';
import type { Server } from '../server.ts';
import { sleep } from '../waiting.ts';

/* The memory that the server retains for one address while the attacker is still connected. */

/** The maximum size of a frame is 262,144 bytes. */
const almostFrame = 'x'.repeat(250_000);
const subscriptionsEach = 100;
/** The variable is first read when an event is delivered. */
const withVariable = (room: string) =>
  `subscription ($x: String) { roomEvents(room: "${room}") { __typename room { posts(first: 1, after: $x) { nodes { id } } } } }`;

interface Stage {
  arena: Arena;
  server: Server;
  caller: Caller;
  room: string;
  cursor: string;
}

async function prepare(arena: Arena): Promise<Stage> {
  const server = await arena.start();
  const caller = arena.caller(server, '127.0.0.9');
  const room = await createRoom(caller, await signUp(caller));
  return { arena, server, caller, room, cursor: await cursorOf(caller, room) };
}

/** An attack with sockets that stay open. `open` resolves when all messages are sent. */
function standing(name: string, what: string, open: (stage: Stage) => Promise<readonly LiveSocket[]>): Attack {
  return {
    name,
    promise: `${what} from one address retain at most 64 MB.`,
    async run(arena, findings) {
      const stage = await prepare(arena);
      const sockets = await arena.measure(stage.server, async () => {
        const opened = await open(stage);
        await Promise.all(opened.map((socket) => socket.settle(5_000)));
        return opened;
      });
      findings.note(`${sockets.length} sockets: ${sumCounts(sockets)}`);
    },
  };
}

/** Opens sockets that resume `subscriptionsEach` subscriptions each, because a resume is not charged to the rate. */
function resumingSockets(
  { arena, server, cursor }: Stage,
  count: number,
  subscription: (index: number) => { query: string; variables?: Record<string, unknown> },
): Promise<readonly LiveSocket[]> {
  const open = async () => {
    const sockets = await openCrowd(arena, server, count, () => ({ params: resuming(subscriptionsEach, cursor) }));
    let index = 0;
    for (const socket of sockets) {
      const messages = Array.from({ length: subscriptionsEach }, (_, nth) => {
        index += 1;
        return { type: 'subscribe', id: `s${nth}`, payload: subscription(index) };
      });
      socket.send(...messages);
      if (index % 1_000 === 0) await socket.settle(5_000);
    }
    return sockets;
  };
  return open();
}

const largeVariables = standing('large-variables', 'Resumed subscriptions with variables of 250 kB', (stage) =>
  resumingSockets(stage, 3, (index) => ({
    query: withVariable(stage.room),
    variables: { x: `${index}${almostFrame}` },
  })),
);

const manySubscriptions = standing(
  'many-subscriptions',
  '10,000 resumed subscriptions with 4,000 characters of variables each',
  (stage) =>
    resumingSockets(stage, 100, (index) => ({
      query: withVariable(stage.room),
      variables: { x: `${index}${'x'.repeat(3_900)}` },
    })),
);

const unusedVariables = standing(
  'unused-variables',
  'Resumed subscriptions with 250 kB of variables that their documents do not declare',
  (stage) =>
    resumingSockets(stage, 4, (index) => ({
      query: withVariable(stage.room),
      variables: { x: String(index), other: `${index}${almostFrame}` },
    })),
);

const largeDocuments = standing('large-documents', 'Resumed subscriptions with documents of 95 kB', (stage) =>
  resumingSockets(stage, 10, (index) => ({
    query: `subscription S${index} { roomEvents(room: "${stage.room}") { __typename } } #${'x'.repeat(95_000)}`,
  })),
);

const largeIds = standing(
  'large-operation-ids',
  'Subscriptions with ids of 250 kB',
  async ({ arena, server, room }) => {
    const people = await Promise.all([0, 1, 2].map((index) => signUp(arena.caller(server, `127.0.8.${index + 1}`))));
    const sockets = await openCrowd(arena, server, people.length, (index) => ({
      params: { authorization: `Bearer ${people[index]?.token}` },
    }));
    for (const [nth, socket] of sockets.entries()) {
      for (let index = 0; index < 95; index += 1) socket.subscribe(`${nth} ${index} ${almostFrame}`, titlesOf(room));
    }
    return sockets;
  },
);

const seenEntries = standing('seen-entries', 'Sockets with 26,000 entries in live.seen', ({ arena, server }) => {
  const seen = Object.fromEntries(Array.from({ length: 21_000 }, (_, index) => [`s${index}`, '']));
  return openCrowd(arena, server, 60, () => ({ params: { live: { seen } } }));
});

const seenValues = standing('seen-long-entries', 'Sockets with an entry of 250 kB in live.seen', ({ arena, server }) =>
  openCrowd(arena, server, 400, (index) => ({ params: { live: { seen: { s: `${index}${almostFrame}` } } } })),
);

const connectionParams = standing(
  'connection-params',
  'Sockets with 250 kB of other connectionParams',
  ({ arena, server }) => openCrowd(arena, server, 400, (index) => ({ params: { anything: `${index}${almostFrame}` } })),
);

const idleSockets = standing('idle-sockets', '1,000 idle sockets', ({ arena, server }) =>
  openCrowd(arena, server, 1_000),
);

const halfSentMessages = standing('half-sent-messages', 'Incomplete WebSocket messages', async ({ arena, server }) => {
  const sockets = await openCrowd(arena, server, 500);
  const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 3, 0xff, 0xff, 0, 0, 0, 0]);
  const part = Buffer.concat([head, Buffer.alloc(250_000, 'x')]);
  for (const { webSocket, rawSocket } of sockets) if (webSocket.readyState === webSocket.OPEN) rawSocket.write(part);
  await sleep(3_000);
  return sockets;
});

const unreadPongs = standing('unread-pongs', 'Unread pongs', async ({ arena, server }) => {
  const sockets = await openCrowd(arena, server, 60);
  const end = performance.now() + 12_000;
  for (let round = 0; round < 25 && performance.now() < end; round += 1) {
    for (const [index, socket] of sockets.entries()) {
      if (round === 0) socket.rawSocket.pause();
      // Limits the memory of the attacking process.
      if (socket.rawSocket.writableLength < 500_000) {
        socket.send({ type: 'ping', payload: { text: `${index} ${round}${almostFrame}` } });
      }
    }
    await sleep(100);
  }
  // A paused socket cannot be settled.
  return sockets.filter(({ webSocket }) => webSocket.readyState !== webSocket.OPEN);
});

const halfSentBodies: Attack = {
  name: 'half-sent-bodies',
  promise: 'Incomplete request bodies from one address retain at most 64 MB.',
  async run(arena, findings) {
    const { server } = await prepare(arena);
    await arena.measure(server, async () => {
      const connections = Array.from({ length: 900 }, () => {
        const connection = connect(server.port, '127.0.0.1').on('error', () => {});
        connection
          .resume()
          .write(
            `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 990000\r\n\r\n`,
          );
        connection.write(Buffer.alloc(980_000, ' '));
        return connection;
      });
      arena.onEnd(() => {
        for (const connection of connections) connection.destroy();
      });
      await sleep(6_000);
      findings.note(`${connections.filter(({ closed }) => !closed).length} of 900 connections are still open`);
    });
  },
};

export const retainedAttacks: readonly Attack[] = [
  largeVariables,
  manySubscriptions,
  unusedVariables,
  largeDocuments,
  largeIds,
  seenEntries,
  seenValues,
  connectionParams,
  idleSockets,
  halfSentMessages,
  unreadPongs,
  halfSentBodies,
];
