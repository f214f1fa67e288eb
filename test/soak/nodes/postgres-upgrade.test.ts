import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import type { ChaosNode } from '../../support/chaos/node.ts';
import { assemble, assertComplete, converge, untilWritten } from '../../support/chaos/run.ts';
import { ProtocolSocket } from '../../support/clients/protocol-socket.ts';
import { PostgresCluster, postgresPrograms } from '../../support/database/postgres-cluster.ts';
import { query } from '../../support/database/postgres-query.ts';
import { newSessionKey } from '../../support/database/test-database.ts';
import { createNewerProgram } from '../../support/run/newer-program.ts';
import { launchForTest, launchProcessForTest, mainProgram, run } from '../../support/server/postroom.ts';

/* Two versions of the program on one database: this one, and a newer one whose migration adds a column. */

const skipped = postgresPrograms === undefined ? ' (skipped, because initdb is not installed)' : '';
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const writerCount = 6;

async function followSubtitles({ postroom }: ChaosNode, room: string): Promise<ProtocolSocket> {
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const post = 'post { title subtitle }';
  await socket.follow(
    '1',
    `subscription { roomEvents(room: "${room}") { ... on PostCreated { ${post} } ... on PostUpdated { ${post} } } }`,
  );
  return socket;
}

it.skipIf(skipped !== '')(
  `nodes of a newer program replace those of an older one under load: each acknowledged event arrives once, in order${skipped}`,
  async ({ annotate }) => {
    await annotate(`seed ${seed}`);
    const cast = await assemble({ seed, nodes: 2, withRedis: false });
    const { deployment, writers, streams, journal, ada } = cast;
    const [first, second] = deployment.nodes as [ChaosNode, ChaosNode];
    const newer = createNewerProgram({ keepsPrograms: true });
    const columns = () =>
      query(deployment.databaseUrl, `select 1 from information_schema.columns where column_name = 'subtitle'`);
    writers.start(writerCount);
    await untilWritten(cast);
    expect(await columns()).toHaveLength(0);
    await first.replaceProgram(newer);
    expect(await columns()).toHaveLength(1);
    await untilWritten(cast);

    // What one version writes, the other delivers.
    const room = await second.postroom.createRoom(ada, 'both');
    const subscribers = [await followSubtitles(first, room)];
    const createPost = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';
    const input = { room, title: 'by the newer', subtitle: 'and its subtitle' };
    const { id } = (await first.postroom.ask(createPost, { input }, ada.token)).createPost.post;
    const updatePost = 'mutation ($input: UpdatePostInput!) { updatePost(input: $input) { post { title } } }';
    await second.postroom.ask(updatePost, { input: { id, title: 'changed by the older' } }, ada.token);
    await second.postroom.createPost(ada, room, 'by the older');

    // An older program that starts now is accepted, too.
    await second.replaceProgram(mainProgram);
    await untilWritten(cast);
    await second.replaceProgram(newer);
    await untilWritten(cast);
    subscribers.push(await followSubtitles(second, room));
    await first.postroom.createPost(ada, room, 'last');
    for (const [index, subscriber] of subscribers.entries()) {
      const last = await subscriber.take(({ payload }) => payload?.data?.roomEvents.post.title === 'last');
      expect(last.payload.errors).toBeUndefined();
      expect(subscriber.nexts('1').map(({ data, errors }) => errors ?? data.roomEvents.post)).toEqual(
        [
          { title: 'by the newer', subtitle: 'and its subtitle' },
          { title: 'changed by the older', subtitle: 'and its subtitle' },
          { title: 'by the older', subtitle: null },
          { title: 'last', subtitle: null },
        ].slice(index * 3),
      );
    }
    await writers.stop();
    await converge(cast);
    await assertComplete(cast);
    expect(streams.map(({ segments }) => segments.length)).toEqual(streams.map(() => 1));
    await annotate(JSON.stringify(journal.counts));
  },
);

it.skipIf(skipped !== '')(
  `an older program that the tables of a newer one exclude is refused in one line; a node of it that runs is not stopped${skipped}`,
  async () => {
    const cluster = await PostgresCluster.start();
    onTestFinished(() => cluster.remove());
    const settings = { DATABASE_URL: cluster.url('postgres'), SESSION_KEY: newSessionKey(), PORT: '0' };
    const older = await launchProcessForTest(settings);
    const ada = await older.signUp('Ada');
    const newer = await launchProcessForTest(settings, createNewerProgram({ keepsPrograms: false }));
    const { status, stdout, stderr } = await run(['serve'], settings);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    const [, needed, known] =
      /^postroom: the database cannot be used: postgres:\/\/127.0.0.1:\d+\/postgres: it was written by a newer Postroom \(its tables need a program that knows version (\d+), this program knows (\d+)\)\n$/.exec(
        stderr,
      ) ?? [];
    expect(Number(needed)).toBe(Number(known) + 1);
    const room = await older.createRoom(ada, 'still served');
    expect(await newer.ask(`{ room(id: "${room}") { name } }`)).toEqual({ room: { name: 'still served' } });
  },
);

it.skipIf(skipped !== '')(
  `a migration that waits for a table, such as until the end of a backup, does not stop the nodes that run${skipped}`,
  async () => {
    const cluster = await PostgresCluster.start();
    onTestFinished(() => cluster.remove());
    const settings = { DATABASE_URL: cluster.url('postgres'), SESSION_KEY: newSessionKey() };
    const older = await launchForTest(settings);
    const ada = await older.signUp('Ada');
    const room = await older.createRoom(ada, 'hall');
    const backup = new Client(settings.DATABASE_URL);
    await backup.connect();
    await backup.query('begin; lock table posts in access share mode');
    const starting = launchProcessForTest(settings, createNewerProgram({ keepsPrograms: true }));
    const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'alter table posts%'`;
    await expect.poll(() => query(settings.DATABASE_URL, waiting)).toHaveLength(1);
    // The lock timeout of a node would end it with 503.
    await older.createPost(ada, room, 'during the backup');
    await expect.poll(() => query(settings.DATABASE_URL, waiting)).toHaveLength(1);
    expect((await older.ask('{ posts { data { title } } }')).posts.data).toEqual([{ title: 'during the backup' }]);
    await backup.query('commit');
    await backup.end();
    const newer = await starting;
    expect((await newer.ask('{ posts { data { subtitle } } }')).posts.data).toEqual([{ subtitle: null }]);
  },
);
