import type { Db } from '../data/database/database.ts';
import { lockByName } from '../data/database/settings.ts';
import { createPostRow, findDuplicatePosts, type PostIdentity } from '../data/domain/posts.ts';
import { createRoomRow, findImportedRooms } from '../data/domain/rooms.ts';
import { createUserRow, findImportedUsers } from '../data/domain/users.ts';
import { insertRows } from '../data/sql/list-statements.ts';
import type { PostRow, RoomRow, UserRow } from '../data/tables.ts';
import type { ImportRecord, RecordOf } from './records.ts';

/** A line that is refused, and all reasons. */
interface RefusedLine {
  line: number;
  reason: string;
}

/** A line of the file: its record, or the reason why it is refused. */
export type Entry = { line: number; record: ImportRecord } | RefusedLine;

export type Counts = Record<'rooms' | 'users' | 'posts', number>;

/** The outcome of the lines of a batch. */
export interface Outcome {
  added: Counts;
  /** Lines whose room, user or post existed before. */
  existing: Counts;
  /** Added titles whose control characters were replaced by spaces. */
  correctedTitles: number;
  refusals: RefusedLine[];
}

/** The rooms and users that records may name, by name. */
interface Names {
  rooms: Map<string, Pick<RoomRow, 'id' | 'visibility'>>;
  users: Map<string, Pick<UserRow, 'id'>>;
}

/** The rows of a batch. */
class Rows {
  readonly rooms: RoomRow[] = [];
  readonly users: UserRow[] = [];
  readonly posts: PostRow[] = [];
  /** The posts whose titles were corrected. */
  readonly corrected = new Set<PostRow>();
  readonly existing: Counts = { rooms: 0, users: 0, posts: 0 };
  readonly #names: Names;

  constructor(names: Names) {
    this.#names = names;
  }

  /** Adds the row of a record. Its name can be used from then on. Returns the reason why the record is refused, or undefined. */
  add(record: ImportRecord): string | undefined {
    switch (record.type) {
      case 'room':
        return this.#addRoom(record);
      case 'user':
        return this.#addUser(record);
      case 'post':
        return this.#addPost(record);
    }
  }

  #addRoom({ name, visibility }: RecordOf<'room'>): string | undefined {
    const found = this.#names.rooms.get(name);
    // Private posts must not be added to a public room.
    if (found && found.visibility !== visibility)
      return `the room ${JSON.stringify(name)} exists, and its visibility is ${found.visibility}`;
    if (found) this.existing.rooms += 1;
    else {
      const room = createRoomRow({ name, visibility });
      this.#names.rooms.set(name, room);
      this.rooms.push(room);
    }
    return undefined;
  }

  #addUser({ name, createdAt }: RecordOf<'user'>): undefined {
    if (this.#names.users.has(name)) this.existing.users += 1;
    else {
      const user = createUserRow({ name, createdAt });
      this.#names.users.set(name, user);
      this.users.push(user);
    }
  }

  /** Imported posts are history: they were created at the time of their publication, and the log has no events for them. */
  #addPost({ room, author, title, body, publishedAt }: RecordOf<'post'>): string | undefined {
    const [roomId, authorId] = [this.#names.rooms.get(room)?.id, this.#names.users.get(author)?.id];
    if (roomId === undefined || authorId === undefined)
      return [
        ...(roomId === undefined ? [`there is no earlier record of the room ${JSON.stringify(room)}`] : []),
        ...(authorId === undefined ? [`there is no earlier record of the author ${JSON.stringify(author)}`] : []),
      ].join('; ');
    const post = createPostRow({ roomId, authorId, title: title.text, body, publishedAt, createdAt: publishedAt });
    this.posts.push(post);
    if (title.isCorrected) this.corrected.add(post);
    return undefined;
  }
}

/**
 * Writes the new records of a batch; the caller opens the transaction. The batches of two imports run one after the
 * other, because no constraint prevents that both insert the same user or post. A strict import writes nothing after the
 * first refused line.
 */
export async function writeBatch(db: Db, entries: readonly Entry[], isStrict: boolean): Promise<Outcome> {
  await lockByName(db, 'import');
  const rows = new Rows(await findNames(db, entries));
  const refusals: RefusedLine[] = [];
  for (const entry of entries) {
    const reason = 'reason' in entry ? entry.reason : rows.add(entry.record);
    if (reason !== undefined) refusals.push({ line: entry.line, reason });
    if (reason !== undefined && isStrict) break;
  }
  const { rooms, users, posts, corrected, existing } = rows;
  const added = await findNew(db, posts);
  await insertRows(db, 'rooms', rooms);
  await insertRows(db, 'users', users);
  await insertRows(db, 'posts', added);
  return {
    added: { rooms: rooms.length, users: users.length, posts: added.length },
    existing: { ...existing, posts: posts.length - added.length },
    correctedTitles: added.filter((post) => corrected.has(post)).length,
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
    users: new Map((await findImportedUsers(db, [...users])).map((user) => [user.name, user])),
  };
}

/** The posts that do not exist yet, without duplicates. */
async function findNew(db: Db, posts: readonly PostRow[]): Promise<PostRow[]> {
  const seen = new Set((await findDuplicatePosts(db, posts)).map(keyOf));
  return posts.filter((post) => {
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
