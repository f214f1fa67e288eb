import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { hasStrace } from '../support/database/disk-trace.ts';
import { fillDisk, mountDisk, unmountDisks } from '../support/database/small-disk.ts';
import {
  type LogLine,
  launchForTest,
  main,
  type Person,
  programEnvironment,
  run,
  scratchFolder,
} from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

/* `postroom backup --to DIR --keep N [--every INTERVAL]`, with a server that uses the database. */

const hourMs = 3_600_000;
const ownName = /^postroom-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.db$/;
const skippedWaits = new URL('../support/server/skipped-waits.ts', import.meta.url).pathname;
const server = shareServer();
const settings = () => ({ DATABASE_URL: `sqlite:${server.databaseFile}` });
const disk = mountDisk();
let ada: Person;
beforeAll(async () => {
  ada = await server.postroom.signUp('Ada');
  await server.postroom.createRoom(ada, 'lobby');
});
afterAll(unmountDisks);

/** Reads the names of the rooms, in the order of their creation, and checks that the database is whole. */
function readRooms(...path: string[]): unknown[] {
  const database = new DatabaseSync(join(...path), { readOnly: true });
  try {
    expect(database.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    return database
      .prepare('select "name" from rooms order by "createdAt", "id"')
      .all()
      .map((row) => row['name']);
  } finally {
    database.close();
  }
}

/** The name of a backup that began before so many hours. */
function nameOf(hours: number): string {
  const time = new Date(Date.now() - hours * hourMs).toISOString();
  return `postroom-${time.slice(0, 19).replaceAll(':', '-')}Z.db`;
}

function createFiles(folder: string, names: readonly string[]): void {
  for (const name of names) writeFileSync(join(folder, name), 'earlier');
}

describe('a backup into a folder', () => {
  it('creates the folder, has its UTC time as its name, is verified, and can be read by its owner only', async () => {
    const folder = join(scratchFolder(), 'new', 'backups');
    const before = Math.floor(Date.now() / 1_000) * 1_000;
    const { status, stdout, stderr } = await run(['backup', '--keep', '3', `--to=${folder}`], settings());
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [name = '', ...more] = readdirSync(folder);
    expect(more).toEqual([]);
    expect(name).toMatch(ownName);
    expect(stdout).toMatch(new RegExp(`^Backed up to ${join(folder, name)} \\(rooms: \\d+, [^\n]*\\)\\.\n$`));
    const time = Date.parse(name.slice(9, -3).replace(/-(\d\d)-(\d\d)Z$/, ':$1:$2Z'));
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(Date.now());
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(readRooms(folder, name)).toContain('lobby');
  });

  it('removes older backups than the newest N, and what is left of them, but no file with another name', async () => {
    const folder = scratchFolder();
    const earlier = [nameOf(4), nameOf(3), nameOf(2), nameOf(1)];
    const unfinished = [`${nameOf(5)}.partial-0a1b2c3d`, `${nameOf(5)}.partial-0a1b2c3d-journal`];
    const others = ['postroom.db', `${nameOf(9)}.gz`, `old-${nameOf(9)}`, 'postroom-2020-01-01.db', 'postroom-notes'];
    const running = `${nameOf(0)}.partial-0a1b2c3d`;
    createFiles(folder, [...earlier, ...unfinished, ...others, running]);
    expect(await run(['backup', '--to', folder, '--keep', '3'], settings())).toMatchObject({ status: 0, stderr: '' });
    const names = readdirSync(folder);
    expect(names).toEqual(expect.arrayContaining([...others, running, ...earlier.slice(-2)]));
    const added = names.filter((name) => ownName.test(name) && !earlier.includes(name));
    expect(added.length).toBe(1);
    expect(names.length).toBe(others.length + 1 + 2 + 1);
  });

  it('stays after the clock was set back, and removes no backup with a later time', async () => {
    const folder = scratchFolder();
    const later = [nameOf(-2), nameOf(-1)];
    createFiles(folder, [...later, nameOf(1)]);
    expect(await run(['backup', '--to', folder, '--keep', '1'], settings())).toMatchObject({ status: 0, stderr: '' });
    const names = readdirSync(folder);
    expect(names.filter((name) => !later.includes(name)).map((name) => readRooms(folder, name)[0])).toEqual(['lobby']);
    expect(names).toEqual(expect.arrayContaining(later));
  });

  it('removes nothing if it fails: the exit status is 1, with one line', async () => {
    const folder = scratchFolder();
    const earlier = [nameOf(2), nameOf(1)];
    createFiles(folder, earlier);
    const foreign = join(scratchFolder(), 'foreign.db');
    const database = new DatabaseSync(foreign);
    database.exec('create table songs (name text)');
    database.close();
    const own = { DATABASE_URL: `sqlite:${foreign}` };
    const { status, stdout, stderr } = await run(['backup', '--to', folder, '--keep', '1'], own);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^postroom: the copy of [^\n]* is not a database of Postroom[^\n]*\n$/);
    expect(readdirSync(folder)).toEqual(earlier);
  });

  it.each([
    [['--to', 'DIR'], '--keep must be a whole number of at least 1 (got "").'],
    [['--to', 'DIR', '--keep', '0'], '--keep must be a whole number of at least 1 (got "0").'],
    [['--to', 'DIR', '--keep', '-1'], "wrong arguments: Option '--keep' argument is ambiguous."],
    [['--keep', '3', '--every', '1h'], '--to must be a folder (got "").'],
    [['--to', 'DIR', '--keep', '3', '--every', '59s'], '--every must be a time from 1m to 7d, such as 30m'],
    [['--to', 'DIR', '--keep', '3', '--every', '0m'], '(got "0m").'],
    [['--to', 'DIR', '--keep', '3', '--every', '8d'], '(got "8d").'],
    [['--to', 'DIR', '--keep', '3', '--every='], '(got "").'],
    [['--to', 'DIR', '--keep', '3', '--force'], "wrong arguments: Unknown option '--force'"],
    [['--to', 'DIR', '--keep', '3', 'FILE'], "wrong arguments: Unexpected argument 'FILE'."],
  ])('is refused with one line for the arguments %j', async (args, message) => {
    const folder = join(scratchFolder(), 'none');
    const given = args.map((argument) => (argument === 'DIR' ? folder : argument));
    const { status, stdout, stderr } = await run(['backup', ...given], settings());
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^postroom: [^\n]+\n$/);
    expect(stderr).toContain(message);
  });

  it('of PostgreSQL or a database in memory is refused, also with an interval', async () => {
    const args = ['backup', '--to', join(scratchFolder(), 'none'), '--keep', '3', '--every', '1h'];
    const postgres = await run(args, { DATABASE_URL: 'postgres://ada:hushed@127.0.0.1:1/postroom' });
    expect(postgres).toMatchObject({ status: 1, stderr: expect.stringMatching(/^postroom: [^\n]*pg_dump[^\n]*\n$/) });
    const memory = await run(args, { DATABASE_URL: 'sqlite::memory:' });
    expect(memory).toMatchObject({ status: 1, stderr: expect.stringContaining('no other process can read') });
  });
});

