// Runs on PostgreSQL.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { hasBouncer, launchBouncer } from '../support/database/bouncer.ts';
import { PostgresCluster, postgresPrograms } from '../support/database/postgres-cluster.ts';
import { query } from '../support/database/postgres-query.ts';
import { newSessionKey } from '../support/database/test-database.ts';
import { launchForTest, run } from '../support/server/postroom.ts';

/* PgBouncer between the nodes and PostgreSQL. */

const missing = postgresPrograms === undefined ? 'initdb' : hasBouncer ? undefined : 'pgbouncer';
const title = missing === undefined ? 'PgBouncer' : `PgBouncer (skipped, because ${missing} is not installed)`;
const ignored = {
  ignore_startup_parameters: 'statement_timeout, lock_timeout, idle_in_transaction_session_timeout',
};
let cluster: PostgresCluster;
let count = 0;

async function launchInFront(settings: Record<string, string>): Promise<string> {
  count += 1;
  await query(cluster.url('postgres'), `create database bouncer${count}`);
  return launchBouncer(cluster.url(`bouncer${count}`), settings);
}

/** The standard error of a server that cannot start. */
async function refusalOf(DATABASE_URL: string): Promise<string> {
  const { status, stderr } = await run(['serve'], { DATABASE_URL, SESSION_KEY: newSessionKey(), PORT: '0' });
  expect(status).toBe(1);
  expect(stderr.trimEnd()).not.toContain('\n');
  return stderr.trimEnd();
}

describe.skipIf(missing !== undefined)(title, () => {
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  });
  afterAll(() => cluster.remove());

  it('in session mode carries everything, the bus included', async () => {
    const url = await launchInFront({ pool_mode: 'session', default_pool_size: '60', ...ignored });
    const settings = { DATABASE_URL: url, SESSION_KEY: newSessionKey() };
    const [near, far] = [await launchForTest(settings), await launchForTest(settings)];
    const ada = await near.signUp('Ada');
    const room = await near.createRoom(ada, 'hall');
    const socket = await ProtocolSocket.open(far.webSocketUrl);
    await socket.follow('1', `subscription { roomEvents(room: "${room}") { ... on PostCreated { post { title } } } }`);
    await Promise.all(Array.from({ length: 40 }, (_, index) => near.createPost(ada, room, `post ${index}`)));
    await expect.poll(() => socket.nexts('1').length).toBe(40);
    expect(await (await fetch(`${far.url}/ready`)).json()).toEqual({ status: 'ok', database: 'up', bus: 'up' });
    expect([...near.log, ...far.log]).toEqual([]);
  });

  it('in transaction mode without prepared statements is refused at the start, in one line', async () => {
    const refusal = await refusalOf(await launchInFront({ pool_mode: 'transaction', ...ignored }));
    expect(refusal).toMatch(
      /^postroom: the database cannot be used: postgres:\/\/\S+: a connection pooler .* needs pool_mode = session, or max_prepared_statements/,
    );
  });

  it.each([
    'session',
    'transaction',
  ])('in %s mode that refuses the timeouts of a node is refused at the start, in one line', async (mode) => {
    const refusal = await refusalOf(await launchInFront({ pool_mode: mode }));
    expect(refusal).toMatch(/: unsupported startup parameter: statement_timeout \(08P01\)$/);
  });
});
