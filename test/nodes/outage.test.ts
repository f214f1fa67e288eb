// Runs on PostgreSQL.
import type { Client } from 'graphql-ws';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EventStream } from '../support/clients/event-stream.ts';
import { openClient } from '../support/clients/postroom-client.ts';
import { PostgresCluster } from '../support/database/postgres-cluster.ts';
import { newSessionKey } from '../support/database/test-database.ts';
import { openCursor, seqOf, seqsBetween } from '../support/rooms/cursors.ts';
import { postgresBus } from '../support/server/backends.ts';
import { launchForTest, type Person, type Postroom } from '../support/server/postroom.ts';

/* Clients that connect again while PostgreSQL is away. */

const clientsOfEach = 5;
/** For a longer outage by hand. */
const outageMs = Number(process.env['OUTAGE_MS'] ?? 0);
const roomQuery = 'subscription ($room: ID!) { roomEvents(room: $room) { cursor } }';
const inboxQuery = 'subscription { inbox { cursor } }';

/** The subscriptions of one client of @postroom/client. */
class Follower {
  /** The close codes of its sockets. */
  readonly closes: number[] = [];
  /** The numbers of the events of each subscription. */
  readonly received: number[][] = [];
  readonly ends: unknown[] = [];
  starts = 0;
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
    client.on('closed', (event) => this.closes.push((event as CloseEvent).code));
    client.on('ping', (_, payload) => {
      if (payload?.['live']) this.starts += 1;
    });
  }

  static open({ graphqlUrl }: Postroom, person?: Person): Follower {
    return new Follower(openClient(graphqlUrl, { token: person?.token, retryWaitMs: () => 100 }).live);
  }

  follow(query: string, variables: Record<string, unknown> = {}): void {
    const seqs: number[] = [];
    this.received.push(seqs);
    const end = (reason: unknown) => this.ends.push(reason ?? 'complete');
    this.#client.subscribe<Record<string, { cursor: string }>>(
      { query, variables },
      {
        next: ({ data }) => seqs.push(...Object.values(data ?? {}).map(({ cursor }) => seqOf(cursor))),
        error: end,
        complete: () => end(undefined),
      },
    );
  }

  /** Loses the connection. */
  cut(): void {
    this.#client.terminate();
  }
}

describe.skipIf(postgresBus.isMissing)('during an outage of PostgreSQL', () => {
  it('clients that connect again are closed with 1013 until it is back, and resume: each receives each event once, and none is charged', async () => {
    const cluster = await PostgresCluster.start();
    onTestFinished(() => cluster.remove());
    const postroom = await launchForTest({
      DATABASE_URL: cluster.url('postgres'),
      SESSION_KEY: newSessionKey(),
      RATE_LIMIT: '24',
    });
    const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
    const room = await postroom.createRoom(ada, 'hall');
    const from = seqOf(await postroom.cursorOf(room));
    const followers: Follower[] = [];
    for (let n = 0; n < clientsOfEach; n += 1) {
      const [anonymous, member] = [Follower.open(postroom), Follower.open(postroom, ada)];
      anonymous.follow(roomQuery, { room });
      member.follow(roomQuery, { room });
      member.follow(inboxQuery);
      followers.push(anonymous, member);
    }
    await expect
      .poll(() => followers.map(({ starts, received }) => starts - received.length))
      .toEqual(followers.map(() => 0));
    const stream = await EventStream.open(postroom.graphqlUrl, roomQuery, {}, { room });
    await postroom.createPost(bob, room, 'before');
    await expect
      .poll(() => followers.flatMap(({ received }) => received).every(({ length }) => length === 1))
      .toBe(true);

    await cluster.stopServer('immediate');
    for (const follower of followers) follower.cut();
    const refusals = ({ closes }: Follower) => closes.filter((code) => code === 1013).length;
    await expect.poll(() => Math.min(...followers.map(refusals))).toBeGreaterThan(4);
    const refused = await EventStream.open(postroom.graphqlUrl, roomQuery, { 'last-event-id': last(stream) }, { room });
    expect(refused.response.statusCode).toBe(503);
    expect(refused.response.headers['retry-after']).toBe('1');
    await new Promise((resolve) => setTimeout(resolve, outageMs));
    await cluster.startServer();

    await expect.poll(async () => (await fetch(`${postroom.url}/ready`)).status).toBe(200);
    const posts = 20;
    for (let n = 0; n < posts; n += 1) await postroom.createPost(bob, room, `number ${n}`);
    const expected = seqsBetween(from, from + 1 + posts);
    for (const { received, ends } of followers) {
      await expect.poll(() => received).toEqual(received.map(() => expected));
      expect(ends).toEqual([]);
    }
    await expect.poll(() => openCursor(last(stream)).seq).toBe(expected.at(-1));
  });
});

function last({ received }: EventStream): string {
  return received.findLast(({ id }) => id !== undefined)?.id ?? '';
}
