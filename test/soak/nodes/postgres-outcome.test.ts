import { expect, it, onTestFinished } from 'vitest';
import { ProtocolSocket } from '../../support/clients/protocol-socket.ts';
import { CommitProxy } from '../../support/database/commit-proxy.ts';
import { PostgresCluster, postgresPrograms } from '../../support/database/postgres-cluster.ts';
import { query } from '../../support/database/postgres-query.ts';
import { newSessionKey } from '../../support/database/test-database.ts';
import { BusyRoom } from '../../support/rooms/busy-room.ts';
import { launchForTest } from '../../support/server/postroom.ts';

const skipped = postgresPrograms === undefined ? ' (skipped, because initdb is not installed)' : '';

async function launchBehindProxy(cluster: PostgresCluster, SESSION_KEY: string) {
  const proxy = await CommitProxy.start(cluster.url('postgres'));
  onTestFinished(() => proxy.close());
  return { proxy, postroom: await launchForTest({ DATABASE_URL: proxy.url, SESSION_KEY }) };
}

it.skipIf(skipped !== '')(
  `a change whose connection is lost during the commit, and whose outcome is not found in time, is OUTCOME_UNKNOWN over HTTP and WebSocket${skipped}`,
  async () => {
    const cluster = await PostgresCluster.start();
    onTestFinished(() => cluster.remove());
    const SESSION_KEY = newSessionKey();
    const first = await launchBehindProxy(cluster, SESSION_KEY);
    const second = await launchBehindProxy(cluster, SESSION_KEY);
    const third = await launchBehindProxy(cluster, SESSION_KEY);
    const ada = await first.postroom.signUp('Ada');
    const room = await first.postroom.createRoom(ada, 'hall');
    const create = (title: string) =>
      `mutation { createPost(input: { room: "${room}", title: "${title}" }) { post { id } } }`;
    const { webSocketUrl } = second.postroom;
    const socket = await ProtocolSocket.open(webSocketUrl, { init: { authorization: `Bearer ${ada.token}` } });
    for (const { proxy } of [first, second, third]) proxy.arm('unknown');
    // The timeout of operations, 10 s, expires before the search for the outcome does.
    const answering = first.postroom.send(create('over HTTP'), {}, ada.token);
    socket.send({ type: 'subscribe', id: '1', payload: { query: create('over WebSocket') } });
    const signIn = `mutation { signIn(input: { email: "${ada.email}", password: "${ada.password}" }) { accessToken } }`;
    const signingIn = third.postroom.send(signIn);
    const error = { path: ['createPost'], extensions: { code: 'OUTCOME_UNKNOWN' } };
    const answer = await answering;
    expect(answer).toMatchObject({ status: 294, data: { createPost: null }, errors: [error] });
    expect(await socket.take(({ id }) => id === '1')).toMatchObject({
      type: 'next',
      payload: { data: { createPost: null }, errors: [error] },
    });
    // Only the attempt may be counted: nothing that the client asked for was done.
    expect(await signingIn).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    const requestId = answer.errors?.[0]?.extensions.requestId;
    expect(first.postroom.log.filter((line) => line['requestId'] === requestId)).toMatchObject([
      { msg: 'server fault in an operation', err: { reason: expect.stringContaining('ECONNREFUSED') } },
    ]);
    // Both were made, so a client that was told otherwise would repeat them.
    expect(await query(cluster.url('postgres'), 'select title from posts order by title')).toEqual([
      { title: 'over HTTP' },
      { title: 'over WebSocket' },
    ]);
  },
);

it.skipIf(skipped !== '')(
  `if the outcome of a commit that changes share is not found in time, it is OUTCOME_UNKNOWN for each of them${skipped}`,
  async () => {
    const cluster = await PostgresCluster.start();
    onTestFinished(() => cluster.remove());
    const { proxy, postroom } = await launchBehindProxy(cluster, newSessionKey());
    const busy = await BusyRoom.open(postroom, cluster.url('postgres'));
    const titles = ['one', 'three', 'two'];
    const replies = titles.map((title) => busy.post(title));
    await busy.untilWaiting(titles.length);
    // The first COMMIT is that of the post that they waited for.
    proxy.arm('unknown', { ignored: 1 });
    await busy.free();
    const unknown = { status: 294, data: { createPost: null }, code: 'OUTCOME_UNKNOWN' };
    expect(await Promise.all(replies)).toMatchObject(titles.map(() => unknown));
    const posts = await query(
      cluster.url('postgres'),
      `select title from posts where title not like 'by %' order by title`,
    );
    expect(posts).toEqual(titles.map((title) => ({ title })));
  },
);
