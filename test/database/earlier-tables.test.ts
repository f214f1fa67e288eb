import { describe, expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { postgresPrograms } from '../support/database/postgres-cluster.ts';
import { type Archive, archives, createDatabase, load } from '../support/earlier-tables/archive.ts';
import { openCursor } from '../support/rooms/cursors.ts';
import { launchForTest, type Postroom } from '../support/server/postroom.ts';

/*
 * Databases that earlier programs have written, each with the same requests. The files were written with `pg_dump --inserts`,
 * and with the `iterdump` of Python's sqlite3.
 */

/** The cursors of programs before this version identified a history by an epoch. */
const firstWithMarks = 2;
const events = `subscription ($room: ID!, $after: String) {
  roomEvents(room: $room, after: $after) { __typename cursor ... on PostCreated { post { title } } }
}`;
const createPost = 'mutation ($room: ID!) { createPost(input: { room: $room, title: "new" }) { post { id } } }';

async function signIn(postroom: Postroom, name: string): Promise<string> {
  const mutation = `mutation { signIn(input: { email: "${name}@example.org", password: "correct horse" }) { accessToken } }`;
  return (await postroom.ask(mutation)).signIn.accessToken;
}

async function resume({ webSocketUrl }: Postroom, room: string, after: string) {
  const socket = await ProtocolSocket.open(webSocketUrl);
  return socket.subscribe('e', events, { room, after });
}

/**
 * The tables and indexes, with their columns in the order of the alphabet; without the indexes for searches, which a start does
 * not create for tables with rows.
 */
const structure = {
  sqlite: `select t.name as "table", c.name, c.type, c."notnull", c.dflt_value, c.pk
    from sqlite_schema t, pragma_table_xinfo(t.name) c where t.type = 'table'
    union all select tbl_name, name, sql, null, null, null from sqlite_schema where type = 'index' order by 1, 2`,
  postgres: `select table_name, column_name, data_type, collation_name, is_nullable, column_default
    from information_schema.columns where table_schema = 'public'
    union all select tablename, indexname, indexdef, null, null, null from pg_indexes
      where schemaname = 'public' and indexdef not like '%gin_trgm_ops%'
    union all select conrelid::regclass::text, conname, pg_get_constraintdef(oid), null, null, null
      from pg_constraint where connamespace = 'public'::regnamespace order by 1, 2, 3`,
};

function titleOf({ database, version }: Archive): string {
  const isSkipped = database === 'postgres' && postgresPrograms === undefined;
  return `${database}, version ${version}${isSkipped ? ' (skipped, because initdb is not installed)' : ''}`;
}

for (const archive of archives) {
  const { database: kind, version, lobby: room, apiKey, cursor, pageEnd } = archive;
  describe.skipIf(kind === 'postgres' && postgresPrograms === undefined)(titleOf(archive), () => {
    it('all that an earlier version has stored is served: accounts, passwords, keys, rooms, posts and pages', async () => {
      const { settings } = await load(archive);
      const postroom = await launchForTest(settings);
      const [ada, bob] = [await signIn(postroom, 'ada'), await signIn(postroom, 'bob')];
      const rooms = `{ rooms { data { name visibility viewerRole owner { name }
        posts(first: 5) { nodes { title body author { name } } } members { nodes { name } } } } }`;
      const body = (number: number) => `It's the body of "${number}".\nÜ`;
      const lobby = {
        name: 'lobby',
        visibility: 'PUBLIC',
        owner: { name: 'Ada' },
        posts: {
          nodes: [
            { title: 'post 2', body: body(2), author: { name: 'Bob' } },
            { title: 'post 3, changed', body: body(3), author: { name: 'Ada' } },
            { title: 'post 4', body: null, author: { name: 'deleted user' } },
            { title: 'post 5', body: null, author: { name: 'Ada' } },
          ],
        },
        members: { nodes: [{ name: 'Ada' }] },
      };
      const den = {
        name: 'den',
        visibility: 'PRIVATE',
        viewerRole: 'MEMBER',
        owner: { name: 'Ada' },
        posts: { nodes: [{ title: 'secret', body: null, author: { name: 'Bob' } }] },
        members: { nodes: [{ name: 'Ada' }, { name: 'Bob' }] },
      };
      expect((await postroom.ask(rooms)).rooms.data).toEqual([{ ...lobby, viewerRole: null }]);
      expect((await postroom.ask(rooms, {}, bob)).rooms.data).toEqual([{ ...lobby, viewerRole: null }, den]);
      const drafts = '{ viewer { drafts { data { title } } apiKeys { name lastUsedAt } } }';
      expect((await postroom.ask(drafts, {}, ada)).viewer).toEqual({
        drafts: { data: [{ title: 'draft' }] },
        apiKeys: [{ name: 'app', lastUsedAt: null }],
      });
      const page = `query ($room: ID!, $after: String) {
        viewer { name } room(id: $room) { posts(first: 2, after: $after) { nodes { title } pageInfo { hasNextPage } } }
      }`;
      const response = await fetch(postroom.graphqlUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `ApiKey ${apiKey}` },
        body: JSON.stringify({ query: page, variables: { room, after: pageEnd } }),
      });
      const posts = { nodes: [{ title: 'post 3, changed' }, { title: 'post 4' }], pageInfo: { hasNextPage: true } };
      expect(await response.json()).toEqual({ data: { viewer: { name: 'app' }, room: { posts } } });
    });

    it('a cursor resumes where it was, or is CURSOR_EXPIRED with a cursor that does, if it has no mark', async () => {
      const { settings, execute } = await load(archive);
      const postroom = await launchForTest(settings);
      const token = await signIn(postroom, 'ada');
      let { results, start, refused } = await resume(postroom, room, cursor);
      const missed = ['post 4', 'post 5', 'PostUpdated', 'PostDeleted'];
      if (version < firstWithMarks) {
        const [error] = await refused;
        expect(error?.extensions.code).toBe('CURSOR_EXPIRED');
        missed.length = 0;
        ({ results, start } = await resume(postroom, room, error?.extensions.live?.cursor ?? ''));
      }
      await start;
      await postroom.ask(createPost, { room }, token);
      const received = (await results.take(missed.length + 1)).map(({ data }) => data.roomEvents);
      expect(received.map(({ __typename, post }) => post?.title ?? __typename)).toEqual([...missed, 'new']);
      expect(openCursor(received.at(-1).cursor).seq).toBe(8);
      // Events that got their marks from a migration have different ones, too.
      const marks = await execute(`select "mark" from "roomEvents" where "roomId" = '${room}'`);
      expect(new Set(marks.map(({ mark }) => mark)).size).toBe(8);
    });

    it('names and e-mail addresses that were stored decomposed are found in either form; of two that are then the same, the oldest', async () => {
      const { settings, execute } = await load(archive);
      const insert = (table: string, row: Record<string, string | number>) => {
        const columns = Object.keys(row).map((column) => `"${column}"`);
        const values = Object.values(row).map((value) => (typeof value === 'string' ? `'${value}'` : value));
        return execute(`insert into ${table} (${columns}) values (${values})`);
      };
      const times = { createdAt: 1, updatedAt: 1, version: 1 };
      const [password] = await execute(`select "passwordHash" from users where "emailKey" = 'ada@example.org'`);
      const passwordHash = String(password?.['passwordHash']);
      const address = `zoe\u0308@example.org`;
      await insert('users', { ...times, id: 'u1', name: 'Zoe\u0308', email: address, emailKey: address, passwordHash });
      await insert('users', { ...times, id: 'u2', name: 'Zo\u00eb' });
      const rooms = [
        // Two orders of the same marks, and a room that has the composed name already.
        { id: 'r1', name: 'vie\u0323\u0302t' },
        { id: 'r2', name: 'vi\u00ea\u0323t' },
        { id: 'r3', name: 'cafe\u0301' },
        { id: 'r4', name: 'caf\u00e9' },
        { id: 'r5', name: 'cafe\u0301', visibility: 'PRIVATE', ownerId: 'u1' },
        { id: 'r6', name: 'cafe\u0301', visibility: 'PRIVATE', ownerId: 'u2' },
      ];
      for (const row of rooms) await insert('rooms', { ...times, head: 0, ...row });
      const postroom = await launchForTest(settings);
      for (const email of [address, address.normalize('NFC')])
        await postroom.ask(
          `mutation { signIn(input: { email: "${email}", password: "correct horse" }) { accessToken } }`,
        );
      const found = await postroom.ask(`{
        users(filter: { name: "zo\u00eb" }) { data { id name } }
        viet: roomByName(name: "vie\u0323\u0302t") { id }
        cafe: roomByName(name: "cafe\u0301") { id }
      }`);
      const name = 'Zo\u00eb';
      expect(found).toEqual({
        users: {
          data: [
            { id: 'u1', name },
            { id: 'u2', name },
          ],
        },
        viet: { id: 'r1' },
        cafe: { id: 'r4' },
      });
      const stored = await execute(`select "id", "name" from rooms where "id" < 'r7' order by "id"`);
      const names = ['vi\u1ec7t', 'vi\u00ea\u0323t', 'cafe\u0301', 'caf\u00e9', 'caf\u00e9', 'caf\u00e9'];
      expect(stored.filter(({ id }) => String(id).length === 2).map(({ name }) => name)).toEqual(names);
    });

    it('the first start gives the database the tables and indexes of a new one', async () => {
      const [migrated, created] = [await load(archive), await createDatabase(kind)];
      for (const { settings } of [migrated, created]) await (await launchForTest(settings)).stop();
      const [actual, expected] = [await migrated.execute(structure[kind]), await created.execute(structure[kind])];
      expect(expected.length).toBeGreaterThan(60);
      expect(actual).toEqual(expected);
      const migrations = 'select * from migrations';
      expect(await migrated.execute(migrations)).toEqual(await created.execute(migrations));
      const names = 'select * from "appliedMigrations" order by "owner", "name"';
      expect(await migrated.execute(names)).toEqual(await created.execute(names));
    });

    it('a migration runs that a changed program has left out, although it has run as many of its own', async () => {
      const { execute, settings } = await createDatabase(kind);
      await (await launchForTest(settings)).stop();
      await execute('drop table "directRooms"');
      await execute(`update "appliedMigrations" set "name" = 'own table' where "name" = 'direct rooms'`);
      const [{ seen, needed } = {}] = await execute('select * from migrations');
      await execute('update migrations set seen = seen + 1, needed = 1');
      await (await launchForTest(settings)).stop();
      expect(await execute('select * from "directRooms"')).toEqual([]);
      // Older programs than this one must not write the tables from now on.
      expect(await execute('select * from migrations')).toEqual([{ seen: Number(seen) + 1, needed }]);
    });
  });
}
