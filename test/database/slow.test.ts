// Runs on PostgreSQL.
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { PostgresCluster, postgresPrograms } from '../support/database/postgres-cluster.ts';
import { newSessionKey } from '../support/database/test-database.ts';
import { launchForTest, type Postroom } from '../support/server/postroom.ts';

const whenSlow = 'an event whose selection takes too long is delivered with its error, and the next events follow';
const waiting = "state = 'active' and wait_event_type = 'Lock' and datname = current_database()";

async function launchOnCluster(): Promise<{ cluster: PostgresCluster; postroom: Postroom }> {
  const cluster = await PostgresCluster.start();
  onTestFinished(() => cluster.remove());
  const settings = { DATABASE_URL: cluster.url('postgres'), SESSION_KEY: newSessionKey() };
  return { cluster, postroom: await launchForTest(settings) };
}

it.skipIf(postgresPrograms === undefined)(whenSlow, async () => {
  const { cluster, postroom } = await launchOnCluster();
  const [ada, bob, eve] = await Promise.all(['Ada', 'Bob', 'Eve'].map((name) => postroom.signUp(name)));
  if (!ada || !bob || !eve) throw new Error('unreachable');
  const room = await postroom.createRoom(ada, 'hall');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const joined = '... on MemberJoined { user { name posts { title } } }';
  await socket.follow('1', `subscription { roomEvents(room: "${room}") { cursor ${joined} } }`);
  const join = 'mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { id } } }';

  const [locking, canceling] = [new Client(cluster.url('postgres')), new Client(cluster.url('postgres'))];
  await Promise.all([locking.connect(), canceling.connect()]);
  onTestFinished(async () => void (await Promise.all([locking.end(), canceling.end()])));
  await locking.query('begin; lock table posts in access exclusive mode');
  await postroom.ask(join, { room }, bob.token);
  // The server ends a statement in this way, too, when its `statement_timeout` is over.
  const cancel = `select count(pg_cancel_backend(pid))::int as count from pg_stat_activity where ${waiting}`;
  await expect.poll(async () => (await canceling.query(cancel)).rows[0].count).toBeGreaterThan(0);
  await expect.poll(() => socket.nexts('1').length).toBe(1);
  await locking.query('commit');
  await postroom.ask(join, { room }, eve.token);
  await expect.poll(() => socket.nexts('1').length).toBe(2);

  const [slow, next] = socket.nexts('1');
  expect(slow.errors).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE' } }]);
  expect(next).toMatchObject({ data: { roomEvents: { user: { name: 'Eve', posts: [] } } } });
});

const inTurn = 'searches and totals take turns by caller, and short reads, credentials and /ready do not wait for them';

it.skipIf(postgresPrograms === undefined)(inTurn, async () => {
  const { cluster, postroom } = await launchOnCluster();
  const [ada, bob] = await Promise.all(['Ada', 'Bob'].map((name) => postroom.signUp(name)));
  if (!ada || !bob) throw new Error('unreachable');
  const locking = new Client(cluster.url('postgres'));
  await locking.connect();
  onTestFinished(() => locking.end());
  const count = `select count(*)::int as count from pg_stat_activity where ${waiting}`;
  const countWaiting = async () => (await cluster.query('postgres', count))[0]?.['count'];
  await locking.query('begin; lock table posts in access exclusive mode');

  const searches = Array.from({ length: 6 }, (_, index) =>
    postroom.send(`{ posts(filter: { title: "word ${index}" }) { data { id } } }`),
  );
  await expect.poll(countWaiting).toBe(1);
  const total = postroom.send('{ posts { pagination { total } } }', {}, ada.token);
  await expect.poll(countWaiting).toBe(2);
  expect(await postroom.send('{ users(limit: 1) { data { id } } }')).toMatchObject({ status: 200 });
  expect(await postroom.send('{ viewer { name } }', {}, bob.token)).toMatchObject({
    data: { viewer: { name: 'Bob' } },
  });
  expect((await fetch(new URL('/ready', postroom.url))).status).toBe(200);
  expect(await countWaiting()).toBe(2);

  await locking.query('commit');
  const answers = await Promise.all([...searches, total]);
  expect(answers.map(({ status }) => status)).toEqual(Array(7).fill(200));
});
