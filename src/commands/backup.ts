import { globSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createFolder } from '../common/create-folder.ts';
import { BadSetting } from '../config/bad-setting.ts';
import { parseWhole, readConfig } from '../config/config.ts';
import type { BackupContents, Progress } from '../data/database/backup.ts';
import { prepareBackup, restoreDatabase } from '../data/database/open-database.ts';
import { createLog, type Log } from '../log/log.ts';
import { explainFailures, WrongArguments } from './failure.ts';

const consequences = `Whatever happened after the backup is undone:
- accounts, rooms and posts that were deleted since exist again
- API keys and invitations that were revoked or used up since are valid again until they expire
- sessions that were ended since by a new password are valid again until they expire, and the old password is valid
- members who left or were removed since are members again; rooms and roles are as they were
- posts that members have read since are unread again
- mutes that were ended since apply again, and later ones are lost
Clients that have seen later events receive CURSOR_EXPIRED, and query their rooms again.
`;

/**
 * `backup FILE [--force]`: writes the database to a file, also while a server uses it. Returns 0 when the file is verified
 * and on the disk. `backup --to DIR --keep N [--every INTERVAL]` writes it into a folder.
 */
export async function backup(args: string[]): Promise<number> {
  const given = args.some((arg) => /^--(to|keep|every)\b/.test(arg)) ? readSchedule(args) : readFile('backup', args);
  const { databaseUrl, logLevel } = readConfig();
  const log = createLog(logLevel);
  const onUnrecorded = (reason: string) =>
    log.warn({ reason }, 'the metrics do not show the backup, which is complete');
  const copyTo = prepareBackup(databaseUrl, { isForced: given.isForced, onProgress: showProgress, onUnrecorded });
  const clear = () => void (process.stderr.isTTY && process.stderr.write('\r\x1b[K'));
  const write = async (file: string) => ({ file, ...(await copyTo(file).finally(clear)) });
  const add = () => ('file' in given ? write(given.file) : addBackup(given.folder, given.keep, write));
  if ('folder' in given && given.intervalMs) return repeat(add, given.folder, given.intervalMs, log);
  const written = await add();
  process.stdout.write(`Backed up to ${written.file} (${summarize(written)}).\n`);
  return 0;
}

/** `restore FILE [--force]`: replaces the database by a backup, while no server uses it. Returns 0 when it is done. */
export async function restore(args: string[]): Promise<number> {
  const { file, isForced } = readFile('restore', args);
  const contents = await restoreDatabase(readConfig().databaseUrl, file, { isForced });
  process.stdout.write(`Restored ${file} (${summarize(contents)}).\n${consequences}`);
  return 0;
}

/** Reads the arguments `FILE [--force]`. @throws WrongArguments */
function readFile(command: string, args: readonly string[]): { file: string; isForced: boolean } {
  const [file, ...more] = args.filter((argument) => argument !== '--force');
  if (file !== undefined && more.length === 0 && !file.startsWith('-'))
    return { file, isForced: args.includes('--force') };
  const scheduled = command === 'backup' ? '\n       postroom backup --to DIR --keep N [--every 1h]' : '';
  throw new WrongArguments(`${command} FILE [--force]${scheduled}`);
}

/** What a backup contains, in one line. */
function summarize({ rooms, users, posts, newestEventAt }: BackupContents): string {
  const counts = Object.entries({ rooms, users, posts });
  const newest = newestEventAt === undefined ? 'none' : new Date(newestEventAt).toISOString();
  return [...counts.map(([noun, count]) => `${noun}: ${count}`), `newest event: ${newest}`].join(', ');
}

function showProgress({ remainingPages, totalPages }: Progress): void {
  const percent = 100 - Math.ceil((100 * remainingPages) / totalPages);
  if (process.stderr.isTTY) process.stderr.write(`\r${percent} % copied\x1b[K`);
}

/** The names have the UTC time at which the backup began. Until it is complete and verified, the name has a suffix. */
const complete = 'postroom-####-##-##T##-##-##Z.db'.replaceAll('#', '[0-9]');
const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const unitsMs: Record<string, number> = { m: minuteMs, h: hourMs, d: dayMs };

/** Reads the arguments `--to DIR --keep N [--every INTERVAL]`. @throws BadSetting, or an error of `parseArgs` */
function readSchedule(args: string[]) {
  const text = { type: 'string', default: '' } as const;
  const { to, keep, every } = parseArgs({ args, options: { to: text, keep: text, every: { type: 'string' } } }).values;
  if (to === '') throw new BadSetting('--to', to, 'must be a folder');
  const intervalMs = every === undefined ? undefined : parseInterval(every);
  return { folder: to, keep: parseWhole(keep, '--keep', 1), intervalMs, isForced: false };
}

function parseInterval(text: string): number {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const intervalMs = Number(count) * (unitsMs[unit] ?? 0);
  if (intervalMs >= minuteMs && intervalMs <= 7 * dayMs) return intervalMs;
  throw new BadSetting('--every', text, 'must be a time from 1m to 7d, such as 30m, 1h or 1d');
}

/** Writes a backup into the folder, and then removes all but the newest `keep`. */
async function addBackup<T>(folder: string, keep: number, write: (file: string) => Promise<T>): Promise<T> {
  createFolder(folder);
  const name = `postroom-${new Date().toISOString().replace(/\.\d+/, '').replaceAll(':', '-')}.db`;
  const written = await write(join(folder, name));
  const [oldest = name] = globSync(complete, { cwd: folder }).sort().slice(-keep);
  // After the clock was set back, the new backup has the name of an older one.
  const isObsolete = (own: string) => own < oldest && own < name && !isWritten(join(folder, own));
  const obsolete = globSync(`${complete}{,-wal,-shm,-journal,.partial-*}`, { cwd: folder }).filter(isObsolete);
  for (const own of obsolete) rmSync(join(folder, own), { force: true });
  return written;
}

/** Whether another run may still write the file, which is not complete. */
function isWritten(file: string): boolean {
  const writtenAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return file.includes('.partial-') && writtenAt > Date.now() - hourMs;
}

/**
 * Adds a backup after each interval, until a signal ends the process with the status 0. After a failure it waits for a minute,
 * and after each further one twice as long, up to the interval.
 */
async function repeat(add: () => Promise<object>, folder: string, intervalMs: number, log: Log): Promise<never> {
  // They run before the listeners of a backup, whose files are removed at the exit.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(0));
  for (let failures = 0; ; ) {
    try {
      log.info(await add(), 'backed up');
      failures = 0;
    } catch (error) {
      const newest = globSync(complete, { cwd: folder }).sort().at(-1);
      const ageMs = newest && Date.now() - Date.parse(newest.slice(9, -3).replace(/-(\d\d)-(\d\dZ)$/, ':$1:$2'));
      log.error({ reason: explainFailures(error).join(' '), newest, ageMs }, 'the backup failed');
      failures += 1;
    }
    await wait(failures === 0 ? intervalMs : Math.min(intervalMs, minuteMs * 2 ** (failures - 1)));
  }
}
