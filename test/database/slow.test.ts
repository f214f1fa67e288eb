// Runs on PostgreSQL.
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { PostgresCluster, postgresPrograms } from '../support/database/postgres-cluster.ts';
import { newSessionKey } from '../support/database/test-database.ts';
import { launchForTest } from '../support/server/postroom.ts';

const title = 'an event whose selection takes too long is delivered with its error, and the next events follow';
const waiting = "state = 'active' and wait_event_type = 'Lock' and datname = current_database()";

it.skipIf(postgresPrograms === undefined)(title, async () => {
  const cluster = await PostgresCluster.start();
  onTestFinished(() => cluster.remove());
  const postroom = await launchForTest({ DATABASE_URL: cluster.url('postgres'), SESSION_KEY: newSessionKey() });
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
