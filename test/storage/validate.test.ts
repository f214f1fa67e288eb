import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { launchForTest, run, type Settings, scratchFolder } from '../support/server/postroom.ts';
import { withDatabase } from '../support/server/shared-server.ts';

/* `postroom validate`. The tests of PostgreSQL are in test/database/validate.test.ts. */

/** The Node that runs the tests may have known vulnerabilities: test/commands/node-release.test.ts. */
const nodeWarning = /^node: warning: .*\n/;

async function validate(settings: Settings) {
  const { status, stdout, stderr } = await run(['validate'], settings);
  expect(stderr).toBe('');
  return { status, lines: stdout.replace(nodeWarning, '').trimEnd().split('\n') };
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

describe('postroom validate succeeds', () => {
  it('before the first start, creates nothing, and names variables that resemble settings', async () => {
    const folder = scratchFolder();
    const file = join(folder, 'data', 'postroom.db');
    expect(await validate({ DATABASE_URL: `sqlite:${file}`, LIMIT_DEPHT: '5' })).toEqual({
      status: 0,
      lines: [
        'settings: ok, LIMIT_DEPHT has no effect (LIMIT_DEPTH?)',
        'schema: ok',
        `database: ok, ${file}, whose tables the server will create`,
        'bus: ok, in this process only',
      ],
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('for the database of a server, while it runs', async () => {
    const { file, settings } = await makeDatabase();
    const postroom = await launchForTest(settings);
    expect(await validate(settings)).toEqual({
      status: 0,
      lines: [
        'settings: ok',
        'schema: ok',
        `database: ok, ${file}, version ${versionOf(file)}`,
        'bus: ok, in this process only',
      ],
    });
    await postroom.signUp('Ada');
  });

  it('for an older database whose server has stopped, which it does not migrate', async () => {
    const { file, settings } = await makeDatabase();
    const latest = versionOf(file);
    withDatabase(file, (db) => db.exec('update migrations set seen = 3, needed = 3'));
    const before = readFileSync(file);
    expect((await validate(settings)).lines).toContain(
      `database: ok, ${file}, version 3, which the server will migrate to ${latest}`,
    );
    expect(readFileSync(file).equals(before)).toBe(true);
  });
});

describe('postroom validate fails with a line for each problem,', () => {
  it('for bad settings, without the session key', async () => {
    expect(await validate({ PORT: 'x', LIMIT_DEPTH: '0', SESSION_KEY: 'hushed' })).toEqual({
      status: 1,
      lines: [
        'settings: failed: PORT must be a whole number from 0 to 65535 (got "x").',
        expect.stringMatching(/^settings: failed: SESSION_KEY must be (?!.*hushed)/),
        'settings: failed: LIMIT_DEPTH must be a whole number of at least 1 (got "0").',
        'schema: ok',
      ],
    });
  });

  it.each(['203.0.113.1', 'no.such.host.invalid'])('for the HOST %s, which is not of this machine', async (HOST) => {
    const { status, lines } = await validate({ HOST });
    expect(status).toBe(1);
    expect(lines[0]).toBe(`settings: failed: HOST must be an address or a name of this machine (got "${HOST}").`);
  });

  it.skipIf(!existsSync('/proc'))('for a database in a folder that cannot be created', async () => {
    for (const file of ['/proc/new/postroom.db', '/proc/a/b/postroom.db', '/proc/postroom.db']) {
      const { status, lines } = await validate({ DATABASE_URL: `sqlite:${file}` });
      expect(status, file).toBe(1);
      const reason = `database: failed: the database cannot be used: ${file}: nothing can be created in /proc: ENOENT`;
      expect(lines[2]?.slice(0, reason.length)).toBe(reason);
      expect(lines[2]).not.toContain('disk is full');
    }
  });

  it('for a database in a folder that is a file', async () => {
    const file = join(scratchFolder(), 'file');
    writeFileSync(file, 'kept');
    for (const path of [join(file, 'postroom.db'), join(file, 'new', 'postroom.db')]) {
      const { status, lines } = await validate({ DATABASE_URL: `sqlite:${path}` });
      expect(status).toBe(1);
      expect(lines[2]).toMatch(`cannot be used: ${path}: nothing can be created in ${file}: ENOTDIR`);
    }
    expect(readFileSync(file, 'utf8')).toBe('kept');
  });

  it('for a bad stored session key', async () => {
    const { file, settings } = await makeDatabase();
    writeFileSync(join(file, '..', 'session-key.pem'), 'hushed');
    const { status, lines } = await validate(settings);
    expect(status).toBe(1);
    expect(lines[2]).toMatch(/^database: failed: SESSION_KEY must be .*session-key\.pem/);
  });

  it('for a database that is damaged', async () => {
    const { file, settings } = await makeDatabase();
    writeFileSync(file, 'noise');
    const { status, lines } = await validate(settings);
    expect(status).toBe(1);
    expect(lines[2]).toMatch(new RegExp(`^database: failed: the database cannot be used: ${file}: .*not a database`));
  });

  it('for trusted documents that the schema does not allow, a database of a newer program, and a Redis that does not answer, without its password', async () => {
    const { file, settings } = await makeDatabase();
    withDatabase(file, (db) => db.exec('update migrations set needed = 999'));
    const documents = join(scratchFolder(), 'documents.json');
    writeFileSync(documents, JSON.stringify({ a: '{ nothing }' }));
    const REDIS_URL = 'redis://:hushed@127.0.0.1:1';
    expect(await validate({ ...settings, TRUSTED_DOCUMENTS: documents, REDIS_URL })).toEqual({
      status: 1,
      lines: [
        'settings: ok',
        expect.stringMatching(/^schema: failed: TRUSTED_DOCUMENTS /),
        expect.stringMatching(new RegExp(`^database: failed: the database cannot be used: ${file}: .*newer`)),
        'bus: failed: Redis 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1',
      ],
    });
  });

  it('under its earlier name, too', async () => {
    expect(await run(['check'], { PORT: 'x' })).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('PORT must'),
    });
  });

  it('and prints its usage for arguments', async () => {
    expect(await run(['validate', 'all'])).toMatchObject({ status: 1, stderr: expect.stringContaining('usage: ') });
  });
});
