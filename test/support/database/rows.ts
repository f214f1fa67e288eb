import { createId } from '../../../src/common/ids.ts';
import { withDatabase } from '../server/shared-server.ts';

/* Writes rows that the API cannot create: with chosen times, and many at once. */

type Value = string | number | null;

export function insert(file: string, table: string, rows: readonly Record<string, Value>[]): void {
  const [first] = rows;
  if (!first) return;
  const columns = Object.keys(first);
  const places = columns.map(() => '?').join(', ');
  withDatabase(file, (database) => {
    const statement = database.prepare(
      `insert into "${table}" (${columns.map((name) => `"${name}"`).join(', ')}) values (${places})`,
    );
    database.exec('begin immediate');
    for (const row of rows) statement.run(...columns.map((name) => row[name] ?? null));
    database.exec('commit');
  });
}

/** Writes one user for each creation time. */
export function writeUsers(file: string, times: readonly number[]): string[] {
  const rows = times.map((time, index) => ({
    id: createId('User'),
    name: `user ${index}`,
    createdAt: time,
    updatedAt: time,
    version: 1,
  }));
  insert(file, 'users', rows);
  return rows.map(({ id }) => id);
}

/** Writes a room without an owner; its name is unique by default. */
export function writeRoom(file: string, name?: string): string {
  const id = createId('Room');
  insert(file, 'rooms', [{ id, name: name ?? id, head: 0, createdAt: 1, updatedAt: 1, version: 1 }]);
  return id;
}

/** Writes one post for each publication time; null writes a draft. */
export function writePosts(
  file: string,
  { room, author, times }: { room: string; author: string; times: readonly (number | null)[] },
): string[] {
  const rows = times.map((publishedAt, index) => ({
    id: createId('Post'),
    roomId: room,
    authorId: author,
    title: `post ${index}`,
    publishedAt,
    createdAt: 1,
    updatedAt: 1,
    version: 1,
  }));
  insert(file, 'posts', rows);
  return rows.map(({ id }) => id);
}

/** Writes one member for each joining time. */
export function writeMembers(file: string, room: string, times: readonly number[]): string[] {
  const ids = writeUsers(file, times);
  insert(
    file,
    'roomMembers',
    ids.map((userId, index) => ({ roomId: room, userId, joinedAt: times[index] ?? 0 })),
  );
  return ids;
}
