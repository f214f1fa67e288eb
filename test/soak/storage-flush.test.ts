import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type DiskCall, hasStrace } from '../support/disk-trace.ts';
import { readLogSalt } from '../support/log-salt.ts';
import type { Postroom } from '../support/postroom.ts';
import { isPostgresTest } from '../support/test-database.ts';
import { type Trace, traceServer } from '../support/traced-server.ts';

const connections = 32;
const postsOfConnection = 10;
/** Flushes of the disk for each post at 32 connections. */
const maxFlushes = 0.2;

/* The write-ahead log: https://www.sqlite.org/fileformat.html#the_write_ahead_log */
const frameHeaderBytes = 24;
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

/** A flush takes 10 ms longer, as on a disk: the database of a test may be in memory. */
const slowDisk = ['-e', 'inject=fdatasync:delay_enter=10000'];

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

interface Acknowledged {
  committedAt: number;
  /** The first flush that began after the commit and ended before the acknowledgement. */
  flush: DiskCall | undefined;
}

function findAcknowledged({ folder, calls, acknowledged }: Trace): Acknowledged[] {
  const ofLog = calls.filter((call) => 'file' in call && call.file === join(folder, 'postroom.db-wal'));
  const commits = findCommits(ofLog.filter((call): call is Write => call.type === 'write'));
  return [...acknowledged].map(([id, acknowledgedAt]) => {
    const committedAt = commits.get(id) ?? Number.POSITIVE_INFINITY;
    const fits = ({ type, begin, end }: DiskCall) => type === 'flush' && begin > committedAt && end < acknowledgedAt;
    return { committedAt, flush: ofLog.find(fits) };
  });
}

it.skipIf(!hasStrace || isPostgresTest)(
  'a post is acknowledged after a flush of the disk that began after its commit; posts that wait share flushes (strace)',
  async () => {
    const posts = findAcknowledged(await tracePosts());
    expect(posts).toHaveLength(connections * postsOfConnection);
    for (const { committedAt, flush } of posts) expect(flush, `committed at ${committedAt}`).toBeDefined();
    const flushes = new Set(posts.map(({ flush }) => flush));
    expect(flushes.size / posts.length).toBeLessThanOrEqual(maxFlushes);
    // The disk is slow, so groups commit while it flushes the posts of others.
    const isDuring = (place: number) => (flush?: DiskCall) => flush && flush.begin < place && place < flush.end;
    const early = posts.filter(({ committedAt }) => [...flushes].some(isDuring(committedAt)));
    expect(early.length).toBeGreaterThan(posts.length / 10);
  },
);

it.skipIf(!hasStrace || isPostgresTest)(
  'a change whose flush fails is not answered with 503, and nothing is acknowledged before a checkpoint (strace)',
  async () => {
    // The place of the failure in the calls of one thread.
    const faults = ['-e', 'inject=fdatasync:error=EIO:when=20'];
    const statuses: number[] = [];
    const trace = await traceServer(
      async (postroom) => {
        const ada = await postroom.signUp('Ada');
        const room = await postroom.createRoom(ada, 'lobby');
        const write = async () => {
          const input = { room, title: 'kept' };
          statuses.push((await postroom.send(createPost, { input }, ada.token)).status);
        };
        while (!statuses.includes(294)) await Promise.all(Array.from({ length: connections }, write));
        await expect.poll(async () => (await fetch(`${postroom.url}/ready`)).status).toBe(200);
        await write();
      },
      { faults, settings: { UV_THREADPOOL_SIZE: '1' } },
    );
    expect(statuses.at(-1)).toBe(200);
    const database = join(trace.folder, 'postroom.db');
    const failure = trace.calls.find(({ type }) => type === 'failed flush');
    const failedAt = failure?.end ?? Number.POSITIVE_INFINITY;
    const checkpoint = trace.calls.find(
      (call) => call.type === 'flush' && call.file === database && call.begin > failedAt,
    );
    const checkpointAt = checkpoint?.end ?? Number.POSITIVE_INFINITY;
    const posts = findAcknowledged(trace);
    for (const { committedAt, flush } of posts) {
      const flushedAt = flush?.end ?? Number.POSITIVE_INFINITY;
      expect(flushedAt < failedAt || committedAt > checkpointAt).toBe(true);
    }
    expect(posts.some(({ committedAt }) => committedAt > checkpointAt)).toBe(true);
  },
);

it.skipIf(!hasStrace || isPostgresTest)(
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

/** It fills 20 pages of the log: 13 of them begin a checkpoint, and after 200 the log begins again. */
const longBody = '🙂'.repeat(20_000);

it.skipIf(!hasStrace || isPostgresTest)(
  'posts are written while a checkpoint flushes the database file (strace)',
  async () => {
    // Commits are flushed by fdatasync.
    const faults = ['-e', 'inject=fsync:delay_enter=1000000'];
    const trace = await traceServer(
      async (postroom, database) => {
        const ada = await postroom.signUp('Ada');
        const room = await postroom.createRoom(ada, 'lobby');
        const salt = readLogSalt(database);
        const write = async () => {
          for (let count = 0; count < 60; count += 1) await postroom.createPost(ada, room, 'long', longBody);
          while (readLogSalt(database) === salt) await postroom.createPost(ada, room, 'short');
        };
        await Promise.all([write(), write(), write(), write()]);
      },
      { faults },
    );
    const database = join(trace.folder, 'postroom.db');
    const flushes = trace.calls.filter((call) => call.type === 'flush' && call.file === database);
    const firstPost = Math.min(...trace.acknowledged.values());
    const checkpoint = flushes.find(({ begin }) => begin > firstPost);
    const posts = findAcknowledged(trace);
    expect(checkpoint).toBeDefined();
    const { begin = 0, end = 0 } = checkpoint ?? {};
    expect(posts.filter(({ committedAt }) => committedAt > begin && committedAt < end)).not.toEqual([]);
  },
);
