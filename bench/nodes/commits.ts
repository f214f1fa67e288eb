import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from 'pg';
import type { BusMessage } from '../../src/live/bus/bus.ts';
import { onConnection } from './database.ts';

/** The ids of the rooms that are written to. */
export const roomIds = Array.from({ length: 100 }, (_, index) => `room${index}`);
const writerCount = 8;

export async function prepareRooms(url: string): Promise<void> {
  await onConnection(url, async (client) => {
    await client.query(
      `create table "benchRooms" ("id" text primary key, "head" bigint not null) with (fillfactor = 70)`,
    );
    await client.query(
      `create table "benchEvents" ("roomId" text not null, "seq" bigint not null, primary key ("roomId", "seq"))`,
    );
    await client.query(`insert into "benchRooms" select id, 0 from unnest($1::text[]) id`, [roomIds]);
  });
}

export interface CommitOptions {
  seconds: number;
  /** Called after each commit. */
  publish: (message: BusMessage) => void;
  /** The commits per second of all writers together; Infinity: as many as possible. */
  rate?: number;
}

/** Writers commit one event after the other, each in a random room. Returns the commits per second. */
export async function measureCommits(
  url: string,
  { seconds, publish, rate = Number.POSITIVE_INFINITY }: CommitOptions,
): Promise<number> {
  const started = performance.now();
  const end = started + seconds * 1_000;
  let commits = 0;
  const write = async (client: Client) => {
    while (performance.now() < end) {
      // Each commit has its time, so that a late one is followed by the next at once.
      const due = started + (commits * 1_000) / rate;
      commits += 1;
      if (due > performance.now()) await wait(due - performance.now());
      const roomId = roomIds[Math.floor(Math.random() * roomIds.length)] ?? '';
      const { rows } = await client.query({
        name: 'append',
        text: `with r as (update "benchRooms" set "head" = "head" + 1 where "id" = $1 returning "id", "head"),
                 e as (insert into "benchEvents" select "id", "head" from r returning "seq")
               select "seq" from e`,
        values: [roomId],
      });
      publish(createEvent(roomId, Number(rows[0].seq)));
    }
  };
  await Promise.all(Array.from({ length: writerCount }, () => onConnection(url, write)));
  return (commits * 1_000) / (performance.now() - started);
}

/** Nanoseconds of a clock that all threads share. */
export function now(): number {
  return Number(process.hrtime.bigint());
}

/** An event with the usual content, at the present time. */
export function createEvent(roomId: string, seq: number): BusMessage {
  const versioned = { createdAt: seq, updatedAt: seq, version: 1 };
  const text = 'a post of usual length, with a title and a body';
  const post = { ...versioned, id: `P${seq}`, roomId, authorId: 'U', title: text, body: text, publishedAt: seq };
  const author = { ...versioned, id: 'U', name: 'Ada', role: 'MEMBER' as const, deletedAt: null };
  const row = { roomId, seq, mark: 1, previousMark: 1, subjectId: post.id, version: 1, actorId: 'U', at: now() };
  return { type: 'roomChanged', roomId, event: { ...row, type: 'PostCreated', content: { post, author } } };
}
