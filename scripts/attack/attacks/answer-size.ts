import { connect, type Socket } from 'node:net';
import { copyArchive } from '../archive.ts';
import type { Arena } from '../arena.ts';
import type { Attack } from '../attack.ts';
import type { Caller } from '../caller.ts';
import { openCrowd, resuming } from '../crowd.ts';
import { sumCounts } from '../live-socket.ts';
import { createPost, type Person, signUp } from '../people.ts';
import type { Server } from '../server.ts';
import { sleep } from '../waiting.ts';

/* Each post has 80 kB, so a list of 100 posts is an answer of 8 MB. */

const maxAnswerBytes = 11_000_000;
const largePage = '{ posts(limit: 100) { data { body } } }';

interface Stage {
  server: Server;
  caller: Caller;
  ada: Person;
  room: string;
  cursor: string;
}

async function prepare(arena: Arena): Promise<Stage> {
  const folder = arena.newFolder();
  copyArchive('bodies', folder);
  const server = await arena.start({ folder });
  const caller = arena.caller(server, '127.0.0.9', 20);
  const { room } = await caller.ask('{ room: roomByName(name: "archive") { id cursor } }');
  return { server, caller, ada: await signUp(caller), room: room.id, cursor: room.cursor };
}

const hugeAnswer: Attack = {
  name: 'huge-answer',
  archive: 'bodies',
  promise: 'An answer has at most 10 MB; a larger answer is refused with COST_LIMIT_EXCEEDED.',
  async run(arena, findings) {
    const { server, caller } = await prepare(arena);
    const fields = Array.from({ length: 30 }, (_, alias) => `a${alias}: posts(limit: 100) { data { body } }`);
    const reply = await arena.measure(server, () => caller.send(`{ ${fields.join(' ')} }`, {}, { timeoutMs: 40_000 }));
    findings.note(`${reply.status} ${reply.code ?? ''}, ${(reply.bytes / 1e6).toFixed(1)} MB`);
    findings.expect(reply.bytes <= maxAnswerBytes, `an answer of ${(reply.bytes / 1e6).toFixed(0)} MB`);
    findings.expect(reply.status !== 500, 'the status is 500');
  },
};

const cheapFields: Attack = {
  name: 'huge-answer-of-titles',
  archive: 'bodies',
  promise: 'An answer of many small fields has at most 10 MB.',
  async run(arena, findings) {
    const { server, caller } = await prepare(arena);
    const long = `${'x'.repeat(200)}${'y'.repeat(900)}`;
    const fields = Array.from({ length: 29 }, (_, alias) => `${long}${alias}: id`);
    const query = `{ posts(limit: 100) { data { author { posts(last: 45) { ${fields.join(' ')} title createdAt updatedAt } } } } }`;
    const reply = await arena.measure(server, () => caller.send(query, {}, { timeoutMs: 40_000 }));
    findings.note(`${reply.status} ${reply.code ?? ''}, ${(reply.bytes / 1e6).toFixed(1)} MB`);
    findings.expect(reply.bytes <= maxAnswerBytes, `an answer of ${(reply.bytes / 1e6).toFixed(0)} MB`);
  },
};

/** Sends several requests on each connection and does not read the answers. */
function unreadAnswers(name: string, how: string, accept: string): Attack {
  return {
    name,
    archive: 'bodies',
    promise: `Unread answers ${how} to one address retain at most 64 MB.`,
    async run(arena, findings) {
      const { server, caller } = await prepare(arena);
      const body = JSON.stringify({ query: largePage });
      const head = `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: ${accept}\r\nContent-Length: ${body.length}\r\n\r\n`;
      const connections = await arena.measure(server, async () => {
        const opened: Socket[] = [];
        for (let index = 0; index < 10; index += 1) {
          const connection = connect({ host: '127.0.0.1', port: server.port, localAddress: caller.address });
          arena.onEnd(() => connection.destroy());
          connection.on('error', () => {}).pause();
          connection.write(`${head}${body}`.repeat(6));
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
  const counts: Record<string, number> = {};
  for (const connection of connections) {
    connection.on('data', (bytes) => {
      for (const [, status = ''] of bytes.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3})/g)) {
        counts[status] = (counts[status] ?? 0) + 1;
      }
    });
    connection.resume();
  }
  await sleep(2_000);
  return Object.entries(counts)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ');
}

const unreadOnSockets: Attack = {
  name: 'unread-answers-websocket',
  archive: 'bodies',
  promise: 'Unread answers over WebSocket to one address retain at most 64 MB.',
  async run(arena, findings) {
    const { server } = await prepare(arena);
    await arena.measure(server, async () => {
      const sockets = await openCrowd(arena, server, 4);
      for (const socket of sockets) {
        socket.rawSocket.pause();
        for (let index = 0; index < 12; index += 1) socket.subscribe(`q${index}`, largePage);
      }
      await sleep(6_000);
      findings.note(`${sockets.filter(({ closeCode }) => closeCode === undefined).length} of 4 sockets are open`);
    });
  },
};

const largeEvents: Attack = {
  name: 'unread-large-events',
  archive: 'bodies',
  promise: 'Unread events of several megabytes to one address retain at most 64 MB.',
  async run(arena, findings) {
    const { server, caller, ada, room, cursor } = await prepare(arena);
    const query = `subscription ($n: Int) { roomEvents(room: "${room}") { room { posts(last: $n) { nodes { body } } } } }`;
    await arena.measure(server, async () => {
      const sockets = await openCrowd(arena, server, 20, () => ({ params: resuming(2, cursor) }));
      for (const [index, socket] of sockets.entries()) {
        socket.subscribe('s0', query, { n: 100 - index * 2 });
        socket.subscribe('s1', query, { n: 99 - index * 2 });
        await socket.settle();
        socket.rawSocket.pause();
      }
      for (const title of ['one', 'two']) {
        const options = { token: ada.token, timeoutMs: 10_000 };
        const reply = await caller.send(createPost, { input: { room, title } }, options).catch(() => undefined);
        findings.expect(reply !== undefined, 'a post is not answered within 10 s');
        await sleep(2_000);
      }
      findings.note(sumCounts(sockets));
    });
  },
};

export const answerSizeAttacks: readonly Attack[] = [
  hugeAnswer,
  cheapFields,
  unreadAnswers('unread-answers', 'over HTTP', 'application/json'),
  unreadAnswers('unread-answer-streams', 'as streams of one event', 'text/event-stream'),
  unreadOnSockets,
  largeEvents,
];
