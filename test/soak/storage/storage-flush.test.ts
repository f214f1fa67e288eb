import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import {
  type DiskCall,
  findLogFlushes,
  findOverlapping,
  hasStrace,
  slowDisk,
  waitForFlush,
} from '../../support/database/disk-trace.ts';
import type { Postroom } from '../../support/server/postroom.ts';
import { type Trace, traceServer } from '../../support/server/traced-server.ts';

const connections = 32;
const postsOfConnection = 10;
/** Flushes of the disk for each post at 32 connections. */
const maxFlushes = 0.2;

/* The write-ahead log: https://www.sqlite.org/fileformat.html#the_write_ahead_log */
const frameHeaderBytes = 24;
/** SQLite writes a page of the database at most. */
const logWriteBytes = 4_096;
const commitOffset = 4;
const postId = /p01[0-9a-z]{24}/g;

const createPost = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';

type Write = Extract<DiskCall, { type: 'write' }>;

/** The place at which the commit of each post had been written. */
function findCommits(writes: readonly Write[]): Map<string, number> {
  const places = new Map<string, number>();
  const open = new Set<string>();
  let isLastFrame = false;
  for (const { bytes, end } of writes) {
    if (bytes.length === frameHeaderBytes) {
      isLastFrame = bytes.readUInt32BE(commitOffset) !== 0;
      continue;
    }
    for (const [id] of bytes.toString('latin1').matchAll(postId)) if (!places.has(id)) open.add(id);
    if (!isLastFrame) continue;
    for (const id of open) places.set(id, end);
    open.clear();
  }
  return places;
}

async function tracePosts(): Promise<Trace> {
  const work = async (postroom: Postroom) => {
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'lobby');
    const write = async () => {
      for (let count = 0; count < postsOfConnection; count += 1) await postroom.createPost(ada, room, 'kept');
    };
    await Promise.all(Array.from({ length: connections }, write));
  };
  return traceServer(work, { faults: slowDisk });
}

function isFlushOfDatabase(call: DiskCall): boolean {
  return call.type === 'flush' && call.file.endsWith('postroom.db');
}

interface Acknowledged {
  committedAt: number;
  acknowledgedAt: number;
  /** The first flush that began after the commit and ended before the acknowledgement. */
  flush: DiskCall | undefined;
}

function findAcknowledged({ folder, calls, acknowledged }: Trace): Acknowledged[] {
  const ofLog = calls.filter((call) => 'file' in call && call.file === join(folder, 'postroom.db-wal'));
  const commits = findCommits(ofLog.filter((call): call is Write => call.type === 'write'));
  return [...acknowledged].map(([id, acknowledgedAt]) => {
    const committedAt = commits.get(id) ?? Number.POSITIVE_INFINITY;
    const fits = ({ type, begin, end }: DiskCall) => type === 'flush' && begin > committedAt && end < acknowledgedAt;
    return { committedAt, acknowledgedAt, flush: ofLog.find(fits) };
  });
}

it.skipIf(!hasStrace)(
  'a post is acknowledged after a flush of the disk that began after its commit; posts that wait share flushes (strace)',
  async () => {
    const trace = await tracePosts();
    const posts = findAcknowledged(trace);
    expect(posts).toHaveLength(connections * postsOfConnection);
    for (const { committedAt, flush } of posts) expect(flush, `committed at ${committedAt}`).toBeDefined();
    const flushes = new Set(posts.map(({ flush }) => flush));
    expect(flushes.size / posts.length).toBeLessThanOrEqual(maxFlushes);
    // The disk is slow, so groups commit while it flushes the posts of others.
    const isDuring = (place: number) => (flush?: DiskCall) => flush && flush.begin < place && place < flush.end;
    const early = posts.filter(({ committedAt }) => [...flushes].some(isDuring(committedAt)));
    expect(early).not.toEqual([]);
    // Two flushes run at the same time, and posts are acknowledged in the order of their commits.
    const all = findLogFlushes(trace.calls);
    expect(findOverlapping(all)).not.toEqual([]);
    for (const { descriptor, begin, end } of all) {
      expect(all.some((other) => other.descriptor === descriptor && begin < other.begin && other.begin < end)).toBe(
        false,
      );
    }
    for (const { acknowledgedAt, flush } of posts) {
      const earlier = all.filter(({ begin }) => flush && begin < flush.begin);
      expect(earlier.every(({ end }) => end < acknowledgedAt)).toBe(true);
    }
  },
);

