// Runs on PostgreSQL.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  type Database,
  type DatabaseOptions,
  DatabaseUnavailable,
  type Db,
  type RowLock,
} from '../../src/data/database/database.ts';
import { openDatabase } from '../../src/data/database/open-database.ts';
import { createPostRow, findPost, insertPost } from '../../src/data/domain/posts.ts';
import { createRoomRow, findRoom, findRoomOfPost, insertRoom } from '../../src/data/domain/rooms.ts';
import { findAccount, findUser, insertUser } from '../../src/data/domain/users.ts';
import { createFaultProxy } from '../support/clients/fault-proxy.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { type CommitFault, CommitProxy } from '../support/database/commit-proxy.ts';
import { DirectPostgres } from '../support/database/direct-postgres.ts';
import { openForTest } from '../support/database/open-for-test.ts';
import { PostgresCluster, postgresPrograms } from '../support/database/postgres-cluster.ts';
import { newSessionKey } from '../support/database/test-database.ts';
import { change, InboxStream } from '../support/inbox/inbox-stream.ts';
import { post, room, toText } from '../support/rooms/history.ts';
import { createUnreliablePair } from '../support/rooms/unreliable-bus.ts';
import { launch, launchForTest, run } from '../support/server/postroom.ts';

/* What a client of the database notices when PostgreSQL or the connection to it fails. */

let cluster: PostgresCluster;

async function openNew(options?: DatabaseOptions): Promise<{ name: string; database: Database }> {
  const name = await cluster.createDatabase();
  return { name, database: await openForTest(cluster.url(name), options) };
}

const terminateAll = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'postroom' and datname = current_database()`;

const terminateWaiting = `select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;

/** Statements after which a transaction that changes these rows fails at its commit. */
function failAtCommit(change: string, condition = ''): string {
  return `create function fail() returns trigger language plpgsql as
     $$ begin raise exception 'the disk fails' using errcode = '58030'; end $$;
    create constraint trigger failing after ${change} deferrable initially deferred for each row ${condition}
     execute function fail()`;
}

