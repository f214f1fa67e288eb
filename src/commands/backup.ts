import { readConfig } from '../config.ts';
import type { Progress } from '../data/backup.ts';
import { backUpDatabase } from '../data/open-database.ts';
import { summarize } from './backup-summary.ts';
import { readForcedFile } from './forced-file.ts';

/**
 * `backup FILE [--force]`: writes the database to a file, also while a server uses it. Returns 0 when the file is verified
 * and on the disk, 1 for wrong arguments.
 */
export async function backup(args: string[]): Promise<number> {
  const given = readForcedFile('backup', args);
  if (!given) return 1;
  const { file, isForced } = given;
  const { databaseUrl } = readConfig();
  const contents = await backUpDatabase(databaseUrl, file, { isForced, onProgress: showProgress }).finally(
    clearProgress,
  );
  process.stdout.write(`Backed up to ${file} (${summarize(contents)}).\n`);
  return 0;
}

function showProgress({ copiedPages, totalPages }: Progress): void {
  const percent = Math.floor((100 * copiedPages) / totalPages);
  if (process.stderr.isTTY) process.stderr.write(`\r${percent} % copied\x1b[K`);
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
}
