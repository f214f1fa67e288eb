import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import type { BusMessage } from '../../src/live/bus/bus.ts';

const roomCount = 100;
const writerCount = 8;

/** The result of one run of writers on one database. */
export interface CommitRun {
  commitsPerSecond: number;
}

export async function prepareRooms(url: string): Promise<void> {
  await onConnection(url, async (client) => {
    await client.query(
      `create table "benchRooms" ("id" text primary key, "head" bigint not null) with (fillfactor = 70)`,
    );
    await client.query(
      `create table "benchEvents" ("roomId" text not null, "seq" bigint not null, primary key ("roomId", "seq"))`,
    );
    await client.query(`insert into "benchRooms" select 'room' || n, 0 from generate_series(0, ${roomCount - 1}) n`);
  });
}

/** Writers that commit one event after the other, each in a random room, and publish it after the commit. */
export async function measureCommits(
  url: string,
  publish: (message: BusMessage) => void,
  seconds: number,
): Promise<number> {
  let commits = 0;
  let isOver = false;
  const write = (client: Client) => async () => {
    while (!isOver) {
      const roomId = `room${Math.floor(Math.random() * roomCount)}`;
      const { rows } = await client.query({
        name: 'append',
        text: `with r as (update "benchRooms" set "head" = "head" + 1 where "id" = $1 returning "id", "head"),
                 e as (insert into "benchEvents" select "id", "head" from r returning "seq")
               select "seq" from e`,
        values: [roomId],
      });
      commits += 1;
      publish(createEvent(roomId, Number(rows[0].seq)));
    }
  };
  const writers = Array.from({ length: writerCount }, () => onConnection(url, (client) => write(client)()));
  await wait(seconds * 1_000);
  isOver = true;
  await Promise.all(writers);
  return commits / seconds;
}

/** The size of a usual event with its content. */
export function createEvent(roomId: string, seq: number): BusMessage {
  const versioned = { createdAt: seq, updatedAt: seq, version: 1 };
  const text = 'a post of usual length, with a title and a body';
  const post = { ...versioned, id: `P${seq}`, roomId, authorId: 'U', title: text, body: text, publishedAt: seq };
  const author = { ...versioned, id: 'U', name: 'Ada', role: 'MEMBER' as const, deletedAt: null };
  const row = { roomId, seq, mark: 1, previousMark: 1, subjectId: post.id, version: 1, actorId: 'U', at: seq };
  return { type: 'roomChanged', roomId, event: { ...row, type: 'PostCreated', content: { post, author } } };
}

async function onConnection<T>(connectionString: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
