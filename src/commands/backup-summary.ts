import type { BackupContents } from '../data/backup.ts';

/** What a backup contains, in one line. */
export function summarize({ rooms, users, posts, newestEventAt }: BackupContents): string {
  const counts = Object.entries({ rooms, users, posts });
  const newest = newestEventAt === undefined ? 'none' : new Date(newestEventAt).toISOString();
  return [...counts.map(([noun, count]) => `${noun}: ${count}`), `newest event: ${newest}`].join(', ');
}
