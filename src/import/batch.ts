import type { Db } from '../data/database/database.ts';
import { lockByName } from '../data/database/settings.ts';
import { createPostRow, findDuplicatePosts, type PostIdentity } from '../data/domain/posts.ts';
import { findImportedRooms } from '../data/domain/rooms.ts';
import { findImportedUsers } from '../data/domain/users.ts';
import { insertRows } from '../data/sql/list-statements.ts';
import { type Entry, type Names, type RefusedLine, type ResolvedPost, resolveEntries } from './resolve.ts';

export interface Counts {
  rooms: number;
  users: number;
  posts: number;
}

/** The outcome of the lines of a batch. */
export interface Outcome {
  added: Counts;
  /** Lines whose room, user or post existed before. */
  existing: Counts;
  /** Added titles whose control characters were replaced by spaces. */
  correctedTitles: number;
  refusals: RefusedLine[];
}

/**
 * Writes the new records of a batch; the caller opens the transaction. The batches of two imports run one after the
 * other, because no constraint prevents that both insert the same user or post. A strict import writes nothing after the
 * first refused line.
 */
export async function writeBatch(db: Db, entries: readonly Entry[], isStrict: boolean): Promise<Outcome> {
  await lockByName(db, 'import');
  const names = await findNames(db, entries);
  const { rooms, users, posts, existing, refusals } = resolveEntries(entries, names, isStrict);
  const added = await findNew(db, posts);
  await insertRows(db, 'rooms', rooms);
  await insertRows(db, 'users', users);
  await insertRows(
    db,
    'posts',
    added.map(({ post }) => createPostRow(post)),
  );
  return {
    added: { rooms: rooms.length, users: users.length, posts: added.length },
    existing: { ...existing, posts: posts.length - added.length },
    correctedTitles: added.filter(({ isTitleCorrected }) => isTitleCorrected).length,
    refusals,
  };
}

/** The existing rooms and users that the entries name. If several have the same name, the last one is used. */
async function findNames(db: Db, entries: readonly Entry[]): Promise<Names> {
  const [rooms, users] = [new Set<string>(), new Set<string>()];
  for (const entry of entries) {
    if ('reason' in entry) continue;
    const { record } = entry;
    if (record.type === 'post') {
      rooms.add(record.room);
      users.add(record.author);
    } else if (record.type === 'room') rooms.add(record.name);
    else users.add(record.name);
  }
  return {
    rooms: new Map((await findImportedRooms(db, [...rooms])).map((room) => [room.name, room])),
    users: new Map((await findImportedUsers(db, [...users])).map(({ id, name }) => [name, id])),
  };
}

/** The posts that do not exist yet, without duplicates. */
async function findNew(db: Db, posts: readonly ResolvedPost[]): Promise<ResolvedPost[]> {
  const stored = await findDuplicatePosts(
    db,
    posts.map(({ post }) => post),
  );
  const seen = new Set(stored.map(keyOf));
  return posts.filter(({ post }) => {
    const key = keyOf(post);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function keyOf({ roomId, authorId, publishedAt, body }: PostIdentity): string {
  // A post without a body differs from a post with an empty body.
  return `${roomId} ${authorId} ${publishedAt}${body === null ? '' : ` ${body}`}`;
}