interface Repeated {
  process: ChildProcess;
  /** Resolves with the next line of standard error. */
  next: () => Promise<LogLine>;
  /** Ends the wait for the next backup, and resolves when the program waits. */
  skipWait: () => Promise<void>;
}

/** Starts the command for one test. It waits for an interval until the test skips the wait. */
function start(args: string[], own: Record<string, string> = settings(), tracer: string[] = []): Repeated {
  const [file = '', ...rest] = [...tracer, process.execPath, '--import', skippedWaits, main, 'backup', ...args];
  const child = spawn(file, rest, { env: { ...programEnvironment, ...own }, stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface(child.stderr)[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value ?? '{}') as LogLine;
  return {
    process: child,
    next,
    async skipWait() {
      expect(await next()).toEqual({ msg: 'waiting', ms: hourMs });
      child.kill('SIGUSR2');
    },
  };
}

describe('a backup with an interval', () => {
  it('is repeated after each interval, and the newest N stay', async () => {
    const folder = join(scratchFolder(), 'backups');
    const repeated = start(['--to', folder, '--keep', '2', '--every', '1h']);
    const files: string[] = [];
    for (const room of ['first', 'second', 'third']) {
      const line = await repeated.next();
      expect(line).toMatchObject({ level: 30, msg: 'backed up', users: 1 });
      files.push(String(line['file']));
      await server.postroom.createRoom(ada, room);
      await repeated.skipWait();
    }
    files.push(String((await repeated.next())['file']));
    expect(readdirSync(folder).map((name) => join(folder, name))).toEqual(files.slice(-2));
    expect(files.slice(-2).map((file) => readRooms(file).at(-1))).toEqual(['second', 'third']);
  });

  it('runs with the arguments of deploy/postroom-backup.service', async () => {
    const unit = readFileSync(new URL('../../deploy/postroom-backup.service', import.meta.url), 'utf8');
    const [program = '', args = ''] = /^ExecStart=(.+)$/m.exec(unit)?.[1]?.split(' backup ') ?? [];
    expect(program).toBe('/usr/bin/node /opt/postroom/node_modules/@postroom/server/dist/main.js');
    const folder = scratchFolder();
    const repeated = start(args.replace('/var/lib/postroom-backup', folder).split(' '));
    const { file } = await repeated.next();
    expect(readRooms(String(file))).toContain('lobby');
    await repeated.skipWait();
  });

  /** Expects one line of error for each of two failed backups, and a backup after the cause is gone. */
  async function expectRepeated(
    repeated: Repeated,
    reason: string,
    newest: unknown,
    remove: () => void,
  ): Promise<void> {
    for (const hours of [1, 2]) {
      const line = await repeated.next();
      expect(line).toMatchObject({ level: 50, msg: 'the backup failed', reason: expect.stringContaining(reason) });
      expect(line['newest']).toBe(newest);
      if (newest !== undefined) expect(Math.floor(Number(line['ageMs']) / hourMs)).toBe(hours);
      if (hours === 2) remove();
      await repeated.skipWait();
    }
    expect(await repeated.next()).toMatchObject({ level: 30, msg: 'backed up' });
  }

  it('that fails because the folder is a file is repeated', async () => {
    const folder = join(scratchFolder(), 'backups');
    writeFileSync(folder, 'a file');
    const repeated = start(['--to', folder, '--keep', '1', '--every', '1h']);
    await expectRepeated(repeated, `it is not a folder: EEXIST`, undefined, () => rmSync(folder));
    expect(readdirSync(folder)).toEqual([expect.stringMatching(ownName)]);
  });

  it.skipIf(disk === undefined)(
    'that fails because the disk is full is repeated (needs the right to mount)',
    async () => {
      const folder = join(disk ?? '', 'full');
      const newest = createEarlier(folder);
      const release = fillDisk(disk ?? '');
      const repeated = start(['--to', folder, '--keep', '1', '--every', '1h']);
      await expectRepeated(repeated, 'the disk is full', newest, () => {
        expect(readdirSync(folder)).toEqual([newest]);
        release();
      });
      expect(readdirSync(folder)).toEqual([expect.stringMatching(ownName)]);
    },
  );

  it.skipIf(disk === undefined)(
    'that fails because the folder is read-only is repeated (needs the right to mount)',
    async () => {
      const folder = join(disk ?? '', 'read-only');
      const newest = createEarlier(folder);
      const remount = (mode: string) => spawnSync('mount', ['-o', `remount,${mode}`, disk ?? '']);
      remount('ro');
      onTestFinished(() => void remount('rw'));
      const repeated = start(['--to', folder, '--keep', '1', '--every', '1h']);
      await expectRepeated(repeated, 'the file system is read-only', newest, () => remount('rw'));
    },
  );

  it('that fails because the database is locked is repeated', async () => {
    const folder = scratchFolder();
    const database = join(scratchFolder(), 'postroom.db');
    const own = { DATABASE_URL: `sqlite:${database}` };
    await (await launchForTest(own)).stop();
    const locked = new DatabaseSync(database);
    locked.exec('pragma locking_mode = exclusive; begin exclusive');
    const newest = nameOf(1);
    createFiles(folder, [newest]);
    const repeated = start(['--to', folder, '--keep', '1', '--every', '1h'], own);
    await expectRepeated(repeated, 'database is locked', newest, () => locked.close());
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('stops with the exit status 0 on %s while it waits', async (signal) => {
    const folder = scratchFolder();
    const repeated = start(['--to', folder, '--keep', '1', '--every', '1h']);
    const exited = once(repeated.process, 'exit');
    expect(await repeated.next()).toMatchObject({ msg: 'backed up' });
    expect(await repeated.next()).toMatchObject({ msg: 'waiting' });
    repeated.process.kill(signal);
    expect(await exited).toEqual([0, null]);
    expect(readdirSync(folder)).toEqual([expect.stringMatching(ownName)]);
  });

  it.skipIf(!hasStrace).each(['SIGTERM'] as const)(
    'stops with the exit status 0 on %s while it copies, and leaves no file (strace)',
    async (signal) => {
      const folder = scratchFolder();
      const delay = ['-e', 'trace=pwrite64', '-e', 'inject=pwrite64:delay_enter=3000000:when=1'];
      const tracer = ['strace', '-D', '-f', '--seccomp-bpf', '-o', '/dev/null', ...delay];
      const repeated = start(['--to', folder, '--keep', '1', '--every', '1h'], settings(), tracer);
      const exited = once(repeated.process, 'exit');
      await expect.poll(() => readdirSync(folder).join()).toContain('.db.partial-');
      repeated.process.kill(signal);
      expect(await exited).toEqual([0, null]);
      expect(readdirSync(folder)).toEqual([]);
    },
  );
});

/** Creates the folder with a backup that is an hour old. */
function createEarlier(folder: string): string {
  const name = nameOf(1);
  mkdirSync(folder);
  createFiles(folder, [name]);
  return name;
}
