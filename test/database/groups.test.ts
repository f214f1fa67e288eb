// Runs on PostgreSQL.
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Db } from '../../src/data/database/database.ts';
import { insertUser } from '../../src/data/domain/users.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { type CommitFault, CommitProxy } from '../support/database/commit-proxy.ts';
import { openForTest } from '../support/database/open-for-test.ts';
import { PostgresCluster, postgresPrograms } from '../support/database/postgres-cluster.ts';
import { newSessionKey } from '../support/database/test-database.ts';
import { readSeries } from '../support/engine/metrics.ts';
import { BusyRoom } from '../support/rooms/busy-room.ts';
import { launch, launchForTest, type Person } from '../support/server/postroom.ts';

/* Changes of one room that wait at the same time share one commit. */

let cluster: PostgresCluster;

const five = ['one', 'two', 'three', 'four', 'five'];
const stored = (title: string) => ({ status: 200, data: { createPost: { post: { title } } } });

async function openBusyRoom() {
  const name = await cluster.createDatabase();
  const proxy = await CommitProxy.start(cluster.url(name));
  onTestFinished(() => proxy.close());
  const postroom = await launchForTest({ DATABASE_URL: proxy.url, SESSION_KEY: newSessionKey() });
  return { name, proxy, postroom, busy: await BusyRoom.open(postroom, cluster.url(name)) };
}

const title = postgresPrograms ? 'PostgreSQL' : 'PostgreSQL (skipped, because initdb is not installed)';

