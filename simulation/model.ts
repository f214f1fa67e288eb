import { DatabaseSync } from 'node:sqlite';
import type { RoomPosition } from '../src/live/cursor.ts';
import { retention } from './node.ts';

/** An event that was committed, as the model has seen it right after its commit. */
export interface Committed extends RoomPosition {
  previousMark: number;
  type: string;
  subjectId: string;
  /** Who may see the room after it; undefined for everybody. */
  audience: ReadonlySet<string> | undefined;
}

interface ModelRoom {
  head: { seq: number; mark: number };
  isPrivate: boolean;
  members: ReadonlySet<string>;
  /** When a user has last lost access, and by which event. */
  lost: Map<string, { at: number; seq: number }>;
  /** When a user has last lost or gained access. */
  changed: Map<string, number>;
  /** When a user was last a former member. */
  left: Map<string, number>;
}

/** How long a node may need to notice that an access has ended. */
const graceMs = 2_000;

/**
 * What is true, read from the database right after each commit: which events exist, in which order, and who may see them at
 * which moment. Everything that a client receives is compared with it.
 */
export class Model {
  readonly rooms = new Map<string, ModelRoom>();
  /** All events that were ever committed, also those of a history that was lost, by cursor. */
  readonly committed = new Map<string, Committed>();
  /** The titles of all posts that were ever stored. */
  readonly titles = new Set<string>();
  /** When each post was deleted. */
  readonly deletedPosts = new Map<string, number>();
  readonly deleted = new Set<string>();
  /** When the sessions of a user were last ended. */
  readonly revoked = new Map<string, number>();
  /** Rooms that were deleted, or lost by a rewind. */
  readonly ended = new Set<string>();
  rewinds = 0;
  /** When the database was last rewound. */
  rewoundAt = Number.NEGATIVE_INFINITY;
  readonly #generations = new Map<string, number>();
  /** The events by the position before them. */
  readonly #followers = new Map<string, Committed[]>();
  readonly #database: DatabaseSync;
  readonly #now: () => number;
  readonly #note: (text: string) => void;

  /** `note`: records what was committed. */
  constructor(path: string, now: () => number, note: (text: string) => void) {
    this.#database = new DatabaseSync(path);
    this.#now = now;
    this.#note = note;
  }

