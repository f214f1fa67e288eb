// Runs on SQLite and on PostgreSQL.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from 'graphql-ws';
import { expect, it, onTestFinished } from 'vitest';
import { createFaultProxy, type FaultProxy } from '../support/clients/fault-proxy.ts';
import { openClient } from '../support/clients/postroom-client.ts';
import type { Result } from '../support/clients/protocol-socket.ts';
import { ReceivedQueue } from '../support/clients/received-queue.ts';
import { postgresPrograms } from '../support/database/postgres-cluster.ts';
import { isPostgresTest, withTestDatabase } from '../support/database/test-database.ts';
import {
  launchForTest,
  type Person,
  type Postroom,
  type ReplyError,
  run,
  type Settings,
  scratchFolder,
} from '../support/server/postroom.ts';

/* A backup is restored with the commands of docs/operations.md, while clients that resume wait for the server. */

const pgDump = join(postgresPrograms ?? '', 'pg_dump');
const pgRestore = join(postgresPrograms ?? '', 'pg_restore');
const isSkipped = isPostgresTest && !(existsSync(pgDump) && existsSync(pgRestore));
const skipped = isSkipped ? ' (skipped, because pg_dump is not installed)' : '';
const retryWaitMs = 20;
/** No server listens on this port. */
const offline = 'http://127.0.0.1:1/graphql';

async function backUp(settings: Settings, file: string): Promise<void> {
  if (!isPostgresTest) return void expect(await run(['backup', file], settings)).toMatchObject({ status: 0 });
  const { DATABASE_URL = '' } = await withTestDatabase(settings);
  execFileSync(pgDump, ['--format=custom', `--file=${file}`, DATABASE_URL]);
}

async function restore(settings: Settings, file: string): Promise<void> {
  if (!isPostgresTest) {
    return void expect(await run(['restore', file, '--force'], settings)).toMatchObject({ status: 0 });
  }
  const { DATABASE_URL = '' } = await withTestDatabase(settings);
  const options = ['--clean', '--if-exists', '--no-owner', '--single-transaction', '--exit-on-error'];
  execFileSync(pgRestore, [...options, `--dbname=${DATABASE_URL}`, file]);
}

/** A graphql-ws client behind a proxy of its own, which follows the posts of a room. */
class Follower {
  readonly #client: Client;
  readonly proxy: FaultProxy;

  private constructor(client: Client, proxy: FaultProxy) {
    this.#client = client;
    this.proxy = proxy;
  }

  static async open(postroom: Postroom): Promise<Follower> {
    const proxy = await createFaultProxy(postroom.graphqlUrl);
    onTestFinished(() => proxy.close());
    const { live } = openClient(proxy.url, { retryWaitMs: () => retryWaitMs });
    return new Follower(live, proxy);
  }

  /** Resolves when the subscription is live or has received its first event. */
  async follow(room: string, after?: string): Promise<Followed> {
    const titles = new ReceivedQueue<string>();
    const started = Promise.withResolvers<void>();
    const refused = Promise.withResolvers<ReplyError[]>();
    this.#client.on('ping', () => started.resolve());
    const query = `subscription ($room: ID!, $after: String) {
      roomEvents(room: $room, after: $after) { ... on PostCreated { post { title } } }
    }`;
    this.#client.subscribe<Result['data']>(
      { query, variables: { room, after } },
      {
        next: ({ data }) => titles.push(data?.roomEvents.post.title),
        error: (errors) => refused.resolve(errors as ReplyError[]),
        complete: () => {},
      },
    );
    await started.promise;
    return { titles, refused: refused.promise };
  }

  /** Call it while the server runs: a client that is connecting again cannot be closed. */
  async close(): Promise<void> {
    await this.#client.dispose();
  }
}

interface Followed {
  titles: ReceivedQueue<string>;
  /** The errors that end the subscription. */
  refused: Promise<ReplyError[]>;
}

function names(letter: string, from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `${letter}${from + index}`);
}

async function write(postroom: Postroom, author: Person, room: string, titles: readonly string[]): Promise<void> {
  for (const title of titles) await postroom.createPost(author, room, title);
}

it.skipIf(isSkipped)(
  `after a restore, a client that had seen later events is notified and continues completely; a client that had not resumes without a gap${skipped}`,
  async () => {
    const folder = scratchFolder();
    const settings = { DATABASE_URL: `sqlite:${join(folder, 'postroom.db')}` };
    const first = await launchForTest(settings);
    const ada = await first.signUp('Ada');
    const room = await first.createRoom(ada, 'lobby');
    const [ahead, behind] = [await Follower.open(first), await Follower.open(first)];
    const [lost, kept] = [await ahead.follow(room), await behind.follow(room)];

    await write(first, ada, room, names('A', 1, 5));
    expect(await kept.titles.take(5)).toEqual(names('A', 1, 5));
    behind.proxy.retarget(offline);
    await backUp(settings, join(folder, 'backup'));
    await write(first, ada, room, names('A', 6, 10));
    expect(await lost.titles.take(10)).toEqual(names('A', 1, 10));
    ahead.proxy.retarget(offline);
    await first.stop();
    await restore(settings, join(folder, 'backup'));

    const second = await launchForTest(settings);
    await write(second, ada, room, names('B', 6, 13));
    for (const { proxy } of [ahead, behind]) proxy.retarget(second.graphqlUrl);
    const [error] = await lost.refused;
    expect(error?.extensions.code).toBe('CURSOR_EXPIRED');
    const query = 'query ($room: ID!) { room(id: $room) { posts(last: 50) { nodes { title } } } }';
    const { nodes } = (await second.ask(query, { room })).room.posts;
    const resumed = await ahead.follow(room, error?.extensions.live?.cursor);
    await write(second, ada, room, names('B', 14, 15));

    const history = [...names('A', 1, 5), ...names('B', 6, 15)];
    expect([...nodes.map(({ title }: { title: string }) => title), ...(await resumed.titles.take(2))]).toEqual(history);
    expect(await kept.titles.take(10)).toEqual(names('B', 6, 15));
    // Nothing of the new history was delivered before the client was notified.
    expect(lost.titles.all).toEqual(names('A', 1, 10));
    for (const follower of [ahead, behind]) await follower.close();
  },
);
