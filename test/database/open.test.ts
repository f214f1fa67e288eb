// Runs on PostgreSQL.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Db } from '../../src/data/database/database.ts';
import { openDatabase } from '../../src/data/database/open-database.ts';
import { createRoomRow, insertRoom } from '../../src/data/domain/rooms.ts';
import { insertUser } from '../../src/data/domain/users.ts';
import { findSurplus, trimByAge, trimRoom } from '../../src/data/event-log/events.ts';
import { findLastPosts, findPostPage, type PostOrder } from '../../src/data/lists/post-lists.ts';
import { findRoomByName, findRoomPage } from '../../src/data/lists/room-lists.ts';
import { DirectPostgres } from '../support/database/direct-postgres.ts';
import { openForTest } from '../support/database/open-for-test.ts';
import { PostgresCluster, postgresPrograms } from '../support/database/postgres-cluster.ts';
import { newSessionKey } from '../support/database/test-database.ts';
import { launchForTest, run } from '../support/server/postroom.ts';

/* The start on a PostgreSQL server, the tables that it creates, and the statements that differ from those of SQLite. */

let cluster: PostgresCluster;

/** The standard error of a server that cannot start. */
async function refusalOf(url: string): Promise<string> {
  const { status, stderr } = await run(['key', 'create', '--name', 'k', '--scopes', 'read'], { DATABASE_URL: url });
  expect(status).toBe(1);
  expect(stderr.trimEnd()).not.toContain('\n');
  return stderr.trimEnd();
}

const title = postgresPrograms ? 'PostgreSQL' : 'PostgreSQL (skipped, because initdb is not installed)';

