import type { NewPost } from '../data/domain/posts.ts';
import { createRoomRow } from '../data/domain/rooms.ts';
import { createUserRow } from '../data/domain/users.ts';
import type { RoomRow, UserRow } from '../data/tables.ts';
import type { ImportRecord, PostRecord, RoomRecord } from './records.ts';

/** A line that is refused, and all reasons. */
export interface RefusedLine {
  line: number;
  reason: string;
}

/** A line of the file: its record, or the reason why it is refused. */
export type Entry = { line: number; record: ImportRecord } | RefusedLine;

/** Rooms, and the ids of users, by name. */
export interface Names {
  rooms: Map<string, Pick<RoomRow, 'id' | 'visibility'>>;
  users: Map<string, string>;
}

export interface ResolvedPost {
  post: NewPost;
  isTitleCorrected: boolean;
}

/** The rows to insert for a batch, before existing posts are removed. */
export interface Resolved {
  rooms: RoomRow[];
  users: UserRow[];
  posts: ResolvedPost[];
  existing: { rooms: number; users: number };
  refusals: RefusedLine[];
}

/** Resolves the entries in order: a name can be used after its record. Names of new records are added to `names`. */
export function resolveEntries(entries: readonly Entry[], names: Names, isStrict: boolean): Resolved {
  const resolved: Resolved = { rooms: [], users: [], posts: [], existing: { rooms: 0, users: 0 }, refusals: [] };
  for (const entry of entries) {
    const reason = 'reason' in entry ? entry.reason : resolve(entry.record, names, resolved);
    if (reason === undefined) continue;
    resolved.refusals.push({ line: entry.line, reason });
    if (isStrict) break;
  }
  return resolved;
}

/** Returns the reason why the record is refused, or undefined. */
function resolve(record: ImportRecord, names: Names, resolved: Resolved): string | undefined {
  if (record.type === 'post') return resolvePost(record, names, resolved.posts);
  if (record.type === 'room') return resolveRoom(record, names, resolved);
  const { name, createdAt } = record;
  if (names.users.has(name)) resolved.existing.users += 1;
  else {
    const user = createUserRow({ name, createdAt });
    names.users.set(name, user.id);
    resolved.users.push(user);
  }
  return undefined;
}

function resolveRoom({ name, visibility }: RoomRecord, names: Names, resolved: Resolved): string | undefined {
  const found = names.rooms.get(name);
  // Private posts must not be added to a public room.
  if (found && found.visibility !== visibility)
    return `the room ${JSON.stringify(name)} exists, and its visibility is ${found.visibility}`;
  if (found) resolved.existing.rooms += 1;
  else {
    const room = createRoomRow({ name, visibility });
    names.rooms.set(name, room);
    resolved.rooms.push(room);
  }
  return undefined;
}

/**
 * Imported posts are history: they were created at the time of their publication, and the log has no events for them.
 */
function resolvePost(record: PostRecord, names: Names, posts: ResolvedPost[]): string | undefined {
  const { room, author, title, body, publishedAt, isTitleCorrected } = record;
  const [roomId, authorId] = [names.rooms.get(room)?.id, names.users.get(author)];
  if (roomId === undefined || authorId === undefined)
    return [
      ...(roomId === undefined ? [`there is no earlier record of the room ${JSON.stringify(room)}`] : []),
      ...(authorId === undefined ? [`there is no earlier record of the author ${JSON.stringify(author)}`] : []),
    ].join('; ');
  posts.push({ post: { roomId, authorId, title, body, publishedAt, createdAt: publishedAt }, isTitleCorrected });
  return undefined;
}
