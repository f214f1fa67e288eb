import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { hasStrace } from '../support/database/disk-trace.ts';
import { fillDisk, mountDisk, unmountDisks } from '../support/database/small-disk.ts';
import { readMetrics } from '../support/engine/metrics.ts';
import {
  type LogLine,
  launchForTest,
  main,
  type Person,
  type Postroom,
  programEnvironment,
  run,
  runRefused,
  scratchFolder,
} from '../support/server/postroom.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

/* `postroom backup --to DIR --keep N [--every INTERVAL]`, with a server that uses the database. */

const hourMs = 3_600_000;
const minuteMs = 60_000;
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
    const left = ['.partial-0a1b2c3d', '.partial-0a1b2c3d-journal', '-wal', '-shm'].map((end) => nameOf(5) + end);
    const others = ['postroom.db', `${nameOf(9)}.gz`, `old-${nameOf(9)}`, 'postroom-2020-01-01.db', 'postroom-notes'];
    // Of another run: one that began before this one, and one that began at the same time.
    const running = [`${nameOf(3)}.partial-4e5f6a7b`, `${nameOf(0)}.partial-0a1b2c3d`];
    createFiles(folder, [...earlier, ...left, ...others, ...running, `${earlier[3]}-wal`]);
    const hoursAgo = (Date.now() - 2 * hourMs) / 1_000;
    for (const name of left) utimesSync(join(folder, name), hoursAgo, hoursAgo);
    expect(await run(['backup', '--to', folder, '--keep', '3'], settings())).toMatchObject({ status: 0, stderr: '' });
    const added = readdirSync(folder).filter((name) => ownName.test(name) && !earlier.includes(name));
    expect(added.length).toBe(1);
    const kept = [...others, ...running, ...earlier.slice(-2), `${earlier[3]}-wal`, ...added];
    expect(readdirSync(folder)).toEqual(kept.sort());
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
    const refusal = await runRefused(['backup', '--to', folder, '--keep', '1'], own);
    expect(refusal).toMatch(/^postroom: the copy of .* is not a database of Postroom/);
    expect(readdirSync(folder)).toEqual(earlier);
  });

  const postgres = { DATABASE_URL: 'postgres://ada:hushed@127.0.0.1:1/postroom' };
  const refusals: [args: string[], own: Record<string, string>, message: string][] = [
    [['DIR', '--keep', '0'], {}, '--keep must be a whole number of at least 1 (got "0").'],
    [
      ['DIR', '--keep', '3', '--every', '8d'],
      {},
      '--every must be a time from 1m to 7d, such as 30m, 1h or 1d (got "8d").',
    ],
    [['DIR', '--keep', '3', '--force'], {}, "wrong arguments: Unknown option '--force'"],
    [['DIR', '--keep', '3', '--every', '1h'], postgres, 'pg_dump'],
  ];

  it('is refused with one line for wrong arguments, and for a database of PostgreSQL', async () => {
    const folder = join(scratchFolder(), 'none');
    const check = async ([args, own, message]: (typeof refusals)[number]) => {
      const given = args.map((argument) => (argument === 'DIR' ? `--to=${folder}` : argument));
      const refusal = await runRefused(['backup', ...given], { ...settings(), ...own });
      expect(refusal).toMatch(/^postroom: /);
      expect(refusal).toContain(message);
      expect(refusal).not.toContain('hushed');
    };
    await Promise.all(refusals.map(check));
  });

  it.skipIf(!existsSync('/proc'))('is refused with one line if the folder cannot be created', async () => {
    const refusal = await runRefused(['backup', '--to', '/proc/new/backups', '--keep', '1'], settings());
    expect(refusal).toMatch(/^postroom: there is no such file: ENOENT/);
  });
});