describe.skipIf(postgresPrograms === undefined)(title, () => {
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  });
  afterAll(() => cluster.remove());

  describe('a server that cannot be used is refused in one line, without the password', () => {
    it('because it does not listen', async () => {
      const refusal = await refusalOf('postgres://ada:hunter2@127.0.0.1:1/postroom');
      expect(refusal).toMatch(
        /^postroom: the database cannot be used: postgres:\/\/127.0.0.1:1\/postroom: .*ECONNREFUSED/,
      );
      expect(refusal).not.toContain('hunter2');
      const other = await refusalOf('postgres://localhost:1/postroom?user=ada&password=hunter2');
      expect(other).toMatch(
        /^postroom: the database cannot be used: postgres:\/\/localhost:1\/postroom: .*ECONNREFUSED/,
      );
      expect(other).not.toContain('hunter2');
    });

    it('because the password is wrong', async () => {
      await cluster.query('postgres', `create role ada login password 'right'`);
      const file = join(cluster.folder, 'pg_hba.conf');
      writeFileSync(file, `host all ada 127.0.0.1/32 scram-sha-256\n${readFileSync(file, 'utf8')}`);
      await cluster.query('postgres', 'select pg_reload_conf()');
      const refusal = await refusalOf(cluster.url('postgres', 'ada:hunter2'));
      expect(refusal).toMatch(/password authentication failed for user "ada" \(28P01\)$/);
      expect(refusal).not.toContain('hunter2');
    });

    it('because there is no such database', async () => {
      expect(await refusalOf(cluster.url('nowhere'))).toMatch(/database "nowhere" does not exist \(3D000\)$/);
    });

    it.each([
      'postgres://ada:hunter2@127.0.0.1:1',
      'postgres://ada:hunter2@127.0.0.1:1/?user=ada',
      'postgres://ada:hunter2/@127.0.0.1:1/postroom',
      'postgres://ada:hunter2#@127.0.0.1:1/postroom',
      'postgres://ada:hunter2?@127.0.0.1:1/postroom',
      'postgres://ada:hunter2@hunter2/@127.0.0.1:1/postroom',
      'postgresql://ada:hunter2@127.0.0.1:port/postroom',
    ])('because %s is not a URL with a database', async (url) => {
      const refusal = await refusalOf(url);
      expect(refusal).toMatch(/^postroom: DATABASE_URL must be postgres:\/\/.*percent-encoded \(got "postgres(ql)?:/);
      expect(refusal).not.toContain('hunter2');
    });

    it('because it does not support the TLS that the URL requires', async () => {
      const refusal = await refusalOf(`${cluster.url('postgres')}?sslmode=verify-full`);
      expect(refusal).toMatch(
        /^postroom: the database cannot be used: .*: The server does not support SSL connections$/,
      );
    });

    it('because it requires a password, and the URL has none', async () => {
      await cluster.query('postgres', `create role bob login password 'right'`);
      const file = join(cluster.folder, 'pg_hba.conf');
      writeFileSync(file, `host all bob 127.0.0.1/32 scram-sha-256\n${readFileSync(file, 'utf8')}`);
      await cluster.query('postgres', 'select pg_reload_conf()');
      expect(await refusalOf(cluster.url('postgres', 'bob'))).toMatch(
        /^postroom: the database cannot be used: .*password must be a string$/,
      );
    });

    it('because its encoding is not UTF8', async () => {
      const name = await cluster.createDatabase(`encoding 'LATIN1' locale 'C' template template0`);
      expect(await refusalOf(cluster.url(name))).toMatch(/its encoding is LATIN1; Postroom needs UTF8$/);
    });

    it('because it can only be read', async () => {
      const name = await cluster.createDatabase();
      await cluster.query('postgres', `alter database ${name} set default_transaction_read_only = on`);
      expect(await refusalOf(cluster.url(name))).toMatch(/it can only be read/);
    });

    it('because a newer Postroom has changed its tables', async () => {
      const name = await cluster.createDatabase();
      await (await openDatabase(cluster.url(name))).close();
      await cluster.query(name, 'update migrations set seen = 99, needed = 98');
      expect(await refusalOf(cluster.url(name))).toMatch(/written by a newer Postroom \(its tables need .* version 98/);
    });
  });

  describe('migrations', () => {
    it('run once if several nodes start at the same time', async () => {
      const name = await cluster.createDatabase();
      await Promise.all(Array.from({ length: 6 }, () => openForTest(cluster.url(name))));
      expect(await cluster.query(name, 'select count(*)::int as count from migrations')).toEqual([{ count: 1 }]);
    });

    it('are not ended by the timeouts of other statements', async () => {
      const name = await cluster.createDatabase();
      const limits = ['statement_timeout', 'idle_in_transaction_session_timeout'];
      await cluster.query(
        name,
        `create function refuse() returns event_trigger language plpgsql as $$ begin
           if ${limits.map((limit) => `current_setting('${limit}') <> '0'`).join(' or ')}
           then raise exception 'The time is limited.'; end if; end $$;
         create event trigger refusing on ddl_command_start execute function refuse()`,
      );
      const database = await openForTest(cluster.url(name));
      for (const limit of limits) {
        const { rows } = await sql<{ limit: string }>`select current_setting(${limit}) as "limit"`.execute(database.db);
        expect(rows).toEqual([{ limit: '10s' }]);
      }
    });

    it('wait for a locked table in short attempts, so that others need not wait behind them, and then run', async () => {
      const name = await cluster.createDatabase();
      await (await openDatabase(cluster.url(name))).close();
      const locking = DirectPostgres.open(cluster.url(name));
      locking.exec('begin; lock table migrations');
      const opening = openForTest(cluster.url(name));
      const attempts = new Set<unknown>();
      const waiting = `select xact_start::text as start from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      const countAttempts = async () => {
        for (const { start } of await cluster.query(name, waiting)) attempts.add(start);
        return attempts.size;
      };
      await expect.poll(countAttempts).toBeGreaterThan(1);
      locking.exec('commit');
      locking.close();
      await opening;
    });

    it('of a newer program leave a database usable for this one, unless they say otherwise', async () => {
      const name = await cluster.createDatabase();
      const url = cluster.url(name);
      await (await openDatabase(url)).close();
      const [{ seen } = { seen: 0 }] = await cluster.query(name, 'select seen from migrations');
      await cluster.query(name, `update migrations set seen = ${Number(seen) + 1}`);
      await (await openDatabase(url)).close();
      expect(await cluster.query(name, 'select seen from migrations')).toEqual([{ seen: Number(seen) + 1 }]);
      await cluster.query(name, `update migrations set needed = ${Number(seen) + 1}`);
      await expect(openDatabase(url)).rejects.toThrow('newer Postroom');
    });
  });

  it('a start deletes the marks of connections that ended more than a week ago', async () => {
    const name = await cluster.createDatabase();
    await (await openDatabase(cluster.url(name))).close();
    const [past, present] = [0, Date.now()];
    await cluster.query(name, `insert into "commitMarks" values ('past', 1, ${past}), ('present', 1, ${present})`);
    await (await openDatabase(cluster.url(name))).close();
    expect(await cluster.query(name, 'select id from "commitMarks"')).toEqual([{ id: 'present' }]);
  });

  describe('a transaction whose durability the role has turned off', () => {
    it('is on disk nevertheless', async () => {
      const name = await cluster.createDatabase();
      await cluster.query('postgres', `alter database ${name} set synchronous_commit = off`);
      const database = await openForTest(cluster.url(name));
      const shown = await database.transaction(async (db) => sql<object>`show synchronous_commit`.execute(db));
      expect(shown.rows).toEqual([{ synchronous_commit: 'on' }]);
    });
  });

  describe('the indexes for searches', () => {
    const findIndexes = (name: string) =>
      cluster.query(name, `select indexname from pg_indexes where indexdef like '%gin_trgm_ops%' order by 1`);
    const lineOf = (reason: string) => ({ msg: 'searches read every row, because indexes are missing', reason });

    it('are created with the tables', async () => {
      const name = await cluster.createDatabase();
      const postroom = await launchForTest({ DATABASE_URL: cluster.url(name), SESSION_KEY: newSessionKey() });
      expect(await findIndexes(name)).toHaveLength(3);
      expect(postroom.log).toEqual([]);
    });

    it('of tables with rows are not created by a start, which would hold up the writes of other nodes', async () => {
      const name = await cluster.createDatabase();
      const settings = { DATABASE_URL: cluster.url(name), SESSION_KEY: newSessionKey() };
      const first = await launchForTest(settings);
      await first.signUp('Ada');
      for (const index of ['usersByPartOfName', 'roomsByPartOfName'])
        await cluster.query(name, `drop index "${index}"`);
      const second = await launchForTest(settings);
      expect(second.log).toMatchObject([lineOf('the tables of usersByPartOfName have rows')]);
      expect(await findIndexes(name)).toHaveLength(2);
    });

    it('are the same if an administrator creates them as documented', async () => {
      const [name, other] = [await cluster.createDatabase(), await cluster.createDatabase()];
      await openForTest(cluster.url(name));
      await openForTest(cluster.url(other));
      const find = (from: string) =>
        cluster.query(from, `select indexdef from pg_indexes where indexdef like '%gin_trgm_ops%' order by 1`);
      const created = await find(name);
      for (const { indexname } of await findIndexes(other)) await cluster.query(other, `drop index "${indexname}"`);
      const document = readFileSync(new URL('../../docs/nodes.md', import.meta.url), 'utf8');
      for (const [statement] of document.matchAll(/^create .*;$/gm)) await cluster.query(other, statement);
      expect(await find(other)).toEqual(created);
      expect(created).toHaveLength(3);
    });

    it('are missing if the user may not create the extension, and a search works nevertheless', async () => {
      const name = await cluster.createDatabase();
      await cluster.query('postgres', 'create role eve login');
      await cluster.query(name, 'grant create on schema public to eve');
      const DATABASE_URL = cluster.url(name, 'eve');
      const postroom = await launchForTest({ DATABASE_URL, SESSION_KEY: newSessionKey() });
      expect(postroom.log).toMatchObject([lineOf(expect.stringContaining('permission denied'))]);
      const { id } = await postroom.signUp('Ada');
      const search = '{ users(filter: { name: "da" }) { data { id } } }';
      expect((await postroom.ask(search)).users.data).toEqual([{ id }]);
    });
  });

  it('finds a part of a title as SQLite does', async () => {
    const titles = [
      'Ärger',
      'ärger',
      'İstanbul',
      'i̇stanbul',
      'ISTANBUL',
      '😀 smile',
      '100 %',
      'a_b',
      'aXb',
      'back\\slash',
      'ß',
      'SS',
      'ǅ',
    ];
    const searches = [
      ...titles,
      'Ä',
      'ä',
      'I',
      'i',
      'İ',
      '😀',
      '%',
      '_',
      '\\',
      'A_B',
      'a%b',
      'ss',
      '\u0000',
      '\ud800',
      '\ufffd',
      '',
    ];
    const name = await cluster.createDatabase();
    const found = [];
    for (const url of ['sqlite::memory:', cluster.url(name)]) {
      const database = await openForTest(url);
      await database.transaction((db) => writeTitles(db, titles));
      found.push(await Promise.all(searches.map((title) => findTitles(database.db, title))));
    }
    expect(found[1]).toEqual(found[0]);
    expect(found[0]?.some((titles) => titles.length > 0)).toBe(true);
  });

  it('reads a large database through indexes', async () => {
    const name = await cluster.createDatabase();
    await (await openDatabase(cluster.url(name))).close();
    const rows = [
      `insert into users select 'u' || i, 'user ' || i, null, null, null, 'MEMBER', 0, null, null, null, i, i, 1 from generate_series(1, 1000) i`,
      `insert into rooms (id, name, head, "createdAt", "updatedAt", version) select 'r' || i, 'room ' || i, 1000, i, i, 1 from generate_series(1, 100) i`,
      `insert into posts select 'p' || i, 'r' || i % 100 + 1, 'u' || i % 1000 + 1, 'title ' || md5(i::text), 'b', i, i, i, 1 from generate_series(1, 100000) i`,
      `insert into "roomEvents" ("roomId", seq, type, "subjectId", version, at) select 'r' || i % 100 + 1, i / 100 + 1, 'RoomUpdated', 'x', 1, i from generate_series(0, 99999) i`,
    ];
    await cluster.query(name, [...rows, 'analyze'].join('; '));
    const statements: string[] = [];
    const database = await openForTest(cluster.url(name), { onStatement: (sql) => statements.push(sql) });
    const reading = { viewerScope: { userId: null, seesAll: false }, readsBodies: false };
    const authors = Array.from({ length: 100 }, (_, index) => `u${index + 1}`);
    expect(await findLastPosts(database.db, reading, authors, 10)).toHaveLength(1_000);
    expect((await findPostPage(database.db, reading, { title: 'title 00ff' }, {}).data()).length).toBeGreaterThan(0);
    const before = statements.length;
    const timesOf = async (order: PostOrder) =>
      (await findPostPage(database.db, reading, {}, { page: 4_000, limit: 20, order }).data()).map(
        ({ publishedAt }) => publishedAt,
      );
    expect(await timesOf('OLDEST_FIRST')).toEqual(Array.from({ length: 20 }, (_, index) => 79_981 + index));
    expect(await timesOf('NEWEST_FIRST')).toEqual(Array.from({ length: 20 }, (_, index) => 20_020 - index));
    const deepPages = statements.splice(before).filter((sql) => sql.includes(' offset '));
    const plans = await Promise.all(deepPages.map((sql) => explain(name, sql, ['20', '79980'])));
    expect(plans[0]).toMatch(/Index (Only )?Scan using "postsByAge"/);
    // The same steps at the same cost.
    expect(plans.map((plan) => plan.replaceAll(' Backward', ''))).toEqual([plans[0], plans[0]]);
    expect(await database.transaction((db) => trimByAge(db, 'roomEvents', 0, 500))).toBe(0);
    const surplus = [];
    for await (const room of findSurplus(database.db, 900, AbortSignal.timeout(60_000))) surplus.push(room);
    expect(surplus).toHaveLength(100);
    for (const each of surplus.slice(0, 1)) expect(await database.transaction((db) => trimRoom(db, each, 50))).toBe(50);
    const large = statements.filter((sql) => /from "(posts|roomEvents|users)"/.test(sql));
    expect(large).toHaveLength(6);
    for (const sql of large) {
      const isSearch = sql.includes(' like ');
      const plan = await explain(name, sql, isSearch ? [`'%title 00ff%'`, '20', '0'] : undefined);
      expect(plan).not.toMatch(/Seq Scan on (posts|"roomEvents")/);
      if (isSearch) expect(plan).toContain('postsByTitle');
    }
  });

  it('reads first pages without reading the private rooms of others', async () => {
    const name = await cluster.createDatabase();
    await (await openDatabase(cluster.url(name))).close();
    const rows = [
      `insert into users select 'u' || i, 'user ' || i, null, null, null, 'MEMBER', 0, null, null, null, i, i, 1 from generate_series(1, 1000) i`,
      `insert into rooms (id, name, visibility, "ownerId", head, "createdAt", "updatedAt", version) select 'h' || i, 'hall', 'PRIVATE', 'u' || i, 0, i, i, 1 from generate_series(1, 1000) i`,
      `insert into rooms (id, name, visibility, head, "createdAt", "updatedAt", version) select 'p' || i, 'room ' || i, 'PRIVATE', 0, i, i, 1 from generate_series(1, 20000) i`,
      `insert into rooms (id, name, head, "createdAt", "updatedAt", version) select 'r' || i, 'room ' || i, 0, 100000 + i, i, 1 from generate_series(1, 1000) i`,
      `insert into "roomMembers" select 'p' || i, 'u' || i % 1000 + 1, 1 from generate_series(1, 20000) i`,
      `insert into posts select 'p' || i, (case when i % 2 = 0 then 'r' else 'p' end) || i % 1000 + 1, 'u' || i % 1000 + 1, 'title', 'b', i, i, i, 1 from generate_series(1, 50000) i`,
    ];
    await cluster.query(name, [...rows, 'analyze'].join('; '));
    const statements: string[] = [];
    const { db } = await openForTest(cluster.url(name), { onStatement: (sql) => statements.push(sql) });
    const viewerScope = { userId: 'u7', seesAll: false };
    const reading = { viewerScope, readsBodies: false };
    const before = statements.length;
    expect(await findRoomPage(db, viewerScope, {}, { limit: 1 }).data()).toMatchObject([{ id: 'p6' }]);
    expect(await findPostPage(db, reading, {}, { limit: 2 }).data()).toMatchObject([{ id: 'p2' }, { id: 'p4' }]);
    expect(await findLastPosts(db, reading, ['u7', 'u8'], 1)).toMatchObject([{ authorId: 'u7' }]);
    expect(await findRoomByName(db, viewerScope, 'room 7')).toMatchObject({ id: 'r7' });
    expect(await findRoomByName(db, viewerScope, 'hall')).toBeUndefined();
    const read = statements.slice(before);
    expect(read).toHaveLength(6);
    for (const sql of read) expect(await explain(name, sql, undefined), sql).not.toMatch(/Seq Scan on (rooms|posts)/);
  });

  /** The plan of a prepared statement for these values, or for all values. */
  async function explain(name: string, statement: string, values: string[] | undefined): Promise<string> {
    const parameters = new Set(statement.match(/\$\d+/g)).size;
    const statements = [
      `set plan_cache_mode = ${values ? 'force_custom_plan' : 'force_generic_plan'}`,
      `prepare statement as ${statement}`,
      `explain execute statement${parameters > 0 ? `(${values ?? Array(parameters).fill('null')})` : ''}`,
    ];
    const rows = await cluster.query(name, statements.join('; '));
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  }
});

async function writeTitles(db: Db, titles: readonly string[]): Promise<void> {
  const author = await insertUser(db, { name: 'Ada' });
  const room = createRoomRow({ name: 'hall' });
  await insertRoom(db, room);
  for (const [index, title] of titles.entries()) {
    const id = `p${index}`;
    const times = { publishedAt: index + 1, createdAt: 1, updatedAt: 1 };
    await db
      .insertInto('posts')
      .values({ id, roomId: room.id, authorId: author.id, title, body: null, ...times, version: 1 })
      .execute();
  }
}

async function findTitles(db: Db, title: string): Promise<string[]> {
  const reading = { viewerScope: { userId: null, seesAll: true }, readsBodies: false };
  const posts = await findPostPage(db, reading, { title }, { limit: 100 }).data();
  return posts.map(({ title }) => title);
}
