import { readConfig } from '../config.ts';
import { restoreDatabase } from '../data/open-database.ts';
import { summarize } from './backup-summary.ts';
import { readForcedFile } from './forced-file.ts';

const consequences = `Whatever happened after the backup is undone:
- accounts, rooms and posts that were deleted since exist again
- API keys that were revoked since are valid again until they expire
- sessions that were ended since by a new password are valid again until they expire, and the old password is valid
- members who left or were removed since are members again; rooms and roles are as they were
- posts that members have read since are unread again
- mutes that were ended since apply again, and later ones are lost
Clients that have seen later events receive CURSOR_EXPIRED, and query their rooms again.
`;

/**
 * `restore FILE [--force]`: replaces the database by a backup, while no server uses it. Returns 0 when it is done, 1 for
 * wrong arguments.
 */
export async function restore(args: string[]): Promise<number> {
  const given = readForcedFile('restore', args);
  if (!given) return 1;
  const { file, isForced } = given;
  const { databaseUrl } = readConfig();
  const contents = await restoreDatabase(databaseUrl, file, { isForced });
  process.stdout.write(`Restored ${file} (${summarize(contents)}).\n${consequences}`);
  return 0;
}