describe.skipIf(postgresPrograms === undefined)(title, () => {
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  });
  afterAll(() => cluster.remove());

  it('posts that wait for one room share a commit, and each is delivered once, in order', async () => {
    const url = cluster.url(await cluster.createDatabase());
    const proxy = await CommitProxy.start(url);
    onTestFinished(() => proxy.close());
    // In a process of its own: here, the proxy would read only after everything was sent.
    const postroom = await launch({ DATABASE_URL: proxy.url, SESSION_KEY: newSessionKey() });
    onTestFinished(async () => void (await postroom.stop()));
    const busy = await BusyRoom.open(postroom, url);
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    await socket.follow(
      '1',
      `subscription { roomEvents(room: "${busy.room}") { ... on PostCreated { post { title } } } }`,
    );
    const replies = five.map((title) => busy.post(title));
    await busy.untilWaiting(5);
    const before = { ...proxy.commits };
    await busy.free();
    expect(await Promise.all(replies)).toMatchObject(five.map(stored));
    // The other one is that of the post that the five waited for.
    expect(proxy.commits).toEqual({ all: before.all + 2, alone: before.alone });
    for (let event = 0; event < 6; event += 1) await socket.take(({ type }) => type === 'next');
    const titles = socket.nexts('1').map(({ data }) => data.roomEvents.post.title);
    expect(titles[0]).toBe('by Bob');
    expect(titles.slice(1).sort()).toEqual([...five].sort());
    expect(await busy.readTitles()).toEqual([...five].sort());
  });

  it('a change of another room does not wait for them', async () => {
    const { postroom, busy } = await openBusyRoom();
    const waiting = busy.post('waiting');
    await busy.untilWaiting(1);
    const other = await postroom.createRoom(busy.ada, 'other');
    await postroom.createPost(busy.ada, other, 'elsewhere');
    await busy.untilWaiting(1);
    await busy.free();
    expect(await waiting).toMatchObject(stored('waiting'));
  });

  describe('one of five', () => {
    it('is refused, and the others share a commit', async () => {
      const { proxy, busy } = await openBusyRoom();
      const replies = ['one', 'two', '', 'four', 'five'].map((title) => busy.post(title));
      await busy.untilWaiting(5);
      const before = proxy.commits.all;
      await busy.free();
      const [one, two, refused, four, last] = await Promise.all(replies);
      expect([one, two, four, last]).toMatchObject(['one', 'two', 'four', 'five'].map(stored));
      expect(refused).toMatchObject({ code: 'VALIDATION_ERROR', data: { createPost: null } });
      expect(proxy.commits.all).toBe(before + 2);
      expect(await busy.readTitles()).toEqual(['five', 'four', 'one', 'two']);
    });

    it('fails in the database, and the others are stored', async () => {
      const { name, busy } = await openBusyRoom();
      await cluster.query(name, `alter table posts add check (title <> 'three')`);
      const replies = five.map((title) => busy.post(title));
      await busy.untilWaiting(5);
      await busy.free();
      const [one, two, failed, four, last] = await Promise.all(replies);
      expect([one, two, four, last]).toMatchObject(['one', 'two', 'four', 'five'].map(stored));
      expect(failed).toMatchObject({ code: 'INTERNAL_SERVER_ERROR', data: { createPost: null } });
      expect(await busy.readTitles()).toEqual(['five', 'four', 'one', 'two']);
    });

    it('is not stored if its client leaves while it waits', async () => {
      const { postroom, busy } = await openBusyRoom();
      const abort = new AbortController();
      const query = `mutation { createPost(input: { room: "${busy.room}", title: "three" }) { post { id } } }`;
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${busy.ada.token}` };
      const body = JSON.stringify({ query });
      const left = fetch(postroom.graphqlUrl, { method: 'POST', headers, body, signal: abort.signal });
      const replies = ['one', 'two', 'four', 'five'].map((title) => busy.post(title));
      await busy.untilWaiting(5);
      abort.abort();
      await expect(left).rejects.toThrow();
      await expect
        .poll(() => readSeries(postroom, 'postroom_operations_total'))
        .toMatchObject({ 'mutation CANCELLED': 1 });
      await busy.free();
      expect(await Promise.all(replies)).toMatchObject(['one', 'two', 'four', 'five'].map(stored));
      expect(await busy.readTitles()).toEqual(['five', 'four', 'one', 'two']);
    });
  });

  it('two requests that join the same user at the same time both succeed, with one event', async () => {
    const { postroom, busy } = await openBusyRoom();
    const dora = await postroom.signUp('Dora');
    const start = await postroom.cursorOf(busy.room);
    const join = `mutation { joinRoom(input: { room: "${busy.room}" }) { room { viewerRole } } }`;
    const joins = [1, 2].map(() => postroom.send(join, {}, dora.token));
    const post = busy.post('after');
    await busy.untilWaiting(3);
    await busy.free();
    expect(await Promise.all(joins)).toMatchObject(
      joins.map(() => ({ status: 200, data: { joinRoom: { room: { viewerRole: 'MEMBER' } } } })),
    );
    expect(await post).toMatchObject(stored('after'));
    await busy.readTitles();
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    socket.subscribe('1', `subscription { roomEvents(room: "${busy.room}", after: "${start}") { __typename } }`);
    for (let event = 0; event < 4; event += 1) await socket.take(({ type }) => type === 'next');
    const types = socket.nexts('1').map(({ data }) => data.roomEvents.__typename);
    expect(types.sort()).toEqual(['MemberJoined', 'PostCreated', 'PostCreated', 'PostCreated']);
  });

  it('members who join in one commit are locked in the order of their users, so that groups of two rooms never wait for each other', async () => {
    const { name, postroom, busy } = await openBusyRoom();
    const [first, second] = [await postroom.signUp('first'), await postroom.signUp('second')];
    const join = ({ token }: Person, room: string) =>
      postroom.send(`mutation { joinRoom(input: { room: "${room}" }) { room { viewerRole } } }`, {}, token);
    const other = await postroom.createRoom(first, 'other');
    await join(second, other);
    // As a group of another room does.
    const client = new Client({ connectionString: cluster.url(name) });
    await client.connect();
    onTestFinished(() => client.end());
    const lock = (user: Person, wait = '') =>
      client.query(`select pg_backend_pid() as pid from "userLogs" where "userId" = $1 for update ${wait}`, [user.id]);
    await client.query('begin');
    const { rows } = await lock(first);
    const joins = [join(second, busy.room)];
    await busy.untilWaiting(1);
    joins.push(join(first, busy.room));
    await busy.untilWaiting(2);
    await busy.free();
    const waiting = 'select count(*)::int as count from pg_stat_activity where $1 = any(pg_blocking_pids(pid))';
    await expect.poll(async () => (await client.query(waiting, [rows[0].pid])).rows[0].count).toBe(1);
    expect((await lock(second, 'skip locked')).rowCount).toBe(1);
    await client.query('rollback');
    expect(await Promise.all(joins)).toMatchObject(
      joins.map(() => ({ status: 200, data: { joinRoom: { room: { viewerRole: 'MEMBER' } } } })),
    );
    await busy.readTitles();
  });

  describe('a connection that is lost during the COMMIT of five posts', () => {
    async function postThrough(fault: CommitFault) {
      const { proxy, busy } = await openBusyRoom();
      const replies = five.map((title) => busy.post(title));
      await busy.untilWaiting(5);
      // The first COMMIT is that of the post that the five waited for.
      proxy.arm(fault, { ignored: 1 });
      await busy.free();
      return { busy, replies: await Promise.all(replies) };
    }

    it('is not reported as undone if they were committed', async () => {
      const { busy, replies } = await postThrough('unanswered');
      const lost = {
        status: 294,
        errors: [{ message: 'The change was committed, but its result could not be read.' }],
      };
      expect(replies).toMatchObject(five.map(() => lost));
      expect(await busy.readTitles()).toEqual([...five].sort());
    });

    it('lets each of them run again if they were not committed', async () => {
      const { busy, replies } = await postThrough('dropped');
      expect(replies).toMatchObject(five.map(stored));
      expect(await busy.readTitles()).toEqual([...five].sort());
    });
  });

  it('a transaction that waits for its own change runs alone', async () => {
    const database = await openForTest(cluster.url(await cluster.createDatabase()));
    const runs = { Ada: 0, Bob: 0 };
    const end = Promise.withResolvers<void>();
    const holders = [1, 2].map(() => database.transaction(() => end.promise, { room: 'R' }));
    const insert = (name: 'Ada' | 'Bob') => async (db: Db) => {
      runs[name] += 1;
      const inserted = insertUser(db, { name });
      return name === 'Ada' ? await inserted : inserted;
    };
    const inserting = (['Ada', 'Bob'] as const).map((name) => database.transaction(insert(name), { room: 'R' }));
    end.resolve();
    await Promise.all(holders);
    expect(await Promise.all(inserting)).toMatchObject([{ name: 'Ada' }, { name: 'Bob' }]);
    expect(runs).toEqual({ Ada: 2, Bob: 2 });
    expect(await database.db.selectFrom('users').select('name').orderBy('name').execute()).toHaveLength(2);
  });

  it('a change that waits for its room for five seconds is refused, and is not stored', async () => {
    const database = await openForTest(cluster.url(await cluster.createDatabase()));
    const end = Promise.withResolvers<void>();
    const holders = [1, 2].map(() => database.transaction(() => end.promise, { room: 'R' }));
    const refused = database.transaction((db) => insertUser(db, { name: 'Ada' }), { room: 'R' });
    await expect(refused).rejects.toMatchObject({ reason: 'the room could not be changed within 5000 ms' });
    end.resolve();
    await Promise.all(holders);
    expect(await database.db.selectFrom('users').selectAll().execute()).toEqual([]);
  });
});