  /** Reads what was committed since the last call. */
  update(): void {
    const deletedBefore = new Set(this.deleted);
    this.deleted.clear();
    for (const { id, sessionsFrom, deletedAt } of this.#all('select id, sessionsFrom, deletedAt from users')) {
      const [userId, generation] = [String(id), Number(sessionsFrom)];
      if (deletedAt !== null) this.deleted.add(userId);
      const isNew = deletedAt !== null && !deletedBefore.has(userId);
      if (isNew || generation > (this.#generations.get(userId) ?? 0)) this.revoked.set(userId, this.#now());
      this.#generations.set(userId, generation);
    }
    const rows = this.#all('select id, visibility, head from rooms where deletedAt is null');
    for (const { id, visibility, head } of rows) this.#updateRoom(String(id), visibility === 'PRIVATE', Number(head));
    const present = new Set(rows.map(({ id }) => String(id)));
    for (const id of this.rooms.keys()) if (!present.has(id)) this.#endRoom(id);
  }

  /** The database has returned to an earlier state. */
  rewind(): void {
    this.rewinds += 1;
    this.rewoundAt = this.#now();
    for (const [id, room] of this.rooms) {
      const [row] = this.#all('select visibility, head, headMark from rooms where id = ? and deletedAt is null', id);
      if (!row) this.#endRoom(id);
      else Object.assign(room, this.#stateOf(id, row));
    }
    this.update();
  }

  /** Whether a user may see a room now. */
  maySee(userId: string, roomId: string): boolean {
    const room = this.rooms.get(roomId);
    return room !== undefined && (!room.isPrivate || room.members.has(userId));
  }

  /** Whether a user could not see a room at some time within the last milliseconds. */
  wasHidden(userId: string, roomId: string, withinMs: number): boolean {
    if (!this.maySee(userId, roomId)) return true;
    return this.#now() - (this.rooms.get(roomId)?.changed.get(userId) ?? Number.NEGATIVE_INFINITY) <= withinMs;
  }

  /** Whether a user was no member of a room at some time within the last milliseconds. */
  wasNoMember(userId: string, roomId: string, withinMs: number): boolean {
    const room = this.rooms.get(roomId);
    return !room?.members.has(userId) || this.#now() - (room.left.get(userId) ?? Number.NEGATIVE_INFINITY) <= withinMs;
  }

  /**
   * Why an event may not be sent to a user at this moment; undefined if it may. `isLate`: it came before the end of the
   * access, of which a node may not know yet.
   */
  findLeak(userId: string, event: Committed): { reason: string; isLate: boolean } | undefined {
    if (this.maySee(userId, event.roomId) || this.ended.has(event.roomId)) return undefined;
    const lost = this.rooms.get(event.roomId)?.lost.get(userId);
    if (this.rewinds > 0) return undefined;
    if (!lost) return { reason: 'the user never had access', isLate: false };
    if (event.seq >= lost.seq) return { reason: `the user lost access with event ${lost.seq}`, isLate: false };
    const age = this.#now() - lost.at;
    return age > graceMs ? { reason: `the user lost access ${Math.round(age)} ms ago`, isLate: true } : undefined;
  }

  /** The event after a position in the present history. */
  next({ roomId, seq, mark }: RoomPosition): Committed | undefined {
    return this.#followers.get(`${roomId} ${seq} ${mark}`)?.at(-1);
  }

  /** Whether an event was committed and is not in the log: the database was rewound, or the log was trimmed. */
  isGone({ roomId, seq, mark }: RoomPosition): boolean {
    const [row] = this.#all('select mark from roomEvents where roomId = ? and seq = ?', roomId, seq);
    return row?.['mark'] !== mark;
  }

  /** Whether the log may no longer be read after a number. */
  isTrimmed(roomId: string, seq: number): boolean {
    const head = this.rooms.get(roomId)?.head.seq ?? 0;
    return this.ended.has(roomId) || seq < head - retention.count;
  }

  /** The rooms of a user. */
  roomsOf(userId: string): string[] {
    return [...this.rooms].flatMap(([id, { members }]) => (members.has(userId) ? [id] : []));
  }

  /** The number of posts that a member has not read, counted one by one. */
  countUnread(userId: string, roomId: string): number {
    const [member] = this.#all(
      'select joinedAt, readUpTo from roomMembers where userId = ? and roomId = ?',
      userId,
      roomId,
    );
    const readUpTo = Number(member?.['readUpTo'] ?? member?.['joinedAt'] ?? 0);
    const posts = this.#all(
      "select authorId, publishedAt from posts where roomId = ? and authorId not in (select id from users where erasing = 'POSTS')",
      roomId,
    );
    return posts.filter(({ authorId, publishedAt }) => authorId !== userId && Number(publishedAt ?? 0) > readUpTo)
      .length;
  }

  close(): void {
    this.#database.close();
  }

  #updateRoom(roomId: string, isPrivate: boolean, head: number): void {
    const known = this.rooms.get(roomId);
    const room = known ?? {
      head: { seq: 0, mark: 0 },
      isPrivate,
      members: new Set<string>(),
      lost: new Map(),
      changed: new Map(),
      left: new Map(),
    };
    this.rooms.set(roomId, room);
    if (head === room.head.seq) return;
    const rows = this.#all('select * from roomEvents where roomId = ? and seq > ? order by seq', roomId, room.head.seq);
    for (const row of rows) {
      const [type, subjectId] = [String(row['type']), String(row['subjectId'])];
      const [seq, mark] = [Number(row['seq']), Number(row['mark'])];
      const earlier = { isPrivate: room.isPrivate, members: room.members };
      if (type === 'MemberJoined') room.members = new Set([...room.members, subjectId]);
      if (type === 'MemberLeft') room.left.set(subjectId, this.#now());
      if (type === 'MemberLeft') room.members = new Set([...room.members].filter((id) => id !== subjectId));
      if (type === 'RoomUpdated') room.isPrivate = isPrivate;
      if (type === 'PostDeleted') this.deletedPosts.set(subjectId, this.#now());
      if (type === 'PostCreated') this.#recordTitle(subjectId);
      room.head = { seq, mark };
      this.#note(`${type} ${seq} of ${roomId} is committed, about ${subjectId}`);
      this.#recordAccess(room, earlier);
      const audience = room.isPrivate ? room.members : undefined;
      const event = { roomId, seq, mark, previousMark: Number(row['previousMark']), type, subjectId, audience };
      this.committed.set(`${roomId} ${seq} ${mark}`, event);
      const before = `${roomId} ${seq - 1} ${event.previousMark}`;
      this.#followers.set(before, [...(this.#followers.get(before) ?? []), event]);
    }
  }

  #recordAccess(room: ModelRoom, before: Pick<ModelRoom, 'isPrivate' | 'members'>): void {
    for (const userId of this.#generations.keys()) {
      const [could, can] = [before, room].map(({ isPrivate, members }) => !isPrivate || members.has(userId));
      if (could === can) continue;
      room.changed.set(userId, this.#now());
      if (could) room.lost.set(userId, { at: this.#now(), seq: room.head.seq });
    }
  }

  #recordTitle(postId: string): void {
    const [post] = this.#all('select title from posts where id = ?', postId);
    if (post) this.titles.add(String(post['title']));
  }

  #stateOf(id: string, row: Record<string, unknown>): Partial<ModelRoom> {
    const members = this.#all('select userId from roomMembers where roomId = ?', id).map(({ userId }) =>
      String(userId),
    );
    const head = { seq: Number(row['head']), mark: Number(row['headMark']) };
    return { head, isPrivate: row['visibility'] === 'PRIVATE', members: new Set(members) };
  }

  #endRoom(id: string): void {
    this.rooms.delete(id);
    this.ended.add(id);
    this.#note(`${id} is deleted`);
  }

  #all(text: string, ...values: string[] | [string, number]): Record<string, unknown>[] {
    return this.#database.prepare(text).all(...values);
  }
}
