import { readConfig } from '../config/config.ts';
import type { BackupContents, Progress } from '../data/database/backup.ts';
import { prepareBackup, restoreDatabase } from '../data/database/open-database.ts';
import { createLog } from '../log/log.ts';
import { WrongArguments } from './failure.ts';
import { addBackup, readSchedule, repeat } from './scheduled-backup.ts';

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
