import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, copyFileSync, mkdirSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { type DiskCall, hasStrace, readTrace, straceOf } from '../../support/database/disk-trace.ts';
import { launchProcessForTest, mainProgram, scratchFolder } from '../../support/server/postroom.ts';
import { withDatabase } from '../../support/server/shared-server.ts';

const createPost = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';
const deleteUser = 'mutation ($id: ID!) { deleteUser(input: { id: $id, deletePosts: true }) { user { id } } }';
/** It fills 20 pages of the log; 256 pages begin a checkpoint. The file gets longer, so its first page changes, too. */
const longBody = '🙂'.repeat(20_000);

/** What remains of pages that could not be written if the system removes them from its memory. */
function forgetPages(path: string, from: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(statSync(path).size - from), 0, undefined, from);
  closeSync(file);
}

/** Reads the database as another program does, until it is closed. */
function openReader(database: string): DatabaseSync {
  const reader = new DatabaseSync(database);
  onTestFinished(() => {
    if (reader.isOpen) reader.close();
  });
  reader.exec('begin; select count(*) from users');
  return reader;
}

function readCount(database: string): number {
  const [row] = withDatabase(database, (opened) => opened.prepare('select count(*) as "count" from "posts"').all());
  return Number(row?.['count']);
}

interface Faults {
  fault: string;
  /** Whether only calls for the database file count and fail. The server has created it before, and flushes it in checkpoints only. */
  isOfDatabase?: boolean;
}

/** A server with a room, whose calls fail. All of its waits for the disk, except those of checkpoints, share one thread. */
async function launchWithFaults({ fault, isOfDatabase = false }: Faults) {
  const scratch = scratchFolder();
  mkdirSync(join(scratch, 'data'));
  const database = join(scratch, 'data/postroom.db');
  const trace = join(scratch, 'trace');
  const settings = { DATABASE_URL: `sqlite:${database}`, UV_THREADPOOL_SIZE: '1' };
  if (isOfDatabase) await (await launchProcessForTest(settings)).stop();
  const faults = ['-e', `inject=${fault}`, ...(isOfDatabase ? ['-P', database] : [])];
  const program = straceOf(trace, [process.execPath, ...mainProgram], faults);
  const postroom = await launchProcessForTest(settings, program, 'strace');
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'lobby');
  const acknowledged: string[] = [];
  const send = async (body: string) => {
    const { status, data } = await postroom.send(createPost, { input: { room, title: 'kept', body } }, ada.token);
    if (status === 200) acknowledged.push(data.createPost.post.id);
    return status;
  };
  /** Truncates the write-ahead log. */
  const erase = async () => {
    const eve = await postroom.signUp('Eve');
    await postroom.ask(deleteUser, { id: eve.id }, eve.token).catch(() => {});
  };
  const exit = once(postroom.process, 'exit').then(([, signal]) => signal);
  const readPosts = () => {
    const [check, posts] = withDatabase(database, (opened) => [
      opened.prepare('pragma integrity_check').all(),
      opened.prepare('select "id" from "posts"').all(),
    ]);
    expect(check).toEqual([{ integrity_check: 'ok' }]);
    return new Set(posts?.map(({ id }) => id));
  };
  /** Starts the server again, without faults, on the files that it has left. */
  const restart = (...command: string[]) => {
    const [name, ...rest] = [...command, ...mainProgram];
    return launchProcessForTest(settings, rest, name);
  };
  /** The reader then ends. */
  const expectNothingLost = async (reader?: DatabaseSync) => {
    const next = await restart(process.execPath);
    const stored = readPosts();
    expect(acknowledged).not.toEqual([]);
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
    await next.createPost(ada, room, 'later');
    reader?.close();
    await next.stop();
    // Now the whole log is in the database file.
    const last = readPosts();
    expect(acknowledged.filter((id) => !last.has(id))).toEqual([]);
    return stored;
  };
  return { postroom, database, send, erase, acknowledged, exit, restart, expectNothingLost };
}

it.skipIf(!hasStrace).each([
  { what: 'a page', body: 'kept', isStopped: false, isRead: false },
  { what: 'the first page of the database', body: longBody, isStopped: false, isRead: false },
  { what: 'a page, and the server is stopped', body: 'kept', isStopped: true, isRead: false },
  { what: 'a page, while another program reads', body: 'kept', isStopped: false, isRead: true },
  {
    what: 'the first page of the database, while another program reads',
    body: longBody,
    isStopped: false,
    isRead: true,
  },
])(
  'if the system forgets $what after a failed flush, the process ends, and the next start has all acknowledged posts (strace)',
  async ({ body, isStopped, isRead }) => {
    // The flush of a post fails after 5 s.
    const fault = 'fdatasync:error=EIO:delay_enter=5000000:when=8';
    const { postroom, database, send, acknowledged, exit, expectNothingLost } = await launchWithFaults({ fault });
    const reader = isRead ? openReader(database) : undefined;
    const log = `${database}-wal`;
    const isLate = Symbol('a post waits for the disk');
    let length = 0;
    let waiting: Promise<number | typeof isLate | undefined>;
    do {
      length = statSync(log).size;
      waiting = send(body).catch(() => undefined);
    } while ((await Promise.race([waiting, wait(1_000, isLate)])) !== isLate);
    forgetPages(log, length);
    if (isStopped) postroom.process.kill('SIGTERM');
    expect(await waiting).toBeUndefined();
    expect(await exit).toBe('SIGKILL');
    expect(JSON.stringify(postroom.log.at(-1))).toContain('EIO: i/o error, fdatasync: the process ends');
    expect((await expectNothingLost(reader)).size).toBe(acknowledged.length);
  },
);

