import { globSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createFolder } from '../common/create-folder.ts';
import { BadSetting } from '../config/bad-setting.ts';
import { parseWhole } from '../config/config.ts';
import type { Log } from '../log/log.ts';
import { explainFailures } from './failure.ts';

/** The names have the UTC time at which the backup began. Until it is complete and verified, the name has a suffix. */
const complete = 'postroom-####-##-##T##-##-##Z.db'.replaceAll('#', '[0-9]');
const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const unitsMs: Record<string, number> = { m: minuteMs, h: hourMs, d: dayMs };

/** Reads the arguments `--to DIR --keep N [--every INTERVAL]`. @throws BadSetting, or an error of `parseArgs` */
export function readSchedule(args: string[]) {
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
export async function addBackup<T>(folder: string, keep: number, write: (file: string) => Promise<T>): Promise<T> {
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
export async function repeat(add: () => Promise<object>, folder: string, intervalMs: number, log: Log): Promise<never> {
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
