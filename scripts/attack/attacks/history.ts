import { copyFileSync, rmSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import type { Arena } from '../arena.ts';
import type { Attack, Findings } from '../attack.ts';
import type { Caller } from '../caller.ts';
import { EventStream } from '../event-stream.ts';
import type { LiveSocket } from '../live-socket.ts';
import { createRoom, cursorOf, type Person, post, signUp, titles, titlesOf } from '../people.ts';
import type { Server } from '../server.ts';
import { sleep, until } from '../waiting.ts';

/** The promise is two seconds; the margin is for a busy machine. */
const noticedWithinMs = 4_000;

interface Stage {
  server: Server;
  caller: Caller;
  ada: Person;
  room: string;
  /** A copy of the database after A5. */
  old: string;
  /** The cursor after A10. */
  cursor: string;
}

/** Creates a room with posts A1 to A10, and a copy of the database after A5. */
async function prepare(arena: Arena): Promise<Stage> {
  const server = await arena.start();
  const caller = arena.caller(server);
  const ada = await signUp(caller);
  const room = await createRoom(caller, ada);
  await post(caller, ada, room, titles('A', 1, 5));
  const old = `${server.databaseFile}.old`;
  withDatabase(server.databaseFile, (database) => database.exec(`vacuum into '${old}'`));
  await post(caller, ada, room, titles('A', 6, 10));
  return { server, caller, ada, room, old, cursor: await cursorOf(caller, room) };
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
async function restore(arena: Arena, stage: Stage): Promise<Stage> {
  const { server, old } = stage;
  await server.stop();
  for (const suffix of ['-wal', '-shm']) rmSync(server.databaseFile + suffix, { force: true });
  copyFileSync(old, server.databaseFile);
  const restored = await arena.start({ folder: server.folder });
  return { ...stage, server: restored, caller: arena.caller(restored) };
}

/** Resumes in all three ways. Each must be refused with CURSOR_EXPIRED and the current cursor. */
async function expectExpired(arena: Arena, findings: Findings, { server, caller, room, cursor }: Stage): Promise<void> {
  const plain = await arena.socket(server);
  const bySeen = await arena.socket(server, { params: { live: { seen: { s: cursor } } } });
  const [byArgument, byParams] = await Promise.all([
    plain.follow('s', titlesOf(room, cursor)),
    bySeen.follow('s', titlesOf(room)),
  ]);
  const stream = await EventStream.open(caller, titlesOf(room), { 'last-event-id': cursor });
  await until(1_000, () => stream.error !== undefined);
  const seen = (socket: LiveSocket) => socket.nexts('s').map(({ roomEvents }) => roomEvents.post?.title);
  for (const [way, code, received] of [
    ['after', byArgument, seen(plain)],
    ['live.seen', byParams, seen(bySeen)],
    ['Last-Event-ID', stream.error?.extensions.code ?? 'live', stream.results.length],
  ] as const) {
    findings.expect(code === 'CURSOR_EXPIRED', `resumed by ${way}: ${code}, received ${String(received) || 'nothing'}`);
  }
  const present = plain.errorOf('s')?.extensions.live?.cursor;
  if (byArgument === 'CURSOR_EXPIRED') {
    const again = await (await arena.socket(server)).follow('s', titlesOf(room, present));
    findings.expect(present !== undefined && again === 'live', `resumed with the cursor of the error: ${again}`);
  }
}

const restoredBackup: Attack = {
  name: 'restored-backup',
  promise: 'After a restore from backup, a cursor of the lost history is CURSOR_EXPIRED and never skips an event.',
  async run(arena, findings) {
    const stage = await restore(arena, await prepare(arena));
    await post(stage.caller, stage.ada, stage.room, titles('B', 6, 12));
    await expectExpired(arena, findings, stage);
  },
};

const cursorAhead: Attack = {
  name: 'cursor-ahead',
  promise:
    'A cursor ahead of the restored log is CURSOR_EXPIRED with the current cursor, with which a client can resume.',
  async run(arena, findings) {
    await expectExpired(arena, findings, await restore(arena, await prepare(arena)));
  },
};

const restoredTwice: Attack = {
  name: 'restored-same-length',
  promise: 'A cursor of the lost history is CURSOR_EXPIRED even when the new history has the same length.',
  async run(arena, findings) {
    const stage = await restore(arena, await prepare(arena));
    await post(stage.caller, stage.ada, stage.room, titles('B', 6, 10));
    await expectExpired(arena, findings, stage);
  },
};

/** Rewinds the database of a running server. `overtake` posts at once until the log is longer than before. */
function rewindWhileRunning(name: string, promise: string, overtake: boolean): Attack {
  return {
    name,
    promise,
    async run(arena, findings) {
      const { server, caller, ada, room, old } = await prepare(arena);
      const socket = await arena.socket(server);
      await socket.follow('s', titlesOf(room));
      const stream = await EventStream.open(caller, titlesOf(room));
      const source = new DatabaseSync(old);
      await backup(source, server.databaseFile);
      source.close();
      const posted = overtake ? titles('B', 6, 14) : titles('B', 6, 7);
      if (!overtake) await sleep(noticedWithinMs);
      await post(caller, ada, room, posted);
      const hasEnded = () => socket.errorOf('s') !== undefined && stream.error !== undefined;
      await until(noticedWithinMs, hasEnded);
      const received = socket.nexts('s').map(({ roomEvents }) => roomEvents.post?.title);
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
  async run(arena, findings) {
    const stage = await prepare(arena);
    await stage.server.stop();
    withDatabase(stage.server.databaseFile, (database) => database.exec('delete from "roomEvents"'));
    const server = await arena.start({ folder: stage.server.folder });
    const caller = arena.caller(server);
    const socket = await arena.socket(server);
    const code = await socket.follow('s', titlesOf(stage.room, stage.cursor));
    await post(caller, stage.ada, stage.room, ['next']);
    const isDelivered = await until(3_000, () => socket.nexts('s').length === 1);
    findings.expect(
      code === 'live' && isDelivered,
      `resumed at the head: ${code}, next event delivered: ${isDelivered}`,
    );
  },
};

const forgedCursors: Attack = {
  name: 'forged-cursors',
  promise: 'A cursor that the server never issued is CURSOR_INVALID or CURSOR_EXPIRED, and no event is delivered.',
  async run(arena, findings) {
    const { server, caller, ada, room, cursor } = await prepare(arena);
    const other = await createRoom(caller, ada, 'elsewhere');
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
    const socket = await arena.socket(server);
    for (const [what, after] of Object.entries(forged)) {
      const code = await socket.follow(what, titlesOf(room, after));
      findings.expect(code.startsWith('CURSOR_'), `${what}: ${code}`);
    }
  },
};

export const historyAttacks: readonly Attack[] = [
  restoredBackup,
  cursorAhead,
  restoredTwice,
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