describe('the metric of the newest backup', () => {
  const read = async (postroom: Postroom) => (await readMetrics(postroom))['last_backup_timestamp_seconds'];

  it('is 0 without a backup, then the time at which the newest one began, and is in the database', async () => {
    const own = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
    const postroom = await launchForTest(own);
    expect(await read(postroom)).toBe(0);
    const before = Date.now() / 1_000;
    const file = join(scratchFolder(), 'backup.db');
    expect(await run(['backup', file], own)).toMatchObject({ status: 0, stderr: '' });
    const beganAt = await read(postroom);
    expect(beganAt).toBeGreaterThanOrEqual(before);
    expect(beganAt).toBeLessThanOrEqual(statSync(file).mtimeMs / 1_000);
    await postroom.stop();
    expect(await read(await launchForTest(own))).toBe(beganAt);
  });

  it('stays as it is if the command may only read the database: the backup is complete, with one line of warning', async () => {
    const [folder, target] = [scratchFolder(), scratchFolder()];
    const file = join(folder, 'postroom.db');
    const own = { DATABASE_URL: `sqlite:${file}` };
    const postroom = await launchForTest(own);
    chmodSync(folder, 0o555);
    onTestFinished(() => chmodSync(folder, 0o755));
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o444);
    // Root may write everywhere.
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    if (user.uid) chownSync(target, user.uid, user.gid);
    const child = spawn(process.execPath, [main, 'backup', join(target, 'backup.db')], {
      ...{ env: { ...programEnvironment, ...own }, ...user },
    });
    const lines = createInterface(child.stderr)[Symbol.asyncIterator]();
    const [status] = await once(child, 'close');
    const line = JSON.parse((await lines.next()).value ?? '{}');
    expect(line).toMatchObject({ level: 40, msg: 'the metrics do not show the backup, which is complete' });
    expect(line.reason).toBe('attempt to write a readonly database');
    expect({ status, done: (await lines.next()).done }).toEqual({ status: 0, done: true });
    expect(readdirSync(target)).toEqual(['backup.db']);
    expect(await read(postroom)).toBe(0);
  });
});

interface Repeated {
  /** Resolves with the next line of standard error. */
  next: () => Promise<LogLine>;
  /** Ends the wait for the next backup, and resolves when the program has begun to wait. */
  skipWait: (ms?: number) => Promise<void>;
  /** Sends a signal while the program waits, or copies. Resolves with its exit status. */
  end: (signal: NodeJS.Signals) => Promise<unknown>;
}

/** Starts the command for one test. It waits for an interval until the test skips the wait. */
function start(
  args: string[],
  own: Record<string, string> = settings(),
  { tracer = [] as string[], onFinished = onTestFinished } = {},
): Repeated {
  const [file = '', ...rest] = [...tracer, process.execPath, '--import', skippedWaits, main, 'backup', ...args];
  const child = spawn(file, rest, { env: { ...programEnvironment, ...own }, stdio: ['ignore', 'ignore', 'pipe'] });
  onFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface(child.stderr)[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value ?? '{}') as LogLine;
  return {
    next,
    async skipWait(ms = hourMs) {
      expect(await next()).toEqual({ msg: 'waiting', ms });
      child.kill('SIGUSR2');
    },
    async end(signal) {
      const exited = once(child, 'exit');
      child.kill(signal);
      return (await exited)[0];
    },
  };
}

