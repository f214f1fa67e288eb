import { copyFileSync, rmSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { createPosts, createRoom, cursorOf, titles, titlesOf } from '../accounts.ts';
import type { Attack, Findings } from '../attack.ts';
import { EventStream } from '../event-stream.ts';
import type { Sandbox } from '../sandbox.ts';
import { type Setup, startWithRoom } from '../setup.ts';
import { sleep, until } from '../waiting.ts';
import type { WebSocketClient } from '../web-socket-client.ts';

/** The promise is two seconds; the margin is for a busy machine. */
const noticedWithinMs = 4_000;

interface HistorySetup extends Setup {
  /** A copy of the database after A5. */
  old: string;
  /** The cursor after A10. */
  cursor: string;
}

/** Creates a room with posts A1 to A10, and a copy of the database after A5. */
async function prepare(sandbox: Sandbox): Promise<HistorySetup> {
  const setup = await startWithRoom(sandbox);
  const { server, client, ada, room } = setup;
  await createPosts(client, ada, room, titles('A', 1, 5));
  const old = `${server.databaseFile}.old`;
  withDatabase(server.databaseFile, (database) => database.exec(`vacuum into '${old}'`));
  await createPosts(client, ada, room, titles('A', 6, 10));
  return { ...setup, old, cursor: await cursorOf(client, room) };
}

function withDatabase(file: string, work: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  try {
    work(database);
  } finally {
    database.close();
  }
}

/** Stops the server, replaces its database with the copy, and starts a new server. */
async function restore(sandbox: Sandbox, setup: HistorySetup): Promise<HistorySetup> {
  const { server, old } = setup;
  await server.stop();
  for (const suffix of ['-wal', '-shm']) rmSync(server.databaseFile + suffix, { force: true });
  copyFileSync(old, server.databaseFile);
  const restored = await sandbox.start({ folder: server.folder });
  return { ...setup, server: restored, client: sandbox.openClient(restored) };
}

/** Resumes in all three ways. Each must be refused with CURSOR_EXPIRED and the current cursor. */
async function expectExpired(
  sandbox: Sandbox,
  findings: Findings,
  { server, client, room, cursor }: Setup,
): Promise<void> {
  const plain = await sandbox.socket(server);
  const bySeen = await sandbox.socket(server, { params: { live: { seen: { s: cursor } } } });
  const [byArgument, byParams] = await Promise.all([
    plain.follow('s', titlesOf(room, cursor)),
    bySeen.follow('s', titlesOf(room)),
  ]);
  const stream = await EventStream.open(client, titlesOf(room), { 'last-event-id': cursor });
  await until(1_000, () => stream.error !== undefined);
  const receivedBy = (socket: WebSocketClient) => socket.dataOf('s').map(({ roomEvents }) => roomEvents.post?.title);
  for (const [way, code, received] of [
    ['after', byArgument, receivedBy(plain)],
    ['live.seen', byParams, receivedBy(bySeen)],
    ['Last-Event-ID', stream.error?.extensions.code ?? 'live', stream.results.length],
  ] as const) {
    findings.expect(code === 'CURSOR_EXPIRED', `resumed by ${way}: ${code}, received ${String(received) || 'nothing'}`);
  }
  const currentCursor = plain.errorOf('s')?.extensions.live?.cursor;
  if (byArgument === 'CURSOR_EXPIRED') {
    const again = await (await sandbox.socket(server)).follow('s', titlesOf(room, currentCursor));
    findings.expect(currentCursor !== undefined && again === 'live', `resumed with the cursor of the error: ${again}`);
  }
}

/** Restores the backup, creates the posts, and resumes after a cursor of the lost history. */
function restoredBackup(name: string, promise: string, posts: readonly string[]): Attack {
  return {
    name,
    promise,
    async run(sandbox, findings) {
      const setup = await restore(sandbox, await prepare(sandbox));
      await createPosts(setup.client, setup.ada, setup.room, posts);
      await expectExpired(sandbox, findings, setup);
    },
  };
}

/** Rewinds the database of a running server. `overtake` posts at once until the log is longer than before. */
function rewindWhileRunning(name: string, promise: string, overtake: boolean): Attack {
  return {
    name,
    promise,
    async run(sandbox, findings) {
      const { server, client, ada, room, old } = await prepare(sandbox);
      const socket = await sandbox.socket(server);
      await socket.follow('s', titlesOf(room));
      const stream = await EventStream.open(client, titlesOf(room));
      const source = new DatabaseSync(old);
      await backup(source, server.databaseFile);
      source.close();
      const posted = overtake ? titles('B', 6, 14) : titles('B', 6, 7);
      if (!overtake) await sleep(noticedWithinMs);
      await createPosts(client, ada, room, posted);
      const hasEnded = () => socket.errorOf('s') !== undefined && stream.error !== undefined;
      await until(noticedWithinMs, hasEnded);
      const received = socket.dataOf('s').map(({ roomEvents }) => roomEvents.post?.title);
      const codes = [socket.errorOf('s')?.extensions.code, stream.error?.extensions.code];
      findings.note(`${codes.join(' and ')}; received ${received.length} of ${posted.length} posts`);
      for (const [index, code] of codes.entries()) {
        const way = index === 0 ? 'WebSocket' : 'SSE';
        findings.expect(
          code === 'CURSOR_EXPIRED',
          `${way}: ${code ?? 'continues'}, received ${received.length} of ${posted.length} posts`,
        );
      }
    },
  };
}

const trimmedLog: Attack = {
  name: 'trimmed-log',
  promise: 'A cursor at the head of a room stays valid after its whole log was trimmed.',
  async run(sandbox, findings) {
    const setup = await prepare(sandbox);
    await setup.server.stop();
    withDatabase(setup.server.databaseFile, (database) => database.exec('delete from "roomEvents"'));
    const server = await sandbox.start({ folder: setup.server.folder });
    const client = sandbox.openClient(server);
    const socket = await sandbox.socket(server);
    const code = await socket.follow('s', titlesOf(setup.room, setup.cursor));
    await createPosts(client, setup.ada, setup.room, ['next']);
    const isDelivered = await until(3_000, () => socket.dataOf('s').length === 1);
    findings.expect(
      code === 'live' && isDelivered,
      `resumed at the head: ${code}, next event delivered: ${isDelivered}`,
    );
  },
};

const forgedCursors: Attack = {
  name: 'forged-cursors',
  promise: 'A cursor that the server never issued is CURSOR_INVALID or CURSOR_EXPIRED, and no event is delivered.',
  async run(sandbox, findings) {
    const { server, client, ada, room, cursor } = await prepare(sandbox);
    const other = await createRoom(client, ada, 'elsewhere');
    const [mark = '', seq = '', id = ''] = Buffer.from(cursor, 'base64url').toString().split('.');
    const encode = (...parts: (string | number)[]) => Buffer.from(parts.join('.')).toString('base64url');
    const flipped = (Number.parseInt(mark, 16) ^ 1).toString(16).padStart(8, '0');
    const forged: Record<string, string> = {
      'another mark': encode(flipped, seq, id),
      'a mark at another number': encode(mark, Number(seq) - 3, id),
      'a number far ahead': encode(mark, 999_999_999, id),
      'another room': encode(mark, seq, other),
      garbage: 'garbage',
    };
    const socket = await sandbox.socket(server);
    for (const [what, after] of Object.entries(forged)) {
      const code = await socket.follow(what, titlesOf(room, after));
      findings.expect(code.startsWith('CURSOR_'), `${what}: ${code}`);
    }
  },
};

export const historyAttacks: readonly Attack[] = [
  restoredBackup(
    'restored-backup',
    'After a restore from backup, a cursor of the lost history is CURSOR_EXPIRED and never skips an event.',
    titles('B', 6, 12),
  ),
  restoredBackup(
    'cursor-ahead',
    'A cursor ahead of the restored log is CURSOR_EXPIRED with the current cursor, with which a client can resume.',
    [],
  ),
  restoredBackup(
    'restored-same-length',
    'A cursor of the lost history is CURSOR_EXPIRED even when the new history has the same length.',
    titles('B', 6, 10),
  ),
  rewindWhileRunning(
    'rewind-while-running',
    'When the database of a running server is rewound, live streams end with CURSOR_EXPIRED within two seconds.',
    false,
  ),
  rewindWhileRunning(
    'rewind-and-overtake',
    'Live streams of a rewound room end with CURSOR_EXPIRED even when its log soon exceeds its old length.',
    true,
  ),
  trimmedLog,
  forgedCursors,
];
