import type { NewPost } from '../data/posts.ts';
import { createRoomRow } from '../data/rooms.ts';
import type { RoomRow, UserRow } from '../data/tables.ts';
import { createUserRow } from '../data/users.ts';
import { type ImportRecord, joinReasons, type PostRecord } from './records.ts';

/** A line that is refused, and all reasons. */
export interface Refusal {
  line: number;
  reason: string;
}

/** A line of the file: its record, or the reason why it is refused. */
export type Entry = { line: number; record: ImportRecord } | Refusal;

/** The ids of rooms and users, by name. */
export interface Names {
  rooms: Map<string, string>;
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
  refusals: Refusal[];
}

/**
 * Resolves the entries in order, so that a name can be used after its record. The names of new records are added to
 * `names`.
 */
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
function resolve(record: ImportRecord, names: Names, { rooms, users, posts, existing }: Resolved): string | undefined {
  if (record.type === 'post') return resolvePost(record, names, posts);
  const { name } = record;
  if (record.type === 'room') {
    if (names.rooms.has(name)) existing.rooms += 1;
    else rooms.push(addName(names.rooms, createRoomRow({ name })));
  } else if (names.users.has(name)) existing.users += 1;
  else users.push(addName(names.users, createUserRow({ name, createdAt: record.createdAt })));
  return undefined;
}

function addName<Row extends { id: string; name: string }>(ids: Map<string, string>, row: Row): Row {
  ids.set(row.name, row.id);
  return row;
}

/**
 * Imported posts are history: they were created at the time of their publication, and the log has no events for them.
 */
function resolvePost(record: PostRecord, names: Names, posts: ResolvedPost[]): string | undefined {
  const { room, author, title, body, publishedAt, isTitleCorrected } = record;
  const [roomId, authorId] = [names.rooms.get(room), names.users.get(author)];
  if (roomId === undefined || authorId === undefined)
    return joinReasons([
      ...(roomId === undefined ? [`there is no earlier record of the room ${JSON.stringify(room)}`] : []),
      ...(authorId === undefined ? [`there is no earlier record of the author ${JSON.stringify(author)}`] : []),
    ]);
  posts.push({ post: { roomId, authorId, title, body, publishedAt, createdAt: publishedAt }, isTitleCorrected });
  return undefined;
}
