import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/* Databases that are large enough for slow reads. Each is imported once and copied for each attack. */

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

const archives = {
  /** 100,000 short posts by 1,000 users in one room. */
  posts: () => createHistory({ posts: 100_000, users: 1_000, body: 'short' }),
  /** 120 posts of the maximum size, 80 kB each. */
  bodies: () => createHistory({ posts: 120, users: 5, body: '\u{1F600}'.repeat(19_990) }),
};

export type ArchiveName = keyof typeof archives;

const imported = new Map<ArchiveName, string>();

/** Returns the folder of the imported archive. The first call imports it. */
export function importArchive(name: ArchiveName): string {
  const folder = imported.get(name) ?? importHistory(archives[name]());
  imported.set(name, folder);
  return folder;
}

/** Copies the archive into `folder` under the file name that a server uses for its database. */
export function copyArchive(name: ArchiveName, folder: string): void {
  copyFileSync(join(importArchive(name), 'postroom.db'), join(folder, 'postroom.db'));
}

export function removeArchives(): void {
  for (const folder of imported.values()) rmSync(folder, { recursive: true, force: true });
  imported.clear();
}

/** The name of the only room in each archive. */
export const archiveRoom = 'archive';

interface HistoryOptions {
  posts: number;
  users: number;
  body: string;
}

function createHistory({ posts, users, body }: HistoryOptions): string {
  const lines: object[] = [{ type: 'room', name: archiveRoom }];
  for (let user = 0; user < users; user += 1) {
    lines.push({ type: 'user', name: `user ${user}`, createdAt: '2004-12-25T09:14:00.000Z' });
  }
  const start = Date.UTC(2005, 0, 1);
  for (let post = 0; post < posts; post += 1) {
    const publishedAt = new Date(start + post * 60_000).toISOString();
    const author = `user ${post % users}`;
    lines.push({
      type: 'post',
      room: archiveRoom,
      author,
      title: `post ${post}`,
      body: `${post} ${body}`,
      publishedAt,
    });
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

function importHistory(history: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-archive-'));
  const file = join(folder, 'history.ndjson');
  try {
    writeFileSync(file, history);
    const env = { PATH: process.env['PATH'], DATABASE_URL: `sqlite:${join(folder, 'postroom.db')}` };
    execFileSync(process.execPath, [main, 'import', file], { stdio: 'pipe', env });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return folder;
}
