// Runs on PostgreSQL.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresCluster, postgresPrograms } from '../support/database/postgres-cluster.ts';
import { newSessionKey } from '../support/database/test-database.ts';
import { launchForTest, run } from '../support/server/postroom.ts';

/* `postroom validate` with PostgreSQL. */

const skipped = postgresPrograms === undefined ? ' (skipped, because initdb is not installed)' : '';
const SESSION_KEY = newSessionKey();
/** The Node that runs the tests may have known vulnerabilities: test/commands/node-release.test.ts. */
const nodeWarning = /^node: warning: .*\n/;

describe.skipIf(skipped !== '')(`postroom validate, for a PostgreSQL database${skipped}`, () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  });
  afterAll(() => cluster.remove());

  async function validate(url: string) {
    const { status, stdout } = await run(['validate'], { DATABASE_URL: url, SESSION_KEY });
    return { status, lines: stdout.replace(nodeWarning, '').trimEnd().split('\n') };
  }

  it('names its version, and does not create, migrate or change its tables', async () => {
    const database = await cluster.createDatabase();
    const url = cluster.url(database);
    const name = `postgres://127.0.0.1:${cluster.port}/${database}`;
    const tables = `select * from information_schema.tables where table_schema = 'public'`;
    expect(await validate(url)).toEqual({
      status: 0,
      lines: [
        'settings: ok',
        'schema: ok',
        `database: ok, ${name}, whose tables the server will create`,
        "bus: ok, PostgreSQL's notifications",
      ],
    });
    expect(await cluster.query(database, tables)).toEqual([]);
    await (await launchForTest({ DATABASE_URL: url, SESSION_KEY })).stop();
    const [row] = await cluster.query(database, 'select seen from migrations');
    expect((await validate(url)).lines[2]).toBe(`database: ok, ${name}, version ${row?.['seen']}`);
    await cluster.query(database, 'update migrations set seen = 3, needed = 3');
    expect((await validate(url)).lines[2]).toBe(
      `database: ok, ${name}, version 3, which the server will migrate to ${row?.['seen']}`,
    );
    expect(await cluster.query(database, 'select seen from migrations')).toEqual([{ seen: 3 }]);
  });

  it('fails if the database is newer, missing, or not UTF8, and if the server does not answer', async () => {
    const newer = await cluster.createDatabase();
    await cluster.query(newer, 'create table migrations (seen integer, needed integer)');
    await cluster.query(newer, 'insert into migrations values (999, 999)');
    const latin = await cluster.createDatabase("encoding 'LATIN1' locale 'C' template template0");
    for (const [url, reason] of [
      [cluster.url(newer), 'newer Postroom'],
      [cluster.url('missing'), 'does not exist'],
      [cluster.url(latin), 'its encoding is LATIN1'],
      ['postgres://ada:hushed@127.0.0.1:1/postroom', 'ECONNREFUSED'],
    ] as const) {
      const { status, lines } = await validate(url);
      expect(status).toBe(1);
      expect(lines[2]).toMatch(new RegExp(`^database: failed: the database cannot be used: .*${reason}`));
      expect(lines.join()).not.toContain('hushed');
    }
  });
});