it.skipIf(!hasStrace)(
  'a start writes the log that a failed flush has left again and flushes it, before anything else is written, also while another program reads (strace)',
  async () => {
    const fault = 'fdatasync:error=EIO:when=8';
    const { postroom, database, send, exit, restart, expectNothingLost } = await launchWithFaults({ fault });
    const reader = openReader(database);
    while (postroom.process.signalCode === null) await send('kept').catch(() => {});
    expect(await exit).toBe('SIGKILL');
    // The reader recovers the log, too, and creates its index again.
    expect(readCount(database)).toBeGreaterThan(0);
    const { size } = statSync(`${database}-wal`);
    const trace = `${database}.trace`;
    const next = await restart('strace', ...straceOf(trace, [process.execPath]));
    await next.kill();
    const files = [database, `${database}-wal`];
    const calls = (await readTrace(trace)).filter((call) => 'file' in call && files.includes(call.file));
    const flush = calls.find((call) => call.type === 'flush') as DiskCall;
    const isEarly = (call: DiskCall) => call.begin < flush.end;
    const early = calls.filter((call) => call.type === 'write').filter(isEarly);
    for (const { end } of early) expect(end).toBeLessThan(flush.begin);
    const written = early.filter(({ file }) => file === `${database}-wal`).map(({ bytes }) => bytes.length);
    expect(written.reduce((sum, length) => sum + length, 0)).toBe(size);
    expect(early).toHaveLength(written.length);
    await expectNothingLost(reader);
  },
);

/** SQLite flushes the file itself if nobody reads. */
it.skipIf(!hasStrace).each([
  { what: 'the part of the log that a checkpoint has copied', isErasure: false, isRead: true, failing: 2 },
  { what: 'the part of the log that an erasure has copied', isErasure: true, isRead: true, failing: 2 },
  { what: 'the log that an erasure has copied', isErasure: true, isRead: false, failing: 2 },
  { what: 'the part of the log that another program has copied', isErasure: true, isRead: true, failing: 1 },
])(
  'if $what cannot be flushed, the process ends, and the next start has all acknowledged posts, also if the system forgets what was copied (strace)',
  async ({ isErasure, isRead, failing }) => {
    const { postroom, database, send, erase, exit, expectNothingLost } = await launchWithFaults({
      fault: `fsync:error=EIO:when=${failing}`,
      isOfDatabase: true,
    });
    for (let count = 0; count < 3; count += 1) expect(await send(longBody)).toBe(200);
    const beforeCopy = `${database}.before`;
    copyFileSync(database, beforeCopy);
    const reader = isRead ? openReader(database) : undefined;
    expect(await send('kept')).toBe(200);
    if (failing === 1) withDatabase(database, (other) => other.exec('pragma wal_checkpoint(passive)'));
    const write = async () => {
      while (postroom.process.signalCode === null) await send(longBody).catch(() => {});
    };
    await (isErasure ? erase() : write());
    expect(await exit).toBe('SIGKILL');
    expect(JSON.stringify(postroom.log.at(-1))).toContain(': the process ends');
    // In another process: closing the file in this one would release the locks of the reader.
    expect(spawnSync('cp', [beforeCopy, database]).status).toBe(0);
    await expectNothingLost(reader);
  },
);

it.skipIf(!hasStrace)(
  'if a start cannot flush the log, the process ends, and the next start has all acknowledged posts (strace)',
  async () => {
    const { postroom, database, send, exit, restart, expectNothingLost } = await launchWithFaults({
      fault: 'fsync:error=EIO:when=1000',
    });
    for (let count = 0; count < 3; count += 1) expect(await send(longBody)).toBe(200);
    await postroom.kill();
    await exit;
    const faults = ['-e', 'inject=fdatasync:error=EIO:when=1'];
    const failed = restart('strace', ...straceOf(`${database}.trace`, [process.execPath], faults));
    await expect(failed).rejects.toThrow('EIO: i/o error, fdatasync: the process ends');
    await expectNothingLost();
  },
);

it.skipIf(!hasStrace)(
  'a checkpoint that fails on a full disk refuses changes with 503, and is repeated until it succeeds (strace)',
  async () => {
    const { postroom, send, erase, exit, expectNothingLost } = await launchWithFaults({
      fault: 'pwrite64:error=ENOSPC:when=1..2',
      isOfDatabase: true,
    });
    expect(await send('kept')).toBe(200);
    // Copies the whole log.
    await erase();
    expect(await send('kept')).toBe(503);
    await expect.poll(() => send('kept'), { timeout: 20_000 }).toBe(200);
    expect(postroom.log).toMatchObject([
      { level: 50, reason: expect.stringContaining('SQLITE_FULL') },
      { level: 40, msg: 'the database can be written again' },
    ]);
    await postroom.kill();
    await exit;
    await expectNothingLost();
  },
);