describe('a backup with an interval', () => {
  it('is repeated after each interval, the newest N stay, and SIGINT ends it with the exit status 0', async () => {
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
    expect(await repeated.next()).toMatchObject({ msg: 'waiting' });
    expect(await repeated.end('SIGINT')).toBe(0);
    expect(readdirSync(folder).map((name) => join(folder, name))).toEqual(files.slice(-2));
    expect(files.slice(-2).map((file) => readRooms(file).at(-1))).toEqual(['second', 'third']);
  });

  it('runs with the arguments of deploy/postroom-backup.service, and SIGTERM ends it with the exit status 0', async () => {
    const unit = readFileSync(new URL('../../deploy/postroom-backup.service', import.meta.url), 'utf8');
    const [program = '', args = ''] = /^ExecStart=(.+)$/m.exec(unit)?.[1]?.split(' backup ') ?? [];
    expect(program).toBe('/usr/bin/node /opt/postroom/node_modules/@postroom/server/dist/main.js');
    const folder = scratchFolder();
    const repeated = start(args.replace('/var/lib/postroom-backup', folder).split(' '));
    const { file } = await repeated.next();
    expect(await repeated.next()).toEqual({ msg: 'waiting', ms: hourMs });
    expect(await repeated.end('SIGTERM')).toBe(0);
    expect(readdirSync(folder).map((name) => join(folder, name))).toEqual([file]);
    expect(readRooms(String(file))).toContain('lobby');
  });

  /** Expects one line of error for a failed backup. */
  async function expectFailure(repeated: Repeated, reason: string, newest?: string): Promise<void> {
    const line = await repeated.next();
    expect(line).toMatchObject({ level: 50, msg: 'the backup failed', reason: expect.stringContaining(reason) });
    expect(line['newest']).toBe(newest);
    if (newest !== undefined) expect(Math.floor(Number(line['ageMs']) / hourMs)).toBe(1);
  }

  it('that fails is repeated after a minute, then after twice the time, up to the interval, until it succeeds', async () => {
    const own = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
    const folder = join(scratchFolder(), 'backups');
    const repeated = start(['--to', folder, '--keep', '1', '--every', '3m'], own);
    await expectFailure(repeated, 'there is no database');
    await (await launchForTest(own)).stop();
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file');
    await repeated.skipWait(minuteMs);
    await expectFailure(repeated, 'a part of the path is not a folder: ENOTDIR');
    await repeated.skipWait(2 * minuteMs);
    await expectFailure(repeated, 'a part of the path is not a folder: ENOTDIR');
    rmSync(folder);
    await repeated.skipWait(3 * minuteMs);
    expect(await repeated.next()).toMatchObject({ level: 30, msg: 'backed up' });
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file');
    await repeated.skipWait(3 * minuteMs);
    await expectFailure(repeated, 'ENOTDIR');
    await repeated.skipWait(minuteMs);
  });

  it.skipIf(disk === undefined)(
    'that fails because the folder is read-only, or its disk is full, is repeated (needs the right to mount)',
    async () => {
      const folder = join(disk ?? '', 'backups');
      const newest = nameOf(1);
      mkdirSync(folder);
      createFiles(folder, [newest]);
      const remount = (mode: string) => spawnSync('mount', ['-o', `remount,${mode}`, disk ?? '']);
      remount('ro');
      onTestFinished(() => void remount('rw'));
      const repeated = start(['--to', folder, '--keep', '1', '--every', '1h']);
      await expectFailure(repeated, 'the file system is read-only', newest);
      remount('rw');
      const release = fillDisk(disk ?? '');
      await repeated.skipWait(minuteMs);
      await expectFailure(repeated, 'the disk is full', newest);
      expect(readdirSync(folder)).toEqual([newest]);
      release();
      await repeated.skipWait(2 * minuteMs);
      expect(await repeated.next()).toMatchObject({ level: 30, msg: 'backed up' });
      expect(readdirSync(folder)).toEqual([expect.stringMatching(ownName)]);
    },
  );

  // These two wait for several seconds, so they run at the same time. Vitest cannot tell which of them has called a helper.
  it('that fails because the database is locked is repeated', { concurrent: true }, async (context) => {
    const folder = join(server.folder, 'locked');
    const database = join(folder, 'postroom.db');
    const newest = nameOf(1);
    mkdirSync(folder);
    createFiles(folder, [newest]);
    withDatabase(server.databaseFile, (open) => open.exec(`vacuum into '${database}'`));
    const locked = new DatabaseSync(database);
    locked.exec('pragma locking_mode = exclusive; begin exclusive');
    const own = { DATABASE_URL: `sqlite:${database}` };
    const repeated = start(['--to', folder, '--keep', '1', '--every', '1h'], own, {
      onFinished: context.onTestFinished,
    });
    await expectFailure(repeated, 'database is locked', newest);
    locked.close();
    await repeated.skipWait(minuteMs);
    expect(await repeated.next()).toMatchObject({ level: 30, msg: 'backed up' });
  });

  it('stops with the exit status 0 on SIGTERM while it copies, and leaves no file (strace)', {
    concurrent: true,
    skip: !hasStrace,
  }, async (context) => {
    const folder = join(server.folder, 'stopped');
    const delay = ['-e', 'trace=pwrite64', '-e', 'inject=pwrite64:delay_enter=3000000:when=1'];
    const tracer = ['strace', '-D', '-f', '--seccomp-bpf', '-o', '/dev/null', ...delay];
    const args = ['--to', folder, '--keep', '1', '--every', '1h'];
    const repeated = start(args, settings(), { tracer, onFinished: context.onTestFinished });
    await expect.poll(() => existsSync(folder) && readdirSync(folder).join()).toContain('.db.partial-');
    expect(await repeated.end('SIGTERM')).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });
});
