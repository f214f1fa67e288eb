import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasStrace } from '../support/database/disk-trace.ts';
import {
  copyStates,
  newTitles,
  oldTitles,
  readTitles,
  settingsOf,
  shareTwoStates,
} from '../support/rooms/two-states.ts';
import {
  launchForTest,
  main,
  mainProgram,
  programEnvironment,
  run,
  scratchFolder,
} from '../support/server/postroom.ts';

/* `postroom restore`, of a backup with fewer posts than the database. */

const states = await shareTwoStates();

function restore(folder: string, ...options: string[]) {
  return run(['restore', join(folder, 'backup'), ...options], settingsOf(folder));
}

/** Runs the command and expects one line of error, and that no file beside the database changes. */
async function expectRefused(folder: string, ...options: string[]): Promise<string> {
  const before = readdirSync(folder);
  const { status, stdout, stderr } = await restore(folder, ...options);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^postroom: [^\n]+\n$/);
  expect(readdirSync(folder).filter((name) => !/-(wal|shm)$/.test(name))).toEqual(
    before.filter((name) => !/-(wal|shm)$/.test(name)),
  );
  return stderr;
}

/** Reads the titles without a server, and expects that the database is whole. */
function expectKept(folder: string): void {
  const database = new DatabaseSync(join(folder, 'postroom.db'));
  try {
    expect(database.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    const rows = database.prepare('select "title" from posts order by "publishedAt"').all();
    expect(rows.map(({ title }) => title)).toEqual(newTitles);
  } finally {
    database.close();
  }
}

function change(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

describe('a restored backup', () => {
  it('replaces the database and its write-ahead log, is one file that only its owner may read, and says what is undone', async () => {
    const folder = copyStates(states);
    expect(statSync(join(folder, 'postroom.db-wal')).size).toBeGreaterThan(0);
    const { status, stdout, stderr } = await restore(folder, '--force');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(readdirSync(folder).sort()).toEqual(['backup', 'postroom.db', 'session-key.pem']);
    expect(statSync(join(folder, 'postroom.db')).mode & 0o777).toBe(0o600);
    const database = new DatabaseSync(join(folder, 'backup'), { readOnly: true });
    const newest = Number(database.prepare('select max("at") as at from "roomEvents"').get()?.['at']);
    database.close();
    expect(stdout.split('\n')[0]).toBe(
      `Restored ${join(folder, 'backup')} (rooms: 1, users: 1, posts: 3, newest event: ${new Date(newest).toISOString()}).`,
    );
    for (const word of ['deleted', 'API keys', 'sessions', 'members', 'CURSOR_EXPIRED']) expect(stdout).toContain(word);
    expect(await readTitles(folder, states)).toEqual(oldTitles);
  });

  it('needs no --force where there is no database, and creates its folder', async () => {
    const folder = join(scratchFolder(), 'made', 'by', 'it');
    const file = join(copyStates(states), 'backup');
    expect(await run(['restore', file], settingsOf(folder))).toMatchObject({ status: 0 });
    expect(readdirSync(folder)).toEqual(['postroom.db']);
    expect(await readTitles(folder, { ...states, ada: await signIn(folder) })).toEqual(oldTitles);
  });

  it('may be a copy of a database with its write-ahead log', async () => {
    const folder = copyStates(states);
    for (const suffix of ['', '-wal'])
      renameSync(join(folder, `postroom.db${suffix}`), join(folder, `backup${suffix}`));
    rmSync(join(folder, 'postroom.db-shm'));
    expect(await restore(folder)).toMatchObject({ status: 0 });
    expect(await readTitles(folder, states)).toEqual(newTitles);
  });

  it.each<[string, (file: string) => void]>([
    // SQLite can lock it, but not copy its log into it.
    ['that is cut off, and has a log', (file) => truncateSync(file, 5_000)],
    [
      'of which the first page is damaged, so that SQLite cannot lock it, and that has no log',
      (file) => {
        writeFileSync(file, 'noise');
        for (const suffix of ['-wal', '-shm']) rmSync(file + suffix);
      },
    ],
  ])('replaces a damaged database %s', async (_, damage) => {
    const folder = copyStates(states);
    damage(join(folder, 'postroom.db'));
    expect(await restore(folder, '--force')).toMatchObject({ status: 0, stderr: '' });
    expect(await readTitles(folder, states)).toEqual(oldTitles);
  });

  it('replaces the target of a symbolic link, and belongs to its owner (which needs root)', async () => {
    const folder = copyStates(states);
    mkdirSync(join(folder, 'disk'));
    for (const suffix of ['', '-wal', '-shm'])
      renameSync(join(folder, `postroom.db${suffix}`), join(folder, 'disk', `real.db${suffix}`));
    symlinkSync(join(folder, 'disk', 'real.db'), join(folder, 'postroom.db'));
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(join(folder, 'disk', 'real.db'), 1_234, 2_345);
    expect(await restore(folder, '--force')).toMatchObject({ status: 0 });
    expect(realpathSync(join(folder, 'postroom.db'))).toBe(realpathSync(join(folder, 'disk', 'real.db')));
    if (isRoot) expect(statSync(join(folder, 'disk', 'real.db'))).toMatchObject({ uid: 1_234, gid: 2_345 });
    expect(await readTitles(folder, states)).toEqual(oldTitles);
  });
});

/** The session key is not in a backup, so the session ends with it. */
async function signIn(folder: string) {
  const postroom = await launchForTest(settingsOf(folder));
  const { email, password } = states.ada;
  const mutation = `mutation { signIn(input: { email: "${email}", password: "${password}" }) { accessToken } }`;
  const { signIn } = await postroom.ask(mutation);
  await postroom.stop();
  return { ...states.ada, token: signIn.accessToken };
}

describe('a restore is refused with one line, and the database stays as it is,', () => {
  it('without --force if there is a database, or only its write-ahead log', async () => {
    const folder = copyStates(states);
    expect(await expectRefused(folder)).toContain('postroom.db exists; --force replaces the database');
    expect(await readTitles(folder, states)).toEqual(newTitles);
    const orphaned = copyStates(states);
    rmSync(join(orphaned, 'postroom.db'));
    expect(await expectRefused(orphaned)).toContain('postroom.db-wal exists; --force replaces the database');
  });

  it('while a server uses the database, also if it is idle, and also with --force', async () => {
    const folder = copyStates(states);
    const postroom = await launchForTest(settingsOf(folder));
    for (const options of [[], ['--force']]) {
      expect(await expectRefused(folder, ...options)).toContain('postroom.db is in use by a server or another program');
    }
    await postroom.createPost(states.ada, states.room, 'still served');
    await postroom.stop();
    expect(await readTitles(folder, states)).toEqual([...newTitles, 'still served']);
  });

  it.each([
    ['text', (file: string) => writeFileSync(file, 'a letter to the operator\n'.repeat(50)), 'is damaged'],
    ['damaged in the middle', damagePage, 'is damaged'],
    ['an empty file', (file: string) => truncateSync(file, 0), 'is not a database of Postroom: it has no table users'],
    [
      'of a newer program',
      (file: string) => change(file, 'update migrations set seen = 999, needed = 999'),
      'was written by a newer Postroom',
    ],
    ['missing', (file: string) => rmSync(file), 'there is no such file'],
    [
      'a folder',
      (file: string) => {
        rmSync(file);
        mkdirSync(file);
      },
      'EISDIR',
    ],
    [
      'the database itself',
      (file: string) => {
        rmSync(file);
        symlinkSync(join(file, '..', 'postroom.db'), file);
      },
      'is the database itself',
    ],
  ])('if the backup is %s', async (_, spoil, message) => {
    const folder = copyStates(states);
    spoil(join(folder, 'backup'));
    expect(await expectRefused(folder, '--force')).toContain(message);
    expectKept(folder);
  });

  it('if the database is one of PostgreSQL, or in memory', async () => {
    const file = join(copyStates(states), 'backup');
    for (const [DATABASE_URL, message] of [
      ['postgres://ada:hushed@127.0.0.1:1/postroom', 'pg_restore'],
      ['sqlite::memory:', 'no other process can read'],
    ] as const) {
      const { status, stderr } = await run(['restore', file], { DATABASE_URL });
      expect(status).toBe(1);
      expect(stderr).toContain(message);
      expect(stderr).not.toContain('hushed');
    }
  });
});

function damagePage(file: string): void {
  const bytes = readFileSync(file);
  bytes.fill(0xa5, 8 * 4_096, 9 * 4_096);
  writeFileSync(file, bytes);
}

/** The paths of the files that a process has open. */
function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  const link = (name: string) => {
    try {
      return readlinkSync(join(folder, name));
    } catch {
      // It was closed meanwhile.
      return '';
    }
  };
  return readdirSync(folder).map(link);
}

it.skipIf(!hasStrace)(
  'a server that starts during a restore does not serve the file that is being replaced (strace)',
  async () => {
    const folder = copyStates(states);
    const file = join(folder, 'postroom.db');
    const env = { ...programEnvironment, ...settingsOf(folder) };
    // The command is stopped when it first flushes the folder: it holds the lock, and has not replaced the file.
    const stop = ['-P', folder, '-e', 'trace=fsync', '-e', 'inject=fsync:signal=SIGSTOP:when=1'];
    const command = [process.execPath, main, 'restore', join(folder, 'backup'), '--force'];
    const restoring = spawn('strace', ['-D', '-o', '/dev/null', ...stop, ...command], {
      env,
      stdio: 'ignore',
    });
    onTestFinished(() => void restoring.kill('SIGKILL'));
    const restored = once(restoring, 'close');
    await expect.poll(() => readdirSync(folder).join()).toContain('postroom.db.partial-');
    const server = spawn(process.execPath, mainProgram, { env: { ...env, PORT: '0' } });
    onTestFinished(() => void server.kill('SIGKILL'));
    let stderr = '';
    server.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const closed = once(server, 'close');
    await expect.poll(() => openFiles(server.pid ?? 0)).toContain(realpathSync(file));
    restoring.kill('SIGCONT');
    expect(await restored).toEqual([0, null]);
    expect(await closed).toEqual([1, null]);
    expect(stderr).toMatch(/^postroom: the database cannot be used: [^\n]*\n$/);
    expect(await readTitles(folder, states)).toEqual(oldTitles);
  },
);
