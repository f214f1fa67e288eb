import type { BackupContents } from '../data/backup.ts';

/** What a backup contains, in one line. */
export function summarize({ rooms, users, posts, newestEventAt }: BackupContents): string {
  const counts = Object.entries({ rooms, users, posts }).map(
    ([noun, count]) => `${count.toLocaleString('en-US')} ${noun}`,
  );
  const newest = newestEventAt === undefined ? 'no events' : `newest event ${new Date(newestEventAt).toISOString()}`;
  return [...counts, newest].join(', ');
}
