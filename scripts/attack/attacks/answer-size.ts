import { connect, type Socket } from 'node:net';
import { createPostMutation } from '../accounts.ts';
import type { Attack } from '../attack.ts';
import { formatCounts } from '../counts.ts';
import { openSockets, resumeParams } from '../open-sockets.ts';
import type { Sandbox } from '../sandbox.ts';
import type { Server } from '../server.ts';
import { startWithArchive } from '../setup.ts';
import { sleep } from '../waiting.ts';
import { sumCounts } from '../web-socket-client.ts';

/* Each post has 80 kB, so a list of 100 posts is an answer of 8 MB. */

const maxAnswerBytes = 11_000_000;
const largePage = '{ posts(limit: 100) { data { body } } }';

/** Sends a query whose complete answer would be larger than the limit. */
function oversizedAnswer(name: string, promise: string, query: string): Attack {
  return {
    name,
    archive: 'bodies',
    promise,
    async run(sandbox, findings) {
      const { server, client } = await startWithArchive(sandbox, 'bodies');
      const reply = await sandbox.measure(server, () => client.send(query, {}, { timeoutMs: 40_000 }));
      findings.note(`${reply.status} ${reply.code ?? ''}, ${(reply.bytes / 1e6).toFixed(1)} MB`);
      findings.expect(reply.bytes <= maxAnswerBytes, `an answer of ${(reply.bytes / 1e6).toFixed(0)} MB`);
      findings.expect(reply.status !== 500, 'the status is 500');
    },
  };
}

/** Selects the same field many times with different aliases. */
function repeatField(count: number, field: (alias: number) => string): string {
  return Array.from({ length: count }, (_, alias) => field(alias)).join(' ');
}

const largePages = `{ ${repeatField(30, (alias) => `a${alias}: posts(limit: 100) { data { body } }`)} }`;
const longAlias = `${'x'.repeat(200)}${'y'.repeat(900)}`;
const smallFields = `{ posts(limit: 100) { data { author { posts(last: 45) { ${repeatField(29, (alias) => `${longAlias}${alias}: id`)} title createdAt updatedAt } } } } }`;

