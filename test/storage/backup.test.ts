import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasStrace } from '../support/database/disk-trace.ts';
import { fillDisk, mountDisk, unmountDisks } from '../support/database/small-disk.ts';
import {
  launchForTest,
  main,
  type Person,
  type Postroom,
  programEnvironment,
  run,
  scratchFolder,
} from '../support/server/postroom.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

/* `postroom backup`, with a server that uses the database. */

const writerCount = 8;
/** Together more than the pages that several steps of a backup copy. */
const largePosts = { count: 300, body: 'x'.repeat(20_000) };
const server = shareServer();
/** With a database that is copied in one step, for tests that do not depend on its size. */
const small = shareServer();
const settingsOf = ({ databaseFile }: { databaseFile: string }) => ({ DATABASE_URL: `sqlite:${databaseFile}` });
let ada: Person;
let room: string;
beforeAll(async () => {
  ada = await server.postroom.signUp('Ada');
  room = await server.postroom.createRoom(ada, 'lobby');
  await server.postroom.createPost(ada, room, 'first');
  withDatabase(server.databaseFile, (database) =>
    database
      .prepare(
        `insert into posts ("id", "roomId", "authorId", "title", "body", "publishedAt", "createdAt", "updatedAt", "version")
         with recursive series (n) as (select 1 union all select n + 1 from series where n < ?)
         select 'large' || n, ?, ?, 'large', ?, n, n, n, 1 from series`,
      )
      .run(largePosts.count, room, ada.id, largePosts.body),
  );
  await small.postroom.createRoom(await small.postroom.signUp('Ada'), 'lobby');
});
afterAll(unmountDisks);

/** Writers that post until they are stopped, and the titles whose posts were acknowledged. */
function startWriters(postroom: Postroom): { acknowledged: string[]; stop: () => Promise<void> } {
  const acknowledged: string[] = [];
  let isRunning = true;
  const write = async (_: unknown, writer: number) => {
    for (let n = 0; isRunning; n += 1) {
      await postroom.createPost(ada, room, `${writer}.${n}`);
      acknowledged.push(`${writer}.${n}`);
    }
  };
  const running = Promise.all(Array.from({ length: writerCount }, write));
  return {
    acknowledged,
    async stop() {
      isRunning = false;
      await running;
    },
  };
}

function read(file: string, sql: string): unknown[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database
      .prepare(sql)
      .all()
      .map((row) => Object.values(row)[0]);
  } finally {
    database.close();
  }
}

