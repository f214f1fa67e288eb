import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { RoomPosition } from '../src/live/cursor.ts';
import { ExtensionModel, extensionEvents } from './extension-model.ts';

/** An event that was committed, as the model has seen it right after its commit. */
export interface Committed extends RoomPosition {
  at: number;
  previousMark: number;
  type: string;
  subjectId: string;
  /** The version of the subject after it. */
  version: number;
  actorId: string | null;
  /** Its time, which clients receive. */
  time: number;
  /** Who may see the room after it; undefined for everybody. */
  audience: ReadonlySet<string> | undefined;
}

/** An event in the log of a user. */
export interface UserEvent {
  seq: number;
  mark: number;
  type: string;
  roomId: string;
  roomSeq: number;
  /** Its time, which clients receive. */
  time: number;
  /** Up to when the user had read the room after it. */
  readUpTo: number;
  /** When it was committed. */
  at: number;
}

/** Keeps each version of a post as it was first written, also one that is changed or deleted with the same commit. */
export const recordVersions = `
  create table storedVersions (id text, version integer, title text, authorId text, primary key (id, version)) strict;
  create trigger createdVersion after insert on posts begin
    insert or ignore into storedVersions values (new.id, new.version, new.title, new.authorId);
  end;
  create trigger updatedVersion after update on posts begin
    insert or ignore into storedVersions values (new.id, new.version, new.title, new.authorId);
  end;
`;

/** A version of a post, as it was stored. */
interface PostVersion {
  version: number;
  title: string;
  authorId: string;
  /** When it was committed. */
  at: number;
}

interface ModelRoom {
  head: { seq: number; mark: number };
  /** The numbers of its events in the present history, and when each was committed. */
  heads: { seq: number; type: string; at: number }[];
  isPrivate: boolean;
  members: ReadonlySet<string>;
  /** When a user has last lost access, and by which event; a rewind is none. */
  lost: Map<string, { at: number; seq: number }>;
  /** When a user has last lost or gained access. */
  changed: Map<string, number>;
  /** When a user has last become a member or a former member. */
  moved: Map<string, number>;
  /** The number of a user's last MemberJoined. */
  joined: Map<string, number>;
}

interface ModelParts {
  path: string;
  /** The number of events that the log of a room keeps. */
  keptEvents: number;
  hasExtensions: boolean;
  now: () => number;
  /** Records what was committed. */
  note: (text: string) => void;
  onDefect: (message: string) => void;
}

/**
 * What is true, read from the database right after each commit: which events exist, in which order, and who may see them at
 * which moment. Everything that a client receives is compared with it.
 */
export class Model {
  readonly rooms = new Map<string, ModelRoom>();
  /** All events that were ever committed, also those of a history that was lost, by cursor. */
  readonly committed = new Map<string, Committed>();
  /** The posts that were ever stored, by title: no two have the same one. */
  readonly posts = new Map<string, string>();
  /** When each post was deleted. */
  readonly deletedPosts = new Map<string, number>();
  readonly deleted = new Set<string>();
  /** When each user was last deleted, also in a history that was lost. */
  readonly deletedAt = new Map<string, number>();
  /** The names of users and rooms, which never change. */
  readonly names = new Map<string, string>();
  /** The versions of posts that were ever stored, by post, in the order of their commits. */
  readonly #versions = new Map<string, PostVersion[]>();
  /** When rooms were deleted, or lost by a rewind. */
  readonly ended = new Map<string, number>();
  /** When the deletion of a room was lost by a rewind. */
  readonly restored = new Map<string, number>();
  /** The logs of the users in the present history, by user. */
  readonly #userLogs = new Map<string, UserEvent[]>();
  /** When the history of a room, of the log of a user or of a user's sessions was last lost, by id. */
  readonly lostAt = new Map<string, number>();
  rewinds = 0;
  /** When the database was last rewound. */
  rewoundAt = Number.NEGATIVE_INFINITY;
  /** From which number on the sessions of a user are valid, and since when. A deleted user has none. */
  readonly #sessions = new Map<string, { from: number; since: number }>();
  /** The events by the position before them. */
  readonly #followers = new Map<string, Committed[]>();
  /** What extensions have stored; undefined in a run without them. */
  readonly extensions: ExtensionModel | undefined;
  readonly #parts: ModelParts;
  #database: DatabaseSync;
  #statements = new Map<string, StatementSync>();