it.skipIf(!hasStrace)(
  'a change whose flush fails is not answered with 503, and nothing is acknowledged before a checkpoint, also if a later flush succeeds earlier (strace)',
  async () => {
    // The 40th flush of each of two threads. Flushes of the other thread end meanwhile.
    const faults = ['-e', 'inject=fdatasync:error=EIO:delay_enter=20000:when=40'];
    const statuses: number[] = [];
    const trace = await traceServer(
      async (postroom) => {
        const ada = await postroom.signUp('Ada');
        const room = await postroom.createRoom(ada, 'lobby');
        const write = async () => {
          const input = { room, title: 'kept' };
          statuses.push((await postroom.send(createPost, { input }, ada.token)).status);
        };
        // A hash keeps one thread busy, so that the threads do not come to the failure at the same time.
        const hashing = postroom.signUp('Eve');
        for (let count = 0; count < 10; count += 1) await write();
        await hashing;
        const writes = [];
        while (!statuses.includes(294)) {
          writes.push(write());
          // Posts are also written while earlier ones wait for the disk.
          await postroom.ask('{ __typename }');
        }
        await Promise.all(writes);
        await expect.poll(() => write().then(() => statuses.at(-1))).toBe(200);
      },
      { faults, settings: { UV_THREADPOOL_SIZE: '2' } },
    );
    expect(statuses.filter((status) => ![200, 294, 503].includes(status))).toEqual([]);
    const logFlushes = findLogFlushes(trace.calls);
    const failures = logFlushes.filter(({ type }) => type === 'failed flush');
    const findCheckpointEnd = (failure: DiskCall) => {
      const checkpoint = trace.calls.find((call) => isFlushOfDatabase(call) && call.begin > failure.end);
      return checkpoint?.end ?? Number.POSITIVE_INFINITY;
    };
    const posts = findAcknowledged(trace);
    for (const failure of failures) {
      const isDoubtful = ({ committedAt, flush }: Acknowledged) =>
        committedAt < findCheckpointEnd(failure) && (flush?.begin ?? Number.POSITIVE_INFINITY) > failure.begin;
      expect(posts.filter(isDoubtful)).toEqual([]);
    }
    const isDuringFailure = ({ type, begin, end }: DiskCall) =>
      type === 'flush' && failures.some((failure) => failure.begin < begin && end < failure.end);
    expect(logFlushes.filter(isDuringFailure)).not.toEqual([]);
    // The system may report the failed write to the other descriptor, too: both are flushed before the log is written again.
    const [failure] = failures as [DiskCall];
    const isRewrite = (call: DiskCall) => call.type === 'write' && call.bytes.length > logWriteBytes;
    const rewrite = trace.calls.find((call) => isRewrite(call) && call.begin > failure.end) as DiskCall;
    const drained = logFlushes.filter(({ begin, end }) => failure.end < begin && end < rewrite.begin);
    expect(new Set(drained.map(({ descriptor }) => descriptor)).size).toBe(2);
    const checkpoint = trace.calls.find((call) => isFlushOfDatabase(call) && call.begin > rewrite.end) as DiskCall;
    const isBetween = ({ type, begin, end }: DiskCall) =>
      type === 'flush' && rewrite.end < begin && end < checkpoint.begin;
    expect(logFlushes.filter(isBetween)).not.toEqual([]);
  },
);

it.skipIf(!hasStrace)(
  'while a flush takes seconds, later changes are refused with 503 and not stored (strace)',
  async () => {
    const faults = ['-e', 'inject=fdatasync:delay_enter=8000000:when=20'];
    const isLate = Symbol('a post waits for the disk');
    await traceServer(
      async (postroom) => {
        const ada = await postroom.signUp('Ada');
        const room = await postroom.createRoom(ada, 'lobby');
        const send = (title: string) => postroom.send(createPost, { input: { room, title } }, ada.token);
        let waiting = send('stored');
        while ((await Promise.race([waiting, wait(1_000, isLate)])) !== isLate) waiting = send('stored');
        const refused = await Promise.all([send('refused'), send('refused')]);
        expect(refused.map(({ status }) => status)).toEqual([503, 503]);
        expect((await waiting).status).toBe(200);
        expect((await send('stored')).status).toBe(200);
        const query = 'query ($room: ID!) { room(id: $room) { posts(last: 100) { nodes { title } } } }';
        const { nodes } = (await postroom.ask(query, { room })).room.posts;
        expect(nodes.map(({ title }: { title: string }) => title)).not.toContain('refused');
      },
      { faults, settings: { UV_THREADPOOL_SIZE: '1' } },
    );
  },
);

/** It fills 20 pages of the log: 13 of them begin a checkpoint. */
const longBody = '🙂'.repeat(20_000);

it.skipIf(!hasStrace)('posts are written while a checkpoint flushes the database file (strace)', async () => {
  // Commits are flushed by fdatasync.
  const faults = ['-e', 'inject=fsync:delay_enter=1000000'];
  // The start of the server flushes it, too.
  const findCheckpoint = (calls: readonly DiskCall[]) => {
    const firstPost = calls.findIndex((call) => call.type === 'send' && call.text.includes('"createPost"'));
    return firstPost === -1 ? undefined : calls.slice(firstPost).find(isFlushOfDatabase);
  };
  const trace = await traceServer(
    async (postroom, { database, trace }) => {
      const ada = await postroom.signUp('Ada');
      const room = await postroom.createRoom(ada, 'lobby');
      let isFlushing = false;
      const write = async () => {
        for (let count = 0; count < 10; count += 1) await postroom.createPost(ada, room, 'long', longBody);
        while (!isFlushing) await postroom.createPost(ada, room, 'short');
        for (let count = 0; count < 10; count += 1) await postroom.createPost(ada, room, 'short');
      };
      const checkpoint = waitForFlush(trace, database).then(() => {
        isFlushing = true;
      });
      await Promise.all([checkpoint, write(), write(), write(), write()]);
    },
    { faults },
  );
  const { begin, end } = findCheckpoint(trace.calls) as DiskCall;
  const isDuring = ({ committedAt }: Acknowledged) => committedAt > begin && committedAt < end;
  expect(findAcknowledged(trace).filter(isDuring)).not.toEqual([]);
});
