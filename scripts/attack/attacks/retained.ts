import { connect } from 'node:net';
import { signUp, titlesOf } from '../accounts.ts';
import type { Attack } from '../attack.ts';
import { openSockets, resumeParams } from '../open-sockets.ts';
import type { Sandbox } from '../sandbox.ts';
import { type Setup, startWithRoom } from '../setup.ts';
import { sleep } from '../waiting.ts';
import { sumCounts, type WebSocketClient } from '../web-socket-client.ts';

/* The memory that the server retains for one address while the attacker is still connected. */

/** The maximum size of a frame is 262,144 bytes. */
const almostFrame = 'x'.repeat(250_000);
const subscriptionsEach = 100;
/** The variable is first read when an event is delivered. */
const withVariable = (room: string) =>
  `subscription ($x: String) { roomEvents(room: "${room}") { __typename room { posts(first: 1, after: $x) { nodes { id } } } } }`;

interface SandboxSetup extends Setup {
  sandbox: Sandbox;
}

/** An attack with sockets that stay open. `open` resolves when all messages are sent. */
function openSocketsAttack(
  name: string,
  what: string,
  open: (setup: SandboxSetup) => Promise<readonly WebSocketClient[]>,
): Attack {
  return {
    name,
    promise: `${what} from one address retain at most 64 MB.`,
    async run(sandbox, findings) {
      const setup = { sandbox, ...(await startWithRoom(sandbox)) };
      const sockets = await sandbox.measure(setup.server, async () => {
        const opened = await open(setup);
        await Promise.all(opened.map((socket) => socket.waitForPong(5_000)));
        return opened;
      });
      findings.note(`${sockets.length} sockets: ${sumCounts(sockets)}`);
    },
  };
}

/** Opens sockets that resume `subscriptionsEach` subscriptions each, because a resume is not charged to the rate. */
function resumingSockets(
  { sandbox, server, cursor }: SandboxSetup,
  count: number,
  subscription: (index: number) => { query: string; variables?: Record<string, unknown> },
): Promise<readonly WebSocketClient[]> {
  const open = async () => {
    const sockets = await openSockets(sandbox, server, count, () => ({
      params: resumeParams(subscriptionsEach, cursor),
    }));
    let index = 0;
    for (const socket of sockets) {
      const messages = Array.from({ length: subscriptionsEach }, (_, nth) => {
        index += 1;
        return { type: 'subscribe', id: `s${nth}`, payload: subscription(index) };
      });
      socket.send(...messages);
      if (index % 1_000 === 0) await socket.waitForPong(5_000);
    }
    return sockets;
  };
  return open();
}

const largeVariables = openSocketsAttack('large-variables', 'Resumed subscriptions with variables of 250 kB', (setup) =>
  resumingSockets(setup, 3, (index) => ({
    query: withVariable(setup.room),
    variables: { x: `${index}${almostFrame}` },
  })),
);

const manySubscriptions = openSocketsAttack(
  'many-subscriptions',
  '10,000 resumed subscriptions with 4,000 characters of variables each',
  (setup) =>
    resumingSockets(setup, 100, (index) => ({
      query: withVariable(setup.room),
      variables: { x: `${index}${'x'.repeat(3_900)}` },
    })),
);

const unusedVariables = openSocketsAttack(
  'unused-variables',
  'Resumed subscriptions with 250 kB of variables that their documents do not declare',
  (setup) =>
    resumingSockets(setup, 4, (index) => ({
      query: withVariable(setup.room),
      variables: { x: String(index), other: `${index}${almostFrame}` },
    })),
);

const largeDocuments = openSocketsAttack('large-documents', 'Resumed subscriptions with documents of 95 kB', (setup) =>
  resumingSockets(setup, 10, (index) => ({
    query: `subscription S${index} { roomEvents(room: "${setup.room}") { __typename } } #${'x'.repeat(95_000)}`,
  })),
);

const largeIds = openSocketsAttack(
  'large-operation-ids',
  'Subscriptions with ids of 250 kB',
  async ({ sandbox, server, room }) => {
    const people = await Promise.all(
      [0, 1, 2].map((index) => signUp(sandbox.openClient(server, `127.0.8.${index + 1}`))),
    );
    const sockets = await openSockets(sandbox, server, people.length, (index) => ({
      params: { authorization: `Bearer ${people[index]?.token}` },
    }));
    for (const [nth, socket] of sockets.entries()) {
      for (let index = 0; index < 95; index += 1) socket.subscribe(`${nth} ${index} ${almostFrame}`, titlesOf(room));
    }
    return sockets;
  },
);

const seenEntries = openSocketsAttack(
  'seen-entries',
  'Sockets with 26,000 entries in live.seen',
  ({ sandbox, server }) => {
    const seen = Object.fromEntries(Array.from({ length: 21_000 }, (_, index) => [`s${index}`, '']));
    return openSockets(sandbox, server, 60, () => ({ params: { live: { seen } } }));
  },
);

const seenValues = openSocketsAttack(
  'seen-long-entries',
  'Sockets with an entry of 250 kB in live.seen',
  ({ sandbox, server }) =>
    openSockets(sandbox, server, 400, (index) => ({ params: { live: { seen: { s: `${index}${almostFrame}` } } } })),
);

const connectionParams = openSocketsAttack(
  'connection-params',
  'Sockets with 250 kB of other connectionParams',
  ({ sandbox, server }) =>
    openSockets(sandbox, server, 400, (index) => ({ params: { anything: `${index}${almostFrame}` } })),
);

const idleSockets = openSocketsAttack('idle-sockets', '1,000 idle sockets', ({ sandbox, server }) =>
  openSockets(sandbox, server, 1_000),
);

const halfSentMessages = openSocketsAttack(
  'half-sent-messages',
  'Incomplete WebSocket messages',
  async ({ sandbox, server }) => {
    const sockets = await openSockets(sandbox, server, 500);
    const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 3, 0xff, 0xff, 0, 0, 0, 0]);
    const part = Buffer.concat([head, Buffer.alloc(250_000, 'x')]);
    for (const { webSocket, rawSocket } of sockets) if (webSocket.readyState === webSocket.OPEN) rawSocket.write(part);
    await sleep(3_000);
    return sockets;
  },
);

const unreadPongs = openSocketsAttack('unread-pongs', 'Unread pongs', async ({ sandbox, server }) => {
  const sockets = await openSockets(sandbox, server, 60);
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
  async run(sandbox, findings) {
    const server = await sandbox.start();
    await sandbox.measure(server, async () => {
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
      sandbox.onEnd(() => {
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