function requestOf(query: string, accept: string): string {
  const body = JSON.stringify({ query });
  return `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: ${accept}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** A connection that reads nothing until it is resumed. */
function openUnread(sandbox: Sandbox, { port }: Server, localAddress: string): Socket {
  const connection = connect({ host: '127.0.0.1', port, localAddress });
  sandbox.onEnd(() => connection.destroy());
  return connection.on('error', () => {}).pause();
}

/** Sends several requests on each connection and does not read the answers. */
function unreadAnswers(name: string, how: string, accept: string): Attack {
  return {
    name,
    archive: 'bodies',
    promise: `Unread answers ${how} to one address retain at most 64 MB.`,
    async run(sandbox, findings) {
      const { server, client } = await startWithArchive(sandbox, 'bodies');
      const connections = await sandbox.measure(server, async () => {
        const opened: Socket[] = [];
        for (let index = 0; index < 10; index += 1) {
          const connection = openUnread(sandbox, server, client.address);
          connection.write(requestOf(largePage, accept).repeat(6));
          opened.push(connection);
          await sleep(300);
        }
        await sleep(2_000);
        return opened;
      });
      findings.note(await readStatuses(connections));
    },
  };
}

/** Counts the statuses of the answers that arrive on these connections within two seconds. */
async function readStatuses(connections: readonly Socket[]): Promise<string> {
  const statuses: string[] = [];
  for (const connection of connections) {
    connection.on('data', (bytes) => {
      for (const [, status = ''] of bytes.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3})/g)) statuses.push(status);
    });
    connection.resume();
  }
  await sleep(2_000);
  return formatCounts(statuses);
}

const unreadOnSockets: Attack = {
  name: 'unread-answers-websocket',
  archive: 'bodies',
  promise: 'Unread answers over WebSocket to one address retain at most 64 MB.',
  async run(sandbox, findings) {
    const { server } = await startWithArchive(sandbox, 'bodies');
    await sandbox.measure(server, async () => {
      const sockets = await openSockets(sandbox, server, 4);
      for (const socket of sockets) {
        socket.rawSocket.pause();
        for (let index = 0; index < 12; index += 1) socket.subscribe(`q${index}`, largePage);
      }
      await sleep(6_000);
      findings.note(`${sockets.filter(({ closeCode }) => closeCode === undefined).length} of 4 sockets are open`);
    });
  },
};

const floodConnections = 100;
const floodQuestions = 5;
const floodMs = 8_000;
/** It covers the time in which V8 finds that little is allocated. */
const restMs = 32_000;
/** Of resident memory: for a container of 512 MB. */
const maxFloodMb = 450;
const maxRestMb = 300;

/** `open` asks on all connections, and returns a function that reads the answers. */
function flood(name: string, how: string, open: (sandbox: Sandbox, server: Server) => Promise<() => void>): Attack {
  return {
    name,
    archive: 'bodies',
    promise: `A flood of answers of 8 MB ${how} to one address takes at most ${maxFloodMb} MB of resident memory, and at most ${maxRestMb} MB ${restMs / 1_000} s later.`,
    async run(sandbox, findings) {
      const { server } = await startWithArchive(sandbox, 'bodies');
      const before = server.residentMb;
      const read = await sandbox.measure(server, async () => {
        const opened = await open(sandbox, server);
        await sleep(floodMs);
        return opened;
      });
      const { peakMb } = server;
      read();
      await sleep(restMs);
      const after = server.residentMb;
      const resident = `${before.toFixed(0)} MB before, ${peakMb.toFixed(0)} MB at most, ${after.toFixed(0)} MB later`;
      findings.note(`resident: ${resident}`);
      findings.expect(peakMb <= maxFloodMb && after <= maxRestMb, 'the resident memory is above its limits');
    },
  };
}

const floodOverHttp = flood('flood-of-answers', 'over HTTP', async (sandbox, server) => {
  const requests = requestOf(largePage, 'application/json').repeat(floodQuestions);
  const connections = Array.from({ length: floodConnections }, () => openUnread(sandbox, server, '127.0.0.1'));
  for (const connection of connections) connection.write(requests);
  return () => {
    for (const connection of connections) connection.resume();
  };
});

const floodOverSockets = flood('flood-of-answers-websocket', 'over WebSocket', async (sandbox, server) => {
  const sockets = await openSockets(sandbox, server, floodConnections);
  for (const { rawSocket } of sockets) rawSocket.pause();
  for (const socket of sockets) {
    for (let index = 0; index < floodQuestions; index += 1) socket.subscribe(`q${index}`, largePage);
  }
  return () => {
    for (const { rawSocket } of sockets) rawSocket.resume();
  };
});

const largeEvents: Attack = {
  name: 'unread-large-events',
  archive: 'bodies',
  promise: 'Unread events of several megabytes to one address retain at most 64 MB.',
  async run(sandbox, findings) {
    const { server, client, ada, room, cursor } = await startWithArchive(sandbox, 'bodies');
    const query = `subscription ($n: Int) { roomEvents(room: "${room}") { room { posts(last: $n) { nodes { body } } } } }`;
    await sandbox.measure(server, async () => {
      const sockets = await openSockets(sandbox, server, 20, () => ({ params: resumeParams(2, cursor) }));
      for (const [index, socket] of sockets.entries()) {
        socket.subscribe('s0', query, { n: 100 - index * 2 });
        socket.subscribe('s1', query, { n: 99 - index * 2 });
        await socket.waitForPong();
        socket.rawSocket.pause();
      }
      for (const title of ['one', 'two']) {
        const options = { token: ada.token, timeoutMs: 10_000 };
        const reply = await client.send(createPostMutation, { input: { room, title } }, options).catch(() => undefined);
        findings.expect(reply !== undefined, 'a post is not answered within 10 s');
        await sleep(2_000);
      }
      findings.note(sumCounts(sockets));
    });
  },
};

export const answerSizeAttacks: readonly Attack[] = [
  oversizedAnswer(
    'huge-answer',
    'An answer has at most 10 MB; a larger answer is refused with COST_LIMIT_EXCEEDED.',
    largePages,
  ),
  oversizedAnswer('huge-answer-of-titles', 'An answer of many small fields has at most 10 MB.', smallFields),
  unreadAnswers('unread-answers', 'over HTTP', 'application/json'),
  unreadAnswers('unread-answer-streams', 'as streams of one event', 'text/event-stream'),
  unreadOnSockets,
  floodOverHttp,
  floodOverSockets,
  largeEvents,
];
