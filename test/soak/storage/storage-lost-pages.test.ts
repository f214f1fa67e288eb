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
  const start = () => launchProcessForTest(settings, program, 'strace');
  const postroom = await start();
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
  /** Starts the server again, without faults, on the files that it has left. The reader then ends. */
  const expectNothingLost = async (reader?: DatabaseSync) => {
    const next = await launchProcessForTest(settings);
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
  return { postroom, database, trace, send, erase, acknowledged, exit, start, expectNothingLost };
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
    let waiting: Promise<number | typeof isLate>;
    do {
      length = statSync(log).size;
      waiting = send(body);
    } while ((await Promise.race([waiting, wait(1_000, isLate)])) !== isLate);
    forgetPages(log, length);
    if (isStopped) postroom.process.kill('SIGTERM');
    expect(await waiting).toBe(294);
    expect(await exit).toBe('SIGKILL');
    expect(JSON.stringify(postroom.log.at(-1))).toContain('are lost: the process ends');
    expect((await expectNothingLost(reader)).size).toBe(acknowledged.length);
  },
);

it.skipIf(!hasStrace).each([
  { what: 'a checkpoint', isErasure: false, isOfOther: false },
  { what: 'an erasure', isErasure: true, isOfOther: false },
  { what: 'another program', isErasure: true, isOfOther: true },
])(
  'if the part of the log that $what has copied cannot be flushed, the process ends, and the next start has all acknowledged posts, also if the system forgets the part (strace)',
  async ({ isErasure, isOfOther }) => {
    const { postroom, database, send, erase, exit, expectNothingLost } = await launchWithFaults({
      fault: 'fsync:error=EIO:when=1',
      isOfDatabase: true,
    });
    for (let count = 0; count < 3; count += 1) expect(await send(longBody)).toBe(200);
    const beforeCopy = `${database}.before`;
    copyFileSync(database, beforeCopy);
    const reader = openReader(database);
    expect(await send('kept')).toBe(200);
    if (isOfOther) withDatabase(database, (other) => other.exec('pragma wal_checkpoint(passive)'));
    let hasEnded = false;
    void exit.then(() => {
      hasEnded = true;
    });
    const write = async () => {
      while (!hasEnded) await send(longBody).catch(() => {});
    };
    await (isErasure ? erase() : write());
    expect(await exit).toBe('SIGKILL');
    expect(JSON.stringify(postroom.log.at(-1))).toContain('EIO: i/o error, fsync: the process ends');
    // In another process: closing the file in this one would release the locks of the reader.
    expect(spawnSync('cp', [beforeCopy, database]).status).toBe(0);
    await expectNothingLost(reader);
  },
);

it.skipIf(!hasStrace)(
  'if the part of the log that a start has copied cannot be flushed, the start fails, and the next one has all acknowledged posts, also if the system forgets the part (strace)',
  async () => {
    const { postroom, database, send, exit, start, expectNothingLost } = await launchWithFaults({
      fault: 'fsync:error=EIO:when=1',
      isOfDatabase: true,
    });
    for (let count = 0; count < 3; count += 1) expect(await send(longBody)).toBe(200);
    const reader = openReader(database);
    expect(await send('kept')).toBe(200);
    await postroom.kill();
    await exit;
    const beforeCopy = `${database}.before`;
    spawnSync('cp', [database, beforeCopy]);
    await expect(start()).rejects.toThrow('EIO: i/o error, fsync: the process ends');
    expect(spawnSync('cp', [beforeCopy, database]).status).toBe(0);
    await expectNothingLost(reader);
  },
);

it.skipIf(!hasStrace)(
  'the server reports a failed checkpoint, recovers, and does not end when a later one copies a part of the log (strace)',
  async () => {
    // The first flush in each thread.
    const { postroom, database, trace, send, erase, exit, expectNothingLost } = await launchWithFaults({
      fault: 'fsync:error=EIO:when=1',
      isOfDatabase: true,
    });
    expect(await send('kept')).toBe(200);
    // Copies the whole log.
    await erase();
    await expect
      .poll(() => postroom.log)
      .toMatchObject([{ level: 50, reason: expect.stringContaining('SQLITE_IOERR') }]);
    await expect.poll(() => send('kept')).toBe(200);
    const reader = openReader(database);
    for (let count = 0; count < 40; count += 1) expect(await send(longBody)).toBe(200);
    await postroom.kill();
    await exit;
    await expectNothingLost(reader);
    const isFlush = (call: DiskCall) => call.type === 'flush' || call.type === 'failed flush';
    const [failure, drain, checkpoint] = (await readTrace(trace)).filter(isFlush);
    // The system reports the failed write to each descriptor: the server flushes its own one before the next checkpoint.
    expect([failure?.type, drain?.type, checkpoint?.type]).toEqual(['failed flush', 'flush', 'flush']);
    expect(checkpoint).toMatchObject({ descriptor: (failure as { descriptor: number }).descriptor });
    expect(drain).not.toMatchObject({ descriptor: (failure as { descriptor: number }).descriptor });
  },
);

it.skipIf(!hasStrace)(
  'after a failed flush posts are accepted again, also while another program reads the database (strace)',
  async () => {
    const { postroom, database, send, exit, expectNothingLost } = await launchWithFaults({
      fault: 'fdatasync:error=EIO:when=20',
    });
    const reader = openReader(database);
    let status: number;
    do status = await send('kept');
    while (status === 200);
    expect(status).toBe(294);
    await expect.poll(() => send('kept')).toBe(200);
    for (let count = 0; count < 40; count += 1) expect(await send(longBody)).toBe(200);
    await postroom.kill();
    await exit;
    await expectNothingLost(reader);
  },
);