async function countUsers(database: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as "count" from users`.execute(database.db);
  return rows[0]?.count ?? 0;
}

/** Resolves when a connection to the database meets the condition. */
async function waitForActivity(name: string, condition: string): Promise<void> {
  const query = `select count(*)::int as count from pg_stat_activity where datname = '${name}' and ${condition}`;
  await expect.poll(async () => (await cluster.query('postgres', query))[0]?.['count']).toBeGreaterThan(0);
}

const title = postgresPrograms ? 'PostgreSQL' : 'PostgreSQL (skipped, because initdb is not installed)';

describe.skipIf(postgresPrograms === undefined)(title, () => {
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  });
  afterAll(() => cluster.remove());

  describe('a lost connection', () => {
    it('is not noticed by single reads', async () => {
      const { name, database } = await openNew();
      const user = await database.transaction((db) => insertUser(db, { name: 'Ada' }));
      for (let round = 0; round < 5; round += 1) {
        await cluster.query(name, terminateAll);
        const found = await Promise.all(Array.from({ length: 20 }, () => findUser(database.db, user.id)));
        expect(found.map((one) => one?.name)).toEqual(Array(20).fill('Ada'));
      }
    });

    it('during a read is repaired by sending the read again', async () => {
      const { name, database } = await openNew();
      const other = DirectPostgres.open(cluster.url(name));
      other.exec('select pg_advisory_lock(1)');
      // The first run sleeps until its connection is lost; the second one finds the lock free.
      const run = sql`select case when not pg_try_advisory_lock_shared(1) then pg_sleep(600) end`;
      const waiting = run.execute(database.db);
      await waitForActivity(name, `wait_event = 'PgSleep'`);
      other.exec('select pg_advisory_unlock(1)');
      other.close();
      await cluster.query(name, terminateAll);
      expect((await waiting).rows).toHaveLength(1);
    });

    it('during a search is repaired by sending the search again', async () => {
      const name = await cluster.createDatabase();
      const postroom = await launchForTest({ DATABASE_URL: cluster.url(name), SESSION_KEY: newSessionKey() });
      const other = DirectPostgres.open(cluster.url(name));
      other.exec('begin; lock table posts');
      const search = postroom.send('{ posts(filter: { title: "word" }) { data { id } } }');
      await expect.poll(() => cluster.query(name, terminateWaiting)).toHaveLength(1);
      other.exec('commit');
      other.close();
      expect(await search).toMatchObject({ status: 200, data: { posts: { data: [] } } });
    });

    it('during a transaction rolls it back, and its work runs again', async () => {
      const { name, database } = await openNew();
      let runs = 0;
      const user = await database.transaction(async (db) => {
        runs += 1;
        const inserted = await insertUser(db, { name: `run ${runs}` });
        if (runs === 1) await cluster.query(name, terminateAll);
        return inserted;
      });
      expect(runs).toBe(2);
      expect(await findUser(database.db, user.id)).toMatchObject({ name: 'run 2' });
      expect(await countUsers(database)).toBe(1);
    });

    it('twice during a transaction is a DatabaseUnavailable, and nothing is stored', async () => {
      const { name, database } = await openNew();
      const lost = database.transaction(async (db) => {
        await insertUser(db, { name: 'Ada' });
        await cluster.query(name, terminateAll);
        await insertUser(db, { name: 'Bob' });
      });
      await expect(lost).rejects.toBeInstanceOf(DatabaseUnavailable);
      expect(await countUsers(database)).toBe(0);
    });
  });

  it('a commit arrives together with the last statements of its transaction', async () => {
    const proxy = await CommitProxy.start(cluster.url(await cluster.createDatabase()));
    onTestFinished(() => proxy.close());
    // In a process of its own: here, the proxy would read only after both were sent.
    const postroom = await launch({ DATABASE_URL: proxy.url, SESSION_KEY: newSessionKey() });
    onTestFinished(async () => void (await postroom.stop()));
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'hall');
    const before = { ...proxy.commits };
    for (let n = 0; n < 50; n += 1) await postroom.createPost(ada, room, `number ${n}`);
    expect(proxy.commits.all).toBeGreaterThanOrEqual(before.all + 50);
    expect(proxy.commits.alone).toBe(before.alone);
  });

  it('costs no inbox its RoomRead or RoomDeleted: they are sent once, when the database can be read', async () => {
    const name = await cluster.createDatabase();
    const postroom = await launchForTest({ DATABASE_URL: cluster.url(name), SESSION_KEY: newSessionKey() });
    const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
    const [hall, attic] = [await postroom.createRoom(bob, 'hall'), await postroom.createRoom(bob, 'attic')];
    await change(postroom, 'joinRoom', ada, attic);
    await postroom.createPost(ada, attic, 'unread');
    // A read that loses its connection is sent once more.
    const lostReads = 4;
    // Only the events read this table.
    const query = 'subscription { inbox { __typename cursor room { id name } actor { id apiKeys { name } } } }';
    const inboxes = [
      await InboxStream.open(postroom, bob, { query }),
      await InboxStream.open(postroom, bob, { query }),
    ];
    const other = DirectPostgres.open(cluster.url(name));
    for (const [mutation, room, event] of [
      ['markRead', attic, 'RoomRead attic'],
      ['deleteRoom', hall, 'RoomDeleted hall'],
    ] as const) {
      other.exec('begin; lock table "apiKeys"');
      await change(postroom, mutation, bob, room);
      let lost = 0;
      while (lost < lostReads) lost += (await cluster.query(name, terminateWaiting)).length;
      other.exec('rollback');
      for (const inbox of inboxes) expect(await Promise.race([inbox.take(1), inbox.refused])).toEqual([event]);
    }
    other.close();
    await postroom.createPost(bob, attic, 'one');
    for (const inbox of inboxes) expect(await inbox.take(1)).toEqual(['PostCreated attic']);
  });

  describe('a connection that is lost during COMMIT', () => {
    async function openThrough(fault: CommitFault) {
      const name = await cluster.createDatabase();
      const proxy = await CommitProxy.start(cluster.url(name));
      onTestFinished(() => proxy.close());
      const database = await openForTest(proxy.url);
      proxy.arm(fault);
      return { name, proxy, database };
    }

    it('does not hide a transaction that was committed', async () => {
      const { proxy, database } = await openThrough('unanswered');
      let runs = 0;
      const user = await database.transaction((db) => {
        runs += 1;
        return insertUser(db, { name: 'Ada' });
      });
      await proxy.arrived;
      expect(runs).toBe(1);
      expect(await findUser(database.db, user.id)).toMatchObject({ name: 'Ada' });
    });

    it('does not report a transaction as committed whose COMMIT never arrived', async () => {
      const { database } = await openThrough('dropped');
      let runs = 0;
      await database.transaction((db) => {
        runs += 1;
        return insertUser(db, { name: 'Ada' });
      });
      expect(runs).toBe(2);
      expect(await countUsers(database)).toBe(1);
    });

    it('waits for the end of a transaction that the server has not noticed to be lost', async () => {
      const { name, proxy, database } = await openThrough('held');
      const inserting = database.transaction((db) => insertUser(db, { name: 'Ada' }));
      await proxy.arrived;
      await cluster.query(
        name,
        `select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction'`,
      );
      await inserting;
      expect(await countUsers(database)).toBe(1);
    });

    it('is not reported as undone if only the results of its last statements are lost', async () => {
      const proxy = await CommitProxy.start(cluster.url(await cluster.createDatabase()));
      onTestFinished(() => proxy.close());
      const postroom = await launchForTest({ DATABASE_URL: proxy.url, SESSION_KEY: newSessionKey() });
      const ada = await postroom.signUp('Ada');
      const room = await postroom.createRoom(ada, 'hall');
      proxy.arm('unanswered');
      const create = `mutation { createPost(input: { room: "${room}", title: "stored" }) { post { id } } }`;
      expect(await postroom.send(create, {}, ada.token)).toMatchObject({
        status: 294,
        data: { createPost: null },
        errors: [
          {
            message: 'The change was committed, but its result could not be read.',
            path: ['createPost'],
            extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: expect.any(String) },
          },
        ],
      });
      expect((await postroom.ask('{ posts { data { title } } }')).posts.data).toEqual([{ title: 'stored' }]);
    });

    it('is not mistaken for another transaction with the same id after a crash', async () => {
      const { name, proxy, database } = await openThrough('held');
      let runs = 0;
      const inserting = database.transaction((db) => {
        runs += 1;
        return insertUser(db, { name: 'Ada' });
      });
      await proxy.arrived;
      const [held] = await cluster.query(
        'postgres',
        `select backend_xid::text as xid from pg_stat_activity where datname = '${name}' and backend_xid is not null`,
      );
      await cluster.stopServer('immediate');
      await cluster.startServer();
      // The ids after the last checkpoint that reached the disk are assigned again.
      for (let attempt = 0; attempt < 100; attempt += 1) {
        const [{ xid } = { xid: '' }] = await cluster.query('postgres', 'select pg_current_xact_id()::text as xid');
        if (Number(xid) >= Number(held?.['xid'])) break;
      }
      const [{ status } = { status: '' }] = await cluster.query(
        'postgres',
        `select pg_xact_status('${held?.['xid']}') as status`,
      );
      // The id has an outcome, but not that of the lost transaction: by now somebody else has used it.
      expect(status).toMatch(/^(committed|aborted)$/);
      const user = await inserting;
      expect(runs).toBe(2);
      expect(await findUser(database.db, user.id)).toMatchObject({ name: 'Ada' });
      expect(await countUsers(database)).toBe(1);
    });
  });

  describe('an error of COMMIT itself', () => {
    it('does not hide a transaction that was committed nevertheless', async () => {
      const proxy = await CommitProxy.start(cluster.url(await cluster.createDatabase()));
      onTestFinished(() => proxy.close());
      const database = await openForTest(proxy.url);
      proxy.arm('failed');
      const user = await database.transaction((db) => insertUser(db, { name: 'Ada' }));
      await proxy.arrived;
      expect(await findUser(database.db, user.id)).toMatchObject({ name: 'Ada' });
    });

    it('is a DatabaseUnavailable if the transaction was rolled back', async () => {
      const { name, database } = await openNew();
      await cluster.query(name, failAtCommit('insert on users'));
      const inserting = database.transaction((db) => insertUser(db, { name: 'Ada' }));
      await expect(inserting).rejects.toMatchObject({ reason: 'the disk fails (58030)' });
      expect(await countUsers(database)).toBe(0);
    });
  });

  it('recovery is reported when a transaction has been committed, not when it could begin', async () => {
    const statements: string[] = [];
    const reports: string[] = [];
    const { name, database } = await openNew({
      onStatement: (sql) => statements.push(sql),
      onFault: (reason) => reports.push(reason),
      onRecovery: () => reports.push('recovered'),
    });
    // Those of the search for an outcome are left alone: they do not change the mark.
    await cluster.query(name, failAtCommit('insert or update of mark on "commitMarks"', 'when (new.mark > 0)'));
    const inserting = database.transaction((db) => insertUser(db, { name: 'Ada' }));
    await expect(inserting).rejects.toBeInstanceOf(DatabaseUnavailable);
    const commits = () => statements.filter((sql) => sql === 'commit').length;
    const before = commits();
    // The database tries to write once a second.
    await expect.poll(commits).toBeGreaterThan(before + 2);
    expect(reports).toEqual(['the disk fails (58030)']);
    await cluster.query(name, 'drop trigger failing on "commitMarks"');
    await expect.poll(() => reports).toEqual(['the disk fails (58030)', 'recovered']);
  });

  it('a database whose server has become silent can be closed', async () => {
    const proxy = await createFaultProxy(cluster.url(await cluster.createDatabase()));
    onTestFinished(() => proxy.close());
    const database = await openDatabase(proxy.url);
    await database.transaction((db) => insertUser(db, { name: 'Ada' }));
    expect(await countUsers(database)).toBe(1);
    proxy.freeze();
    await database.close();
  });

  it('a read of a server that has become silent ends', async () => {
    const proxy = await createFaultProxy(cluster.url(await cluster.createDatabase()));
    onTestFinished(() => proxy.close());
    const database = await openForTest(proxy.url);
    expect(await countUsers(database)).toBe(0);
    proxy.freeze();
    await expect(countUsers(database)).rejects.toBeInstanceOf(DatabaseUnavailable);
    proxy.thaw();
    expect(await countUsers(database)).toBe(0);
  });

  it('a restart of the server is a 503 while it lasts; then everything works again, and the log has both', async () => {
    const name = await cluster.createDatabase();
    const postroom = await launchForTest({ DATABASE_URL: cluster.url(name), SESSION_KEY: newSessionKey() });
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'hall');
    await cluster.stopServer('immediate');
    const create = `mutation { createPost(input: { room: "${room}", title: "t" }) { post { id } } }`;
    expect(await postroom.send(create, {}, ada.token)).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(await postroom.send('{ users { data { id } } }')).toMatchObject({
      status: 503,
      code: 'SERVICE_UNAVAILABLE',
    });
    expect((await fetch(`${postroom.url}/ready`)).status).toBe(503);
    await cluster.startServer();
    expect((await fetch(`${postroom.url}/ready`)).status).toBe(200);
    expect(await postroom.send(create, {}, ada.token)).toMatchObject({ status: 200 });
    await expect.poll(() => postroom.log.map(({ msg }) => msg)).toContain('the database can be written again');
    expect(postroom.log.map(({ msg }) => msg)).toContain('the database is not available');
    expect(JSON.stringify(postroom.log)).not.toContain('postgres://');
  });

  it('a server that can only be read is a 503, also for reads, until it can be written again', async () => {
    const name = await cluster.createDatabase();
    const postroom = await launchForTest({ DATABASE_URL: cluster.url(name), SESSION_KEY: newSessionKey() });
    const ada = await postroom.signUp('Ada');
    const setReadOnly = async (value: 'on' | 'off') => {
      await cluster.query('postgres', `alter system set default_transaction_read_only = ${value}`);
      await cluster.query('postgres', 'select pg_reload_conf()');
    };
    onTestFinished(() => setReadOnly('off'));
    const refused = { status: 503, code: 'SERVICE_UNAVAILABLE' };
    const room = await postroom.createRoom(ada, 'hall');
    const create = () =>
      postroom.send(`mutation { createPost(input: { room: "${room}", title: "t" }) { post { id } } }`, {}, ada.token);
    const read = () => postroom.send('{ users { data { name } } }');
    const readReadiness = async () => (await fetch(`${postroom.url}/ready`)).status;
    const reasons = () => postroom.log.map(({ reason }) => reason);
    expect(await read()).toMatchObject({ status: 200 });
    expect(await readReadiness()).toBe(200);

    await setReadOnly('on');
    await expect.poll(readReadiness).toBe(503);
    await expect.poll(create).toMatchObject(refused);
    expect(reasons()).toContainEqual(expect.stringMatching(/read-only transaction \(25006\)$/));
    // The connection is replaced: it may lead to a former primary.
    const ofDatabase = 'select pid from pg_stat_activity where datname = current_database()';
    const failed = (await cluster.query(name, `${ofDatabase} and query = 'rollback'`)).map(({ pid }) => pid);
    await expect.poll(() => cluster.query(name, `${ofDatabase} and pid = any($1)`, [failed])).toEqual([]);
    const reasonsAfterChange = async () => {
      await create();
      return reasons();
    };
    await expect.poll(reasonsAfterChange).toContainEqual(expect.stringMatching(/^it can only be read/));
    await cluster.query(name, terminateAll);
    expect(await read()).toMatchObject(refused);

    await setReadOnly('off');
    await expect.poll(create).toMatchObject({ status: 200 });
    expect(await read()).toMatchObject({ status: 200 });
    expect(await readReadiness()).toBe(200);
  });

  it('a violated constraint is logged without the values of its row', async () => {
    const name = await cluster.createDatabase();
    const postroom = await launchForTest({ DATABASE_URL: cluster.url(name), SESSION_KEY: newSessionKey() });
    const ada = await postroom.signUp('Ada');
    await cluster.query(name, 'alter table rooms add constraint "neverMet" check (name is null)');
    const create = 'mutation ($name: String!) { createRoom(input: { name: $name }) { room { id } } }';
    expect(await postroom.send(create, { name: 'confidential' }, ada.token)).toMatchObject({
      code: 'INTERNAL_SERVER_ERROR',
    });
    expect(JSON.stringify(postroom.log)).toContain('neverMet');
    expect(JSON.stringify(postroom.log)).not.toContain('confidential');
  });

  it('an event that cannot be read while the database is down is delivered afterwards, with its content', async () => {
    const name = await cluster.createDatabase();
    const proxy = await createFaultProxy(cluster.url(name));
    onTestFinished(() => proxy.close());
    const [nearBus, farBus] = createUnreliablePair('none');
    const SESSION_KEY = newSessionKey();
    const near = await launchForTest({ DATABASE_URL: cluster.url(name), SESSION_KEY }, { bus: nearBus });
    const far = await launchForTest({ DATABASE_URL: proxy.url, SESSION_KEY }, { bus: farBus });
    const ada = await near.signUp('Ada');
    const room = await near.createRoom(ada, 'hall');
    const socket = await ProtocolSocket.open(far.webSocketUrl);
    const posts = 'posts(last: 1) { title }';
    await socket.follow('1', `subscription { roomEvents(room: "${room}") { actor { ${posts} } } }`);
    proxy.retarget('http://127.0.0.1:1');
    await near.createPost(ada, room, 'written meanwhile');
    const failed = 'the live feed failed, and tries again';
    await expect.poll(() => far.log.map(({ msg }) => msg)).toContain(failed);
    proxy.retarget(cluster.url(name));
    const { payload } = await socket.take(({ type }) => type === 'next');
    expect(payload.errors).toBeUndefined();
    expect(payload.data).toEqual({ roomEvents: { actor: { posts: [{ title: 'written meanwhile' }] } } });
  });

  describe('a deadlock', () => {
    it('is ended by running a transaction again', async () => {
      const { database } = await openNew();
      const [one, other] = await database.transaction(async (db) => [
        await insertUser(db, { name: 'one' }),
        await insertUser(db, { name: 'other' }),
      ]);
      if (!one || !other) throw new Error('Users are missing.');
      let runs = 0;
      let locked = 0;
      const both = Promise.withResolvers<void>();
      const lockBoth = (ids: readonly string[]) =>
        database.transaction(async (db) => {
          runs += 1;
          const lock = (id: string | undefined) =>
            sql`update users set version = version + 1 where id = ${id}`.execute(db);
          await lock(ids[0]);
          locked += 1;
          if (locked === 2) both.resolve();
          await both.promise;
          await lock(ids[1]);
        });
      await Promise.all([lockBoth([one.id, other.id]), lockBoth([other.id, one.id])]);
      // The transaction that runs again can lock its first row before the other one is woken, which is a second deadlock.
      expect(runs).toBeGreaterThanOrEqual(3);
      expect(await findUser(database.db, one.id)).toMatchObject({ version: 3 });
      expect(await findUser(database.db, other.id)).toMatchObject({ version: 3 });
    });
  });

  describe('a row that many transactions share can be locked exclusively, and then they continue', () => {
    it.each<[string, (db: Db, rows: { user: string; room: string; post: string }, lock: RowLock) => Promise<unknown>]>([
      ['a user', (db, { user }, lock) => findUser(db, user, lock)],
      ['an account', (db, { user }, lock) => findAccount(db, user, lock)],
      ['a room', (db, { room }, lock) => findRoom(db, room, lock)],
      ['the room of a post', (db, { post }, lock) => findRoomOfPost(db, post, lock)],
      ['a post', (db, { post }, lock) => findPost(db, post, lock)],
    ])('%s', async (_, find) => {
      const { database } = await openNew();
      const rows = await database.transaction(async (db) => {
        const { id: user } = await insertUser(db, { name: 'Ada' });
        const { id: room } = await insertRoom(db, createRoomRow({ name: 'hall' }));
        const row = createPostRow({ roomId: room, authorId: user, title: 'one', body: null, publishedAt: Date.now() });
        await insertPost(db, row);
        return { user, room, post: row.id };
      });
      let isDone = false;
      let shared = 0;
      const share = async () => {
        while (!isDone) {
          await database.transaction(async (db) => {
            await find(db, rows, 'share');
            await sql`select pg_sleep(0.005 + 0.03 * random())`.execute(db);
          });
          shared += 1;
        }
      };
      const sharing = Array.from({ length: 7 }, share);
      for (let round = 0; round < 10; round += 1) await database.transaction((db) => find(db, rows, 'exclusive'));
      const before = shared;
      await expect.poll(() => shared).toBeGreaterThan(before);
      isDone = true;
      await Promise.all(sharing);
    });
  });

  it('an import finds its author among more users of the same name than the server has locks', async () => {
    const name = await cluster.createDatabase();
    const settings = { DATABASE_URL: cluster.url(name) };
    await (await openDatabase(settings.DATABASE_URL)).close();
    await cluster.query(
      name,
      `insert into users (id, name, "createdAt", "updatedAt", version) select 'u' || i, 'ada', i, i, 1 from generate_series(1, 60000) i`,
    );
    const imported = await run(['import', '-'], settings, toText([room, post(0)]));
    expect(imported).toMatchObject({ status: 0, stderr: '' });
    expect(imported.stdout).toMatch(/^posts: 1 added/m);
  });

  it('an account is erased from all of its events, also if trimming deletes some of them meanwhile', async () => {
    const name = await cluster.createDatabase();
    const settings = { DATABASE_URL: cluster.url(name), SESSION_KEY: newSessionKey() };
    const postroom = await launchForTest(settings);
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'hall');
    await postroom.ask(`mutation { deleteUser(input: { id: "${ada.id}" }) { user { id } } }`, {}, ada.token);
    await postroom.stop();
    // What a server that was killed leaves: more than several steps change.
    await cluster.query(
      name,
      `insert into "roomEvents" ("roomId", "seq", "mark", "previousMark", "at", "type", "subjectId", "version", "actorId")
       select '${room}', n, n, n - 1, n, 'PostUpdated', 'p', 1, '${ada.id}' from generate_series(1001, 1200) n`,
    );
    await cluster.query(name, `update users set "erasing" = 'ACCOUNT'`);
    const trimming = DirectPostgres.open(cluster.url(name));
    trimming.exec('begin; delete from "roomEvents" where "seq" between 1001 and 1009');
    await launchForTest(settings);
    await waitForActivity(name, `wait_event_type = 'Lock'`);
    trimming.exec('commit');
    trimming.close();
    await expect.poll(() => cluster.query(name, 'select 1 from users where "erasing" is not null')).toEqual([]);
    expect(await cluster.query(name, `select 1 from "roomEvents" where "actorId" = '${ada.id}'`)).toEqual([]);
  });

  describe('more callers than connections', () => {
    it('do not wait for each other for ever: a transaction runs beside as many snapshots as there can be', async () => {
      const { database } = await openNew();
      const writeInSnapshot = () =>
        database.snapshotDuringWrites(async (past) => {
          await database.transaction((db) => insertUser(db, { name: 'Ada' }));
          return countIn(past);
        });
      await Promise.all(Array.from({ length: 40 }, writeInSnapshot));
      expect(await countUsers(database)).toBe(40);
    });

    it('are refused after five seconds', async () => {
      const { database } = await openNew();
      const end = Promise.withResolvers<void>();
      const holders = Array.from({ length: 7 }, () => database.transaction(() => end.promise));
      const refused = database.transaction((db) => insertUser(db, { name: 'Ada' }));
      await expect(refused).rejects.toThrow(
        expect.objectContaining({ reason: 'no connection was free within 5000 ms' }),
      );
      end.resolve();
      await Promise.all(holders);
      expect(await countUsers(database)).toBe(0);
    });
  });

  describe('a prepared statement whose result has changed', () => {
    it('is prepared again, in reads and in transactions', async () => {
      const { name, database } = await openNew();
      const readAll = (db: Db) => sql<object>`select * from settings where name = 'none'`.execute(db);
      const upsert = (db: Db) =>
        sql<object>`insert into settings (name, value) values ('a', 'b') on conflict (name) do update set value = 'c' returning *`.execute(
          db,
        );
      for (let round = 0; round < 3; round += 1) {
        await Promise.all(
          Array.from({ length: 12 }, () => Promise.all([readAll(database.db), database.transaction(upsert)])),
        );
        await cluster.query(name, `alter table settings add column extra${round} text`);
      }
      const { rows } = await database.transaction(upsert);
      expect(Object.keys(rows[0] ?? {})).toEqual(['name', 'value', 'extra0', 'extra1', 'extra2']);
    });

    it('is prepared again, on another connection, if it is gone', async () => {
      const { database } = await openNew();
      const user = await database.transaction((db) => insertUser(db, { name: 'Ada' }));
      await findUser(database.db, user.id);
      // As a connection pooler does between two of its clients.
      await sql`deallocate all`.execute(database.db);
      expect(await findUser(database.db, user.id)).toMatchObject({ name: 'Ada' });
    });

    it('replaces idle connections instead of adding others', async () => {
      const { name, database } = await openNew();
      const read = (db: Db) => sql<object>`select * from settings`.execute(db);
      for (let round = 0; round < 4; round += 1) {
        // As many connections as there can be, all idle afterwards.
        const all = Promise.withResolvers<void>();
        let running = 0;
        const transactions = Array.from({ length: 7 }, () =>
          database.transaction(async (db) => {
            await read(db);
            running += 1;
            if (running === 7) all.resolve();
            await all.promise;
          }),
        );
        await Promise.all(transactions);
        await cluster.query(name, `alter table settings add column extra${round} text`);
        await database.transaction(read);
      }
      const connections = `select count(*)::int as count from pg_stat_activity where datname = '${name}' and application_name = 'postroom'`;
      await expect
        .poll(async () => Number((await cluster.query('postgres', connections))[0]?.['count']))
        .toBeLessThanOrEqual(8);
    });
  });

  it('a snapshot that is kept sees the state at its start', async () => {
    const { database } = await openNew();
    const counts = await database.snapshotDuringWrites(async (past) => {
      await database.transaction((db) => insertUser(db, { name: 'Ada' }));
      return [await countIn(past), await countUsers(database)];
    });
    expect(counts).toEqual([0, 1]);
  });
});

async function countIn(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as "count" from users`.execute(db);
  return rows[0]?.count ?? -1;
}
