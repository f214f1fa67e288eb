import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { launchForTest, launchProcessForTest, run, type Settings, scratchFolder } from '../support/server/postroom.ts';
import { withDatabase } from '../support/server/shared-server.ts';

/* `postroom check`. The tests of PostgreSQL are in postgres-check. */

async function check(settings: Settings) {
  const { status, stdout, stderr } = await run(['check'], settings);
  expect(stderr).toBe('');
  return { status, lines: stdout.trimEnd().split('\n') };
}

/** A database whose server has stopped. */
async function makeDatabase(): Promise<{ file: string; settings: Settings }> {
  const file = join(scratchFolder(), 'postroom.db');
  const settings = { DATABASE_URL: `sqlite:${file}` };
  await (await launchForTest(settings)).stop();
  return { file, settings };
}

/** The version of the tables that this program creates. */
function versionOf(file: string): number {
  return Number(withDatabase(file, (db) => db.prepare('select "seen" from migrations').get()?.['seen']));
}

describe('the check succeeds', () => {
  it('before the first start, and creates nothing', async () => {
    const folder = scratchFolder();
    const file = join(folder, 'data', 'postroom.db');
    expect(await check({ DATABASE_URL: `sqlite:${file}` })).toEqual({
      status: 0,
      lines: [
        'settings: ok',
        'schema: ok',
        `database: ok, ${file}, whose tables the server will create`,
        'bus: ok, in this process only',
      ],
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('for the database of a server, also while it runs', async () => {
    const { file, settings } = await makeDatabase();
    const line = `database: ok, ${file}, version ${versionOf(file)}`;
    expect((await check(settings)).lines).toContain(line);
    const postroom = await launchProcessForTest(settings);
    expect(await check(settings)).toMatchObject({ status: 0, lines: expect.arrayContaining([line]) });
    await postroom.signUp('Ada');
  });

  it('for an older database, which it does not migrate', async () => {
    const { file, settings } = await makeDatabase();
    const latest = versionOf(file);
    withDatabase(file, (db) => db.exec('update migrations set seen = 3, needed = 3'));
    const before = readFileSync(file);
    expect((await check(settings)).lines).toContain(
      `database: ok, ${file}, version 3, which the server will migrate to ${latest}`,
    );
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('and names variables that resemble settings', async () => {
    const { status, lines } = await check({ DATABASE_URL: 'sqlite::memory:', LIMIT_DEPHT: '5' });
    expect({ status, line: lines[0] }).toEqual({
      status: 0,
      line: 'settings: ok, LIMIT_DEPHT has no effect (LIMIT_DEPTH?)',
    });
  });
});

describe('the check fails with a line for each problem,', () => {
  it('for bad settings', async () => {
    expect(await check({ PORT: 'x', LIMIT_DEPTH: '0' })).toEqual({
      status: 1,
      lines: [
        'settings: failed: PORT must be a whole number from 0 to 65535 (got "x").',
        'settings: failed: LIMIT_DEPTH must be a whole number of at least 1 (got "0").',
        'schema: ok',
      ],
    });
  });

  it('for a bad session key, given or stored', async () => {
    const { file, settings } = await makeDatabase();
    const given = await check({ ...settings, SESSION_KEY: 'hushed' });
    expect(given.status).toBe(1);
    expect(given.lines[0]).toMatch(/^settings: failed: SESSION_KEY must be /);
    expect(given.lines.join()).not.toContain('hushed');
    writeFileSync(join(file, '..', 'session-key.pem'), 'hushed');
    const stored = await check(settings);
    expect(stored.status).toBe(1);
    expect(stored.lines[2]).toMatch(/^database: failed: SESSION_KEY must be .*session-key\.pem/);
  });

  it('for trusted documents that the schema does not allow', async () => {
    const path = join(scratchFolder(), 'documents.json');
    writeFileSync(path, JSON.stringify({ a: '{ nothing }' }));
    const { status, lines } = await check({ DATABASE_URL: 'sqlite::memory:', TRUSTED_DOCUMENTS: path });
    expect(status).toBe(1);
    expect(lines[1]).toMatch(/^schema: failed: TRUSTED_DOCUMENTS /);
  });

  it.each([
    [
      'of a newer program',
      (file: string) => withDatabase(file, (db) => db.exec('update migrations set needed = 999')),
      'newer',
    ],
    ['that is damaged', (file: string) => writeFileSync(file, 'noise'), 'not a database'],
  ])('for a database %s', async (_, spoil, reason) => {
    const { file, settings } = await makeDatabase();
    spoil(file);
    const { status, lines } = await check(settings);
    expect(status).toBe(1);
    expect(lines[2]).toMatch(new RegExp(`^database: failed: the database cannot be used: ${file}: .*${reason}`));
  });

  it('for a Redis that does not answer, without its password', async () => {
    const { status, lines } = await check({
      DATABASE_URL: 'sqlite::memory:',
      REDIS_URL: 'redis://:hushed@127.0.0.1:1',
    });
    expect(status).toBe(1);
    expect(lines[3]).toBe('bus: failed: Redis 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1');
    expect(lines.join()).not.toContain('hushed');
  });

  it('and prints its usage for arguments', async () => {
    expect(await run(['check', 'all'])).toMatchObject({ status: 1, stderr: expect.stringContaining('usage: ') });
  });
});