describe('a backup while eight writers post', () => {
  it('contains every post that was acknowledged before it began, passes the integrity check, and is one file', async () => {
    const folder = scratchFolder();
    const file = join(folder, 'backup.db');
    const writers = startWriters(server.postroom);
    await expect.poll(() => writers.acknowledged.length).toBeGreaterThanOrEqual(50);
    const before = [...writers.acknowledged];
    const { status, stdout, stderr } = await run(['backup', file], settingsOf(server));
    const after = writers.acknowledged.length;
    await writers.stop();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(after, 'the writers were not held up').toBeGreaterThan(before.length);
    expect(readdirSync(folder)).toEqual(['backup.db']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(read(file, 'pragma integrity_check')).toEqual(['ok']);
    const titles = read(file, 'select "title" from posts');
    expect(titles).toEqual(expect.arrayContaining(before));
    // The state of one moment: the number of events is that in the row of the room.
    expect(read(file, 'select count(*) from "roomEvents"')).toEqual(read(file, 'select max("head") from rooms'));
    const newest = new Date(Number(read(file, 'select max("at") from "roomEvents"')[0])).toISOString();
    expect(stdout).toBe(
      `Backed up to ${file} (rooms: 1, users: 1, posts: ${titles.length}, newest event: ${newest}).\n`,
    );
    expect(readdirSync(folder)).toEqual(['backup.db']);
  });

  it.skipIf(spawnSync('script', ['--version']).status !== 0)(
    'shows its progress on a terminal, copies each page once, and does not begin again after a commit (needs script)',
    async () => {
      const file = join(scratchFolder(), 'backup.db');
      const writers = startWriters(server.postroom);
      const command = [process.execPath, main, 'backup', file].join(' ');
      const terminal = spawn('script', ['-qec', `${command} >/dev/null`, '/dev/null'], {
        env: { ...programEnvironment, ...settingsOf(server) },
      });
      let shown = '';
      terminal.stdout.on('data', (chunk) => {
        shown += chunk;
      });
      const [status] = await once(terminal, 'close');
      await writers.stop();
      expect(status).toBe(0);
      const percents = [...shown.matchAll(/(\d+) % copied/g)].map(([, percent]) => Number(percent));
      expect(percents.length).toBeGreaterThanOrEqual(2);
      expect(percents).toEqual(percents.toSorted((a, b) => a - b));
      expect(new Set(percents).size).toBe(percents.length);
    },
  );
});

describe('a backup is refused with one line, and leaves no file, if', () => {
  /** Runs the command and expects that the folder of the file stays as it is. */
  async function expectRefused(
    args: string[],
    folder: string,
    own: Record<string, string> = settingsOf(small),
  ): Promise<string> {
    const before = readdirSync(folder);
    const { status, stdout, stderr } = await run(['backup', ...args], own);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^postroom: [^\n]+\n$/);
    expect(readdirSync(folder)).toEqual(before);
    return stderr;
  }

  it('the file exists, unless --force replaces it', async () => {
    const folder = scratchFolder();
    const file = join(folder, 'backup.db');
    writeFileSync(file, 'kept', { mode: 0o644 });
    expect(await expectRefused([file], folder)).toContain(`${file} exists already; --force replaces it`);
    expect(readFileSync(file, 'utf8')).toBe('kept');
    expect(await run(['backup', '--force', file], settingsOf(small))).toMatchObject({ status: 0 });
    expect(read(file, 'select "name" from rooms')).toEqual(['lobby']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('the file is the database itself, also by a link or with --force', async () => {
    const link = join(scratchFolder(), 'link');
    symlinkSync(small.databaseFile, link);
    for (const file of [`${small.databaseFile}-wal`, link]) {
      expect(await expectRefused(['--force', file], small.folder)).toContain(`${file} is the database itself`);
    }
    await small.postroom.signUp('still served');
  });

  it('the folder is missing, or the file is a folder', async () => {
    const folder = scratchFolder();
    const message = await expectRefused([join(folder, 'none', 'backup.db')], folder);
    expect(message).toBe(`postroom: there is no folder ${join(folder, 'none')}\n`);
    mkdirSync(join(folder, 'folder'));
    expect(await expectRefused(['--force', join(folder, 'folder')], folder)).toContain('it is a folder');
  });

  it('there is no database, or only one in memory', async () => {
    const folder = scratchFolder();
    const missing = { DATABASE_URL: `sqlite:${join(folder, 'postroom.db')}` };
    expect(await expectRefused([join(folder, 'backup.db')], folder, missing)).toContain('there is no database');
    const memory = { DATABASE_URL: 'sqlite::memory:' };
    expect(await expectRefused([join(folder, 'backup.db')], folder, memory)).toContain('no other process can read');
  });

  it('the database is damaged, or not one of Postroom', async () => {
    const folder = scratchFolder();
    const database = join(folder, 'postroom.db');
    const own = { DATABASE_URL: `sqlite:${database}` };
    await (await launchForTest(own)).stop();
    const bytes = readFileSync(database);
    bytes.fill(0xa5, 8 * 4_096, 9 * 4_096);
    writeFileSync(database, bytes);
    const file = join(folder, 'backup.db');
    expect(await expectRefused([file], folder, own)).toContain(`the copy of ${database} is damaged: `);
    rmSync(database);
    const foreign = new DatabaseSync(database);
    foreign.exec('create table songs (name text)');
    foreign.close();
    expect(await expectRefused([file], folder, own)).toContain('is not a database of Postroom');
  });

  it('the database is one of PostgreSQL: the message names the tool', async () => {
    const folder = scratchFolder();
    const postgres = { DATABASE_URL: 'postgres://ada:hushed@127.0.0.1:1/postroom' };
    const message = await expectRefused([join(folder, 'backup.db')], folder, postgres);
    expect(message).toContain('pg_dump');
    expect(message).not.toContain('hushed');
  });

  it('the user may not write to the folder', async () => {
    const folder = scratchFolder();
    chmodSync(folder, 0o555);
    const data = scratchFolder();
    chmodSync(data, 0o777);
    const database = join(data, 'postroom.db');
    await (await launchForTest({ DATABASE_URL: `sqlite:${database}` })).stop();
    chmodSync(database, 0o666);
    const child = spawn(process.execPath, [main, 'backup', join(folder, 'backup.db')], {
      env: { ...programEnvironment, DATABASE_URL: `sqlite:${database}` },
      // Root may write everywhere.
      ...(process.getuid?.() === 0 && { uid: 65_534, gid: 65_534 }),
    });
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(stderr).toMatch(/^postroom: permission denied: [^\n]*\n$/);
  });

  const disk = mountDisk();
  it.skipIf(disk === undefined)('the disk becomes full (needs the right to mount)', async () => {
    const folder = disk ?? '';
    expect(await expectRefused([join(folder, 'backup.db')], folder, settingsOf(server))).toContain('the disk is full');
    fillDisk(folder);
    expect(await expectRefused([join(folder, 'backup.db')], folder, settingsOf(server))).toContain('the disk is full');
  });

  it('the arguments are wrong', async () => {
    const usage = `usage: postroom backup FILE [--force]
       postroom backup --to DIR --keep N [--every 1h]\n`;
    for (const args of [['--force'], ['a', '--fast'], ['-']]) {
      const { status, stderr } = await run(['backup', ...args], settingsOf(small));
      expect({ status, stderr }).toEqual({ status: 1, stderr: usage });
    }
  });
});

describe.skipIf(!hasStrace)('a backup (strace)', () => {
  /** Runs a backup under strace. */
  function trace(file: string, options: readonly string[]) {
    return spawn('strace', ['-D', '-f', '--seccomp-bpf', '-y', ...options, process.execPath, main, 'backup', file], {
      env: { ...programEnvironment, ...settingsOf(small) },
    });
  }

  it('and its name are on the disk before the command reports success', async () => {
    const folder = scratchFolder();
    const file = join(scratchFolder(), 'backup.db');
    const log = join(folder, 'trace');
    const child = trace(file, ['-o', log, '-e', 'trace=fsync,fdatasync,link,linkat,write']);
    expect(await once(child, 'close')).toEqual([0, null]);
    const lines = readFileSync(log, 'utf8').split('\n');
    const expected = [
      /sync\(\d+<[^>]*backup\.db\.partial-\w+>\)/,
      /link(at)?\(.*backup\.db/,
      /sync\(\d+<[^>]*\/[^/.]*>\)/,
      /write\(1<.*Backed up/,
    ];
    let place = -1;
    for (const pattern of expected) {
      const next = lines.findIndex((line, index) => index > place && pattern.test(line));
      expect(next, `${pattern} after line ${place} of ${lines.join('\n')}`).toBeGreaterThan(place);
      place = next;
    }
  });

  it.each([
    'EPERM',
    'EOPNOTSUPP',
    'ENOSYS',
  ])('is written to a file system that refuses hard links with %s', async (code) => {
    const folder = scratchFolder();
    const file = join(folder, 'backup.db');
    const refusal = ['-e', 'trace=link,linkat', '-e', `inject=link,linkat:error=${code}`];
    const child = trace(file, ['-o', '/dev/null', ...refusal]);
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(readdirSync(folder)).toEqual(['backup.db']);
    expect(read(file, 'pragma integrity_check')).toEqual(['ok']);
  });

  it('that is ended by a signal while it copies leaves no file', async () => {
    const folder = scratchFolder();
    const child = trace(join(folder, 'backup.db'), [
      '-o',
      '/dev/null',
      '-e',
      'inject=pwrite64:delay_enter=3000000:when=1',
    ]);
    const closed = once(child, 'close');
    await expect.poll(() => readdirSync(folder).join()).toContain('backup.db.partial-');
    child.kill('SIGTERM');
    expect(await closed).toEqual([1, null]);
    expect(readdirSync(folder)).toEqual([]);
  });
});