  constructor(parts: ModelParts) {
    this.#parts = parts;
    this.#database = new DatabaseSync(parts.path);
    const { now, onDefect } = parts;
    const all = (text: string, ...values: string[]) => this.#all(text, ...values);
    if (parts.hasExtensions) this.extensions = new ExtensionModel({ all, now, onDefect });
  }

  /** Reads what was committed since the last call. */
  update(): void {
    const wasDeleted = new Set(this.deleted);
    this.deleted.clear();
    for (const { id, name, sessionsFrom, deletedAt } of this.#all(
      'select id, name, sessionsFrom, deletedAt from users',
    )) {
      const userId = String(id);
      if (deletedAt === null) this.names.set(userId, String(name));
      else if (!wasDeleted.has(userId)) this.deletedAt.set(userId, this.#now());
      const from = deletedAt === null ? Number(sessionsFrom) : Number.POSITIVE_INFINITY;
      if (deletedAt !== null) this.deleted.add(userId);
      if (from !== this.#sessions.get(userId)?.from) this.#sessions.set(userId, { from, since: this.#now() });
    }
    this.#updateUserLogs();
    const present = new Set<string>();
    for (const row of this.#all('select id, name, visibility, head, deletedAt from rooms')) {
      const { id, deletedAt } = row;
      const roomId = String(id);
      if (deletedAt === null) present.add(roomId);
      // The transaction that deletes a room may share a commit with the last events in it.
      if (deletedAt === null || this.rooms.has(roomId)) this.#updateRoom(roomId, row);
    }
    for (const id of this.rooms.keys()) if (!present.has(id)) this.#endRoom(id);
    this.extensions?.update();
  }

  /** The database has returned to an earlier state. `path`: where it is from now on. */
  rewind(path?: string): void {
    if (path !== undefined) {
      this.close();
      this.#database = new DatabaseSync(path);
      this.#statements = new Map();
    }
    this.rewinds += 1;
    this.rewoundAt = this.#now();
    const before = [...this.#sessions].map(
      ([id, { from }]) => [id, from, this.#userLogs.get(id)?.at(-1)?.mark] as const,
    );
    this.#userLogs.clear();
    const rows = this.#all('select id, visibility, head, headMark from rooms where deletedAt is null');
    const present = new Set(rows.map(({ id }) => String(id)));
    for (const id of this.rooms.keys()) {
      if (present.has(id)) continue;
      this.lostAt.set(id, this.rewoundAt);
      this.#endRoom(id);
    }
    for (const row of rows) this.#rewindRoom(String(row['id']), row);
    for (const { id } of this.#all('select id from posts')) this.deletedPosts.delete(String(id));
    this.extensions?.rewind();
    this.update();
    for (const [id, from, mark] of before) {
      const isSame = this.#sessions.get(id)?.from === from && this.#userLogs.get(id)?.at(-1)?.mark === mark;
      if (!isSame) this.lostAt.set(id, this.rewoundAt);
    }
  }

  /** The events in the log of a user after a number. */
  userEventsAfter(userId: string, seq: number): UserEvent[] {
    return (this.#userLogs.get(userId) ?? []).filter((event) => event.seq > seq);
  }

  /** Whether a user has joined or left the room of an event since. */
  isMovedSince(userId: string, { seq, roomId }: UserEvent): boolean {
    return this.userEventsAfter(userId, seq).some((event) => event.roomId === roomId && event.type !== 'RoomRead');
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

  /** For how long sessions with a number have been invalid, in milliseconds; undefined if they are valid. */
  sinceSessionEnded(userId: string, number: number): number | undefined {
    const session = this.#sessions.get(userId);
    return session && number < session.from ? this.#now() - session.since : undefined;
  }

  /** How long ago the sessions of a user were ended, or the user was deleted, in milliseconds. */
  sinceSessionsChanged(userId: string): number {
    return this.#now() - (this.#sessions.get(userId)?.since ?? 0);
  }

  /** The owner of a room that exists. */
  ownerOf(roomId: string): unknown {
    return this.#all('select ownerId from rooms where id = ? and deletedAt is null', roomId)[0]?.['ownerId'];
  }

  /** For how long a user has been, or has not been, a member of a room, in milliseconds. */
  sinceMoved(userId: string, roomId: string): number {
    return this.#now() - this.movedAt(userId, roomId);
  }

  movedAt(userId: string, roomId: string): number {
    return this.rooms.get(roomId)?.moved.get(userId) ?? this.ended.get(roomId) ?? 0;
  }

  isMember(userId: string, roomId: string): boolean {
    return this.rooms.get(roomId)?.members.has(userId) ?? false;
  }

  /** The number of the last event that a room had some time ago; `types`: of these types. */
  headBefore(roomId: string, ageMs: number, types?: readonly string[]): number {
    const before = this.#now() - ageMs;
    const heads = this.rooms.get(roomId)?.heads;
    return heads?.findLast(({ at, type }) => at <= before && types?.includes(type) !== false)?.seq ?? 0;
  }

  /** The number of the last event of these types that the log of a room has. */
  lastOf(roomId: string, types: readonly string[]): number {
    const rows = this.#all('select type, seq from roomEvents where roomId = ? order by seq', roomId);
    return Number(rows.findLast(({ type }) => types.includes(String(type)))?.['seq'] ?? 0);
  }

  /** Whether an event is the next one after a position in the same history; `types`: the next one of these types. */
  follows({ roomId, seq, previousMark, type }: Committed, position: RoomPosition, types?: readonly string[]): boolean {
    if (types && !types.includes(type)) return false;
    let before: Pick<Committed, 'seq' | 'mark'> = { seq: seq - 1, mark: previousMark };
    while (types && before.seq > position.seq) {
      const passed = this.committed.get(`${roomId} ${before.seq} ${before.mark}`);
      if (!passed || types.includes(passed.type)) return false;
      before = { seq: passed.seq - 1, mark: passed.previousMark };
    }
    return before.seq === position.seq && before.mark === position.mark;
  }

  /** Whether only nodes with the extensions know a type of event. */
  isOfExtension(type: string): boolean {
    return extensionEvents.includes(type);
  }

  /**
   * Why an event may not be sent to a user at this moment; undefined if it may. `isLate`: it came before the end of the
   * access, of which a node may not know for `accessMs`.
   */
  findLeak(userId: string, event: Committed, accessMs: number): { reason: string; isLate: boolean } | undefined {
    if (this.maySee(userId, event.roomId) || this.ended.has(event.roomId)) return undefined;
    const lost = this.rooms.get(event.roomId)?.lost.get(userId);
    if (!lost) return { reason: 'the user never had access', isLate: false };
    // Numbers of another history do not compare.
    const isOfThisHistory = !this.isGone(event) || this.isTrimmed(event.roomId, event.seq - 1);
    const isLater = event.seq >= lost.seq && isOfThisHistory;
    if (isLater) return { reason: `the user lost access with event ${lost.seq}`, isLate: false };
    const age = this.#now() - lost.at;
    return age > accessMs ? { reason: `the user lost access ${Math.round(age)} ms ago`, isLate: true } : undefined;
  }

  /** The event after a position in the present history. */
  next({ roomId, seq, mark }: RoomPosition): Committed | undefined {
    const events = this.#followers.get(`${roomId} ${seq} ${mark}`);
    return events?.findLast((event) => !this.isGone(event)) ?? events?.at(-1);
  }

  /** How long ago a user has lost access to a room, or the room has ended, in milliseconds; undefined if neither. */
  sinceLost(userId: string, roomId: string): number | undefined {
    const endedAt = this.ended.get(roomId);
    const lostAt = this.maySee(userId, roomId) ? undefined : this.rooms.get(roomId)?.lost.get(userId)?.at;
    const at = endedAt ?? lostAt;
    return at === undefined ? undefined : this.#now() - at;
  }

  /** Whether an event was committed and is not in the log: the database was rewound, or the log was trimmed. */
  isGone({ roomId, seq, mark }: RoomPosition): boolean {
    if (seq === 0) return false;
    const [row] = this.#all('select mark from roomEvents where roomId = ? and seq = ?', roomId, seq);
    return row?.['mark'] !== mark;
  }

  /** The same of an event in the log of a user. */
  isUserEventGone({ roomId: userId, seq, mark }: RoomPosition): boolean {
    return seq > 0 && !this.userEventsAfter(userId, seq - 1).some((event) => event.mark === mark);
  }

  /** Whether the log may no longer be read from the event with which a user has joined a room. */
  isJoinTrimmed(userId: string, roomId: string): boolean {
    return this.isTrimmed(roomId, (this.rooms.get(roomId)?.joined.get(userId) ?? 0) - 1);
  }

  /** Whether the log may no longer be read after a number. */
  isTrimmed(roomId: string, seq: number): boolean {
    const head = this.rooms.get(roomId)?.head.seq ?? 0;
    return this.ended.has(roomId) || seq < head - this.#parts.keptEvents;
  }

  /** Whether the log begins with this event: a node that was trimming while the database was rewound may trim more. */
  isFirst(roomId: string, seq: number): boolean {
    return this.#all('select min(seq) as first from roomEvents where roomId = ?', roomId)[0]?.['first'] === seq;
  }

  /** The rooms of a user. */
  roomsOf(userId: string): string[] {
    return [...this.rooms].flatMap(([id, { members }]) => (members.has(userId) ? [id] : []));
  }

  /** The number of posts that a member has not read, counted one by one. */
  countUnread(userId: string, roomId: string): number {
    const readUpTo = this.readUpTo(userId, roomId);
    const posts = this.#all(
      "select authorId, publishedAt from posts where roomId = ? and authorId not in (select id from users where erasing = 'POSTS')",
      roomId,
    );
    return posts.filter(({ authorId, publishedAt }) => authorId !== userId && Number(publishedAt ?? 0) > readUpTo)
      .length;
  }

  /** The smallest and the largest number of unread posts that a member had at any moment since a time. */
  unreadSince(userId: string, { roomId, readUpTo, at }: UserEvent): [number, number] {
    const now = this.countUnread(userId, roomId);
    const since = this.rooms.get(roomId)?.heads.filter((event) => event.at >= at) ?? [];
    const [created, deleted] = ['Created', 'Deleted'].map(
      (end) => since.filter(({ type }) => type === `Post${end}`).length,
    );
    const isSame = this.readUpTo(userId, roomId) === readUpTo && this.deletedAt.values().every((time) => time < at);
    return [Math.min(100, now - (created ?? 0)), isSame ? Math.min(100, now + (deleted ?? 0)) : 100];
  }

  /** The versions of a post in the order of their commits. */
  versionsOf(postId: string): readonly PostVersion[] {
    return this.#versions.get(postId) ?? [];
  }

  /** What differs between the events and the tables; undefined if nothing does. */
  findContradiction(): string | undefined {
    const known = new Set(this.posts.values());
    const [unknown] = this.#all('select id from posts').filter(({ id }) => !known.has(String(id)));
    if (unknown) return `post ${unknown['id']} is stored, and no event has announced it`;
    for (const [roomId, { members }] of this.rooms) {
      const [stored, told] = [this.#membersOf(roomId), members].map((each) => [...each].sort().join());
      if (stored !== told) return `room ${roomId} has the members ${stored}, and its events say ${told}`;
    }
    return this.extensions?.findContradiction((userId) => this.deletedAt.has(userId));
  }

  /** When the latest post of a room was published; 0 without posts. */
  latestPost(roomId: string): number {
    const [row] = this.#all('select max(publishedAt) as at from posts where roomId = ?', roomId);
    return Number(row?.['at'] ?? 0);
  }

  /** Up to when a member has read a room. */
  readUpTo(userId: string, roomId: string): number {
    const text = 'select joinedAt, readUpTo from roomMembers where roomId = ? and userId = ?';
    const [member] = this.#all(text, roomId, userId);
    return Number(member?.['readUpTo'] ?? member?.['joinedAt'] ?? 0);
  }

  /** Whether a post or a task is stored now. */
  isStored(id: string): boolean {
    return this.hasPost(id) || this.extensions?.versionNow(id) !== undefined;
  }

  /** Whether a post is stored now. */
  hasPost(id: string): boolean {
    return this.#all('select 1 from posts where id = ?', id).length > 0;
  }

  /** The version of a post that can be read now: those of a deleted user cannot, before they are deleted. */
  versionNow(id: string): number | undefined {
    const text =
      "select posts.version from posts join users on users.id = authorId where posts.id = ? and erasing is not 'POSTS'";
    const [post] = this.#all(text, id);
    return post && Number(post['version']);
  }

  close(): void {
    this.#database.close();
  }

  #now(): number {
    return this.#parts.now();
  }

  #updateUserLogs(): void {
    for (const { userId, head } of this.#all('select userId, head from userLogs')) {
      const events = this.#userLogs.get(String(userId)) ?? [];
      this.#userLogs.set(String(userId), events);
      const known = events.at(-1)?.seq ?? 0;
      if (head === known) continue;
      for (const row of this.#all('select * from userEvents where userId = ? and seq > ?', String(userId), known)) {
        const [seq, mark, roomSeq] = [Number(row['seq']), Number(row['mark']), Number(row['roomSeq'])];
        const [type, roomId] = [String(row['type']), String(row['roomId'])];
        const [time, readUpTo] = [Number(row['at']), this.readUpTo(String(userId), roomId)];
        events.push({ seq, mark, type, roomId, roomSeq, time, readUpTo, at: this.#now() });
        this.#parts.note(`${type} of ${roomId} is event ${seq} of ${userId}`);
      }
    }
  }

  #updateRoom(roomId: string, { name, visibility, head }: Record<string, unknown>): void {
    this.names.set(roomId, String(name));
    const isPrivate = visibility === 'PRIVATE';
    const known = this.rooms.get(roomId);
    const room = known ?? newRoom({ isPrivate, members: new Set<string>() });
    this.rooms.set(roomId, room);
    if (Number(head) === room.head.seq) return;
    const rows = this.#all('select * from roomEvents where roomId = ? and seq > ? order by seq', roomId, room.head.seq);
    for (const row of rows) {
      const [type, subjectId] = [String(row['type']), String(row['subjectId'])];
      const [seq, mark] = [Number(row['seq']), Number(row['mark'])];
      const earlier = { isPrivate: room.isPrivate, members: room.members };
      if (type === 'MemberJoined') room.joined.set(subjectId, seq);
      if (type === 'MemberJoined') room.members = new Set([...room.members, subjectId]);
      if (type === 'MemberJoined' || type === 'MemberLeft') room.moved.set(subjectId, this.#now());
      if (type === 'MemberLeft') room.members = new Set([...room.members].filter((id) => id !== subjectId));
      if (type === 'RoomUpdated') room.isPrivate = isPrivate;
      if (type === 'PostDeleted') this.deletedPosts.set(subjectId, this.#now());
      if (type === 'PostCreated' || type === 'PostUpdated') this.#recordPost(subjectId, Number(row['version']));
      this.extensions?.record({ type, subjectId, version: Number(row['version']) });
      room.head = { seq, mark };
      room.heads.push({ seq, type, at: this.#now() });
      this.#parts.note(`${type} ${seq} of ${roomId} is committed, about ${subjectId}`);
      this.#recordAccess(room, earlier);
      const audience = room.isPrivate ? room.members : undefined;
      const previousMark = Number(row['previousMark']);
      const actorId = row['actorId'] === null ? null : String(row['actorId']);
      const content = { version: Number(row['version']), actorId, time: Number(row['at']) };
      const event = { roomId, seq, mark, at: this.#now(), previousMark, type, subjectId, audience, ...content };
      this.committed.set(`${roomId} ${seq} ${mark}`, event);
      const before = `${roomId} ${seq - 1} ${event.previousMark}`;
      this.#followers.set(before, [...(this.#followers.get(before) ?? []), event]);
    }
  }

  #recordAccess(room: ModelRoom, before: Pick<ModelRoom, 'isPrivate' | 'members'>): void {
    for (const userId of this.#sessions.keys()) {
      const [could, can] = [before, room].map(({ isPrivate, members }) => !isPrivate || members.has(userId));
      if (could === can) continue;
      room.changed.set(userId, this.#now());
      if (could) room.lost.set(userId, { at: this.#now(), seq: room.head.seq });
    }
  }

  #recordPost(id: string, version: number): void {
    const [post] = this.#all('select title, authorId from storedVersions where id = ? and version = ?', id, version);
    const title = String(post?.['title']);
    const stored = { version, title, authorId: String(post?.['authorId']), at: this.#now() };
    this.#versions.set(id, [...this.versionsOf(id), stored]);
    const other = this.posts.get(title);
    if (other !== undefined && other !== id) this.#parts.onDefect(`"${title}" is stored twice`);
    this.posts.set(title, id);
  }

  #membersOf(roomId: string): Set<string> {
    const rows = this.#all('select userId from roomMembers where roomId = ?', roomId);
    return new Set(rows.map(({ userId }) => String(userId)));
  }

  #rewindRoom(id: string, row: Record<string, unknown>): void {
    const now = this.#now();
    const head = { seq: Number(row['head']), mark: Number(row['headMark']) };
    const isPrivate = row['visibility'] === 'PRIVATE';
    const members = this.#membersOf(id);
    const known = this.rooms.get(id);
    if (this.ended.delete(id)) this.restored.set(id, now);
    if (head.seq !== known?.head.seq || head.mark !== known.head.mark) this.lostAt.set(id, now);
    const before = known ?? newRoom({ members, isPrivate });
    const heads = before.heads.filter(({ seq }) => seq <= head.seq);
    const joined = new Map([...before.joined].filter(([, seq]) => seq <= head.seq));
    const room = { ...before, head, heads, isPrivate, members, joined };
    this.rooms.set(id, room);
    for (const userId of this.#sessions.keys()) {
      if (before.members.has(userId) !== members.has(userId)) room.moved.set(userId, now);
      const lost = room.lost.get(userId);
      if (lost) room.lost.set(userId, { ...lost, seq: Number.POSITIVE_INFINITY });
      const [could, can] = [before, room].map((each) => !each.isPrivate || each.members.has(userId));
      if (could === can && known) continue;
      room.changed.set(userId, now);
      if (!can) room.lost.set(userId, { at: now, seq: Number.POSITIVE_INFINITY });
    }
  }

  #endRoom(id: string): void {
    this.rooms.delete(id);
    this.ended.set(id, this.#now());
    this.#parts.note(`${id} is deleted`);
  }

  #all(text: string, ...values: string[] | [string, number]): Record<string, unknown>[] {
    const statement = this.#statements.get(text) ?? this.#database.prepare(text);
    this.#statements.set(text, statement);
    return statement.all(...values);
  }
}

function newRoom(state: Pick<ModelRoom, 'isPrivate' | 'members'>): ModelRoom {
  return {
    ...state,
    head: { seq: 0, mark: 0 },
    heads: [],
    lost: new Map(),
    changed: new Map(),
    moved: new Map(),
    joined: new Map(),
  };
}
