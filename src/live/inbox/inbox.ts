import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { CoalescedWork } from '../../common/coalesced-work.ts';
import { yieldWhenDue } from '../../common/event-loop.ts';
import type { Database } from '../../data/database/database.ts';
import { findInboxRooms } from '../../data/domain/inbox-rooms.ts';
import { findMembersAmong } from '../../data/domain/memberships.ts';
import { createRoomRow } from '../../data/domain/rooms.ts';
import {
  isReadFailure,
  type LiveExtension,
  type LogPosition,
  type ReadFailure,
  type StreamEvent,
} from '../../data/event-log/events.ts';
import { readUserEvents } from '../../data/event-log/user-events.ts';
import type { RoomRow, UserEventRow } from '../../data/tables.ts';
import { ClientError } from '../../errors.ts';
import { encodeCursor } from '../cursor.ts';
import { EncodedEvent } from '../encoded-event.ts';
import type { Feed } from '../feed/feed.ts';
import { Follower, type Following } from '../groups/follower.ts';
import type { Groups } from '../groups/groups.ts';
import { LiveStream, type LiveStreamParts } from '../live-stream.ts';
import type { StreamMessage } from '../stream.ts';
import { personal } from '../subscribe-request.ts';
import { CatchUps } from './catch-ups.ts';
import { type InboxSelection, inboxRoomBytes, maxInboxRooms, tooManyRooms } from './inbox-request.ts';
import { cursorExpired, findJoined, type InboxStart } from './start.ts';

export interface InboxParts extends LiveStreamParts<InboxSelection> {
  start: InboxStart;
  database: Database;
  groups: Groups;
  acquire: (roomId: string) => Promise<Feed>;
  release: (roomId: string) => void;
}

/** A room that ends with the user's MemberLeft. */
interface Ending {
  follower: Follower;
  /** The position before the MemberLeft. */
  last: LogPosition;
  /** When events before the MemberLeft are left out if the room is private, by performance.now(). */
  until: number;
  hasGap: boolean;
  resolve: () => void;
}

/** The number of events in one read of the user's log. */
const chunkLength = 64;
/** How long the last events of a private room are sent after the end of the membership was found, in milliseconds. */
const maxEndMs = 2_000;

/**
 * One stream of the events of all rooms of a user. It follows the user's log: an event there begins or ends a room, whose
 * log it follows from, or up to, the position that the event names. An event of the user's log is done with before the next
 * one begins.
 */
export class Inbox extends LiveStream<InboxSelection> implements Following {
  readonly #parts: InboxParts;
  /** The position in the user's log. */
  position: LogPosition;
  readonly #rooms = new Map<string, Follower>();
  /** The positions of its client in rooms that it does not follow, until the user's log says how they go on. */
  readonly #known: Map<string, LogPosition>;
  /** The rooms that have begun, with their starts: until they send something, the client has no cursor of them. */
  readonly #begun = new Map<string, LogPosition>();
  #ending: Ending | undefined;
  readonly #catchUps = new CatchUps(this);
  readonly #reading = new CoalescedWork(() => this.#readUserLog().catch(this.#parts.onError));
  #roomCount = 0;

  constructor(parts: InboxParts) {
    super(parts);
    this.#parts = parts;
    this.position = parts.start.position;
    this.#known = parts.start.known;
  }

  get leavingUserId(): string {
    return this.request.userId;
  }

  /** The cursors of the rooms, by id. */
  get cursor(): Record<string, string> {
    return this.#cursorsOf([...this.#known.keys(), ...this.#rooms.keys()]);
  }

  get userCursor(): Record<string, string> {
    return this.#userCursorAt(this.position);
  }

  /** Opens a room that the stream follows from its start. Returns undefined if the room is deleted. @throws any error of `findPosition`. */
  async open(roomId: string, findPosition: (feed: Feed) => Promise<LogPosition>): Promise<Follower | undefined> {
    if (this.hasStopped) return undefined;
    const feed = await this.#parts.acquire(roomId);
    const follower = await this.#follow(feed, findPosition).catch((error) => {
      this.#parts.release(roomId);
      throw error;
    });
    if (!follower) this.#parts.release(roomId);
    return follower;
  }

  /** There may be new events in the user's log. */
  wake(): void {
    if (this.sink) void this.#reading.request();
  }

  /** Ends the stream if the database has another history, in which the user may be no member of a room. */
  async checkHistory(): Promise<void> {
    await this.#readChunk(1);
  }

  /** Counts the rooms for the client. Returns false, and changes nothing, if all its inboxes would have too many. */
  countRooms(count: number): boolean {
    const { account } = this.request;
    const total = account.inboxRooms - this.#roomCount + count;
    if (total > maxInboxRooms) return false;
    account.inboxRooms = total;
    this.#roomCount = count;
    return true;
  }

  follows(roomId: string): boolean {
    return this.#rooms.has(roomId);
  }

  catchUp(follower: Follower): void {
    this.#catchUps.add(follower);
  }

  isBlocked(): boolean {
    return this.sink?.isFull() ?? false;
  }

  skipTo({ feed, position }: Follower): LogPosition | undefined {
    const ending = this.#ending;
    if (ending?.follower.feed !== feed || feed.room?.visibility !== 'PRIVATE') return undefined;
    if (performance.now() < ending.until || position.seq >= ending.last.seq) return undefined;
    ending.hasGap = true;
    return ending.last;
  }

  onStopped(follower: Follower): void {
    if (this.#ending?.follower === follower) this.#ending.resolve();
  }

  onDeleted(follower: Follower): void {
    this.#sendDeletion(follower).catch((error) => this.fail(error));
  }

  onUnreadable({ feed }: Follower, failure: ReadFailure): void {
    this.#endUnreadable(failure, feed.roomId);
  }

  endAsSlowConsumer(message: StreamMessage): void {
    this.#endUnreadable('trimmed', message instanceof EncodedEvent ? message.roomId : undefined);
  }

  protected begin(): void {
    // A new stream gets all events live. A resumed stream gets the events before `feed.head` as a replay.
    const { isResumed } = this.request;
    void this.#forEachRoom((follower) => this.#join(follower, isResumed ? follower.feed.head : follower.position));
    this.wake();
  }

  /** Without a sink the rooms send nothing any more, so that they may leave their groups one after the other. */
  protected override release(): void {
    this.countRooms(0);
    void this.#forEachRoom((follower) => this.#remove(follower));
  }

  /** There may be a thousand rooms, which must not block the event loop. */
  async #forEachRoom(work: (follower: Follower) => void): Promise<void> {
    for (const follower of [...this.#rooms.values()]) {
      await yieldWhenDue();
      work(follower);
    }
  }

  /** A failure loses nothing: the position does not change, and the next comparison tries again. */
  async #readUserLog(): Promise<void> {
    while (this.sink) {
      const events = await this.#readChunk(chunkLength);
      if (events.length === 0) return;
      for (const event of events) {
        await yieldWhenDue();
        await this.#apply(event);
        if (!this.sink) return;
        this.position = { seq: event.seq, mark: event.mark };
      }
    }
  }

  /** Reads the next events of the user's log, or ends the stream if they cannot be read. */
  async #readChunk(length: number): Promise<readonly UserEventRow[]> {
    const { db } = this.#parts.database;
    const { userId } = this.request;
    const events = await readUserEvents(db, userId, this.position, length);
    if (!isReadFailure(events)) return events;
    const rooms = await findInboxRooms(db, userId, maxInboxRooms);
    this.end(
      this.sink ? cursorExpired(undefined, { rooms, selection: this.request }) : new ClientError('SERVICE_UNAVAILABLE'),
    );
    return [];
  }

  async #apply(event: UserEventRow): Promise<void> {
    if (event.type === 'MemberJoined') await this.#enter(event);
    if (event.type === 'MemberLeft') await this.#leave(event);
    if (event.type === 'RoomDeleted') await this.#endDeleted(event);
    if (event.type === 'RoomRead') await this.#sendRoomRead(event);
  }

  /** The user has joined a room. */
  async #enter({ roomId, roomSeq, roomMark }: UserEventRow): Promise<void> {
    if (this.#rooms.has(roomId)) return;
    const known = this.#known.get(roomId);
    const start = known && known.seq > roomSeq ? known : { seq: roomSeq, mark: roomMark };
    this.#known.set(roomId, start);
    this.#begun.set(roomId, start);
    // The membership of a private room may have ended since: its content is not sent any more.
    if (!(await this.#maySee(roomId))) return;
    if (!this.countRooms(this.#rooms.size + 1)) return this.end(tooManyRooms());
    const follower = await this.open(roomId, (feed) =>
      start === known ? this.#assertReadable(feed, known) : findJoined(feed, start),
    );
    if (follower) this.#join(follower, follower.feed.head);
    // It is deleted, which its client may have been told without the position in the user's log.
    else if (!known) this.#known.delete(roomId);
  }

  /** The user has left a room. */
  async #leave(event: UserEventRow): Promise<void> {
    const { roomId, roomSeq, roomMark } = event;
    const last = { seq: roomSeq, mark: roomMark };
    const known = this.#known.get(roomId);
    let follower = this.#rooms.get(roomId);
    if (!follower) {
      // Its client does not know the room, or has received the event.
      if (!known || known.seq > last.seq) return;
      const mayRead = await this.#maySee(roomId);
      follower = await this.open(roomId, async (feed) => {
        await this.#assertReadable(feed, known, mayRead);
        return mayRead ? known : last;
      });
      if (!this.sink) return;
      // It was deleted since.
      if (!follower) return this.#endDeleted(event);
    }
    await this.#reachEnd(follower, last, known !== undefined && known.seq < follower.position.seq);
    await this.#sendLeft(follower, last, event);
    this.#ending = undefined;
  }

  /** Ends the stream if its client has a position of a lost history, or one that cannot be read from. */
  async #assertReadable(feed: Feed, known: LogPosition, isRead = true): Promise<LogPosition> {
    const found = await feed.read(known, 1);
    const isExpired = found === 'rewound' || (isRead && found === 'trimmed');
    if (isExpired && !feed.deleted) this.#endUnreadable('rewound', feed.roomId);
    return known;
  }

  /** Resolves when the follower has stopped before the user's MemberLeft, or has been removed. */
  async #reachEnd(follower: Follower, last: LogPosition, isShort: boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    // A client that does not read would get them later, with the content of that time.
    const until = this.isBlocked() ? 0 : performance.now() + maxEndMs;
    const hasGap = isShort || (this.#ending?.follower === follower && this.#ending.hasGap);
    this.#ending = { follower, last, hasGap, until, resolve };
    this.#join(follower, follower.feed.head);
    if (follower.position.seq < last.seq && this.#isOpen(follower)) await promise;
  }

  async #sendLeft(follower: Follower, last: LogPosition, event: UserEventRow): Promise<void> {
    const { feed } = follower;
    if (!this.#isOpen(follower)) return;
    if (feed.head.seq <= last.seq) await feed.syncWithLog();
    const events = await feed.read(last, 1);
    if (!this.#isOpen(follower) || feed.deleted) return;
    if (isReadFailure(events)) return this.#endUnreadable(events, feed.roomId);
    const [left] = events;
    // An earlier program has deleted the room.
    if (left?.type !== 'MemberLeft' || left.subjectId !== this.request.userId) return feed.syncWithLog();
    const gap = this.#ending?.hasGap ? { gap: true as const } : {};
    await this.#send(event, [], (live) =>
      this.#isOpen(follower) ? { ...left, room: feed.room, live: { ended: true, ...gap, ...live } } : undefined,
    );
    this.#remove(follower);
  }

  /** A room was deleted. */
  async #endDeleted(event: UserEventRow): Promise<void> {
    const { roomId, at } = event;
    // The feed finds that out, and then the room ends for all who follow it.
    const follower = this.#rooms.get(roomId);
    if (follower) return follower.feed.syncWithLog();
    const known = this.#known.get(roomId);
    if (!known) return;
    const room = createDeletedRoom(roomId, at);
    const deleted = { type: 'RoomDeleted', roomId, subjectId: roomId, version: 0, actorId: null, at } as const;
    await this.#send(event, [], (live) => ({ ...known, ...deleted, previousMark: 0, room, live }));
    this.#known.delete(roomId);
  }

  /** The cursor of its room must be that of the latest event that was sent, or the client would resume from an earlier one. */
  async #sendRoomRead(event: UserEventRow): Promise<void> {
    const { roomId, at } = event;
    if (event.seq <= this.#parts.start.readsAfter) return;
    const subject = {
      type: 'RoomRead',
      roomId,
      subjectId: roomId,
      version: 0,
      actorId: this.request.userId,
      at,
    } as const;
    await this.#send(event, [roomId], (live) => {
      const follower = this.#rooms.get(roomId);
      // The room may have been deleted meanwhile.
      return follower && { ...follower.position, ...subject, previousMark: 0, room: follower.feed.room, live };
    });
  }

  /**
   * Sends an event that moves the position in the user's log. Its message also has the cursors of rooms of which the client may
   * have none, and of `rooms`, as they are when it is written.
   */
  async #send(
    { roomId, seq, mark }: UserEventRow,
    rooms: readonly string[],
    create: (live: LiveExtension) => StreamEvent | undefined,
  ): Promise<void> {
    const findCursors = () => ({
      ...this.#cursorsOf([...this.#findBegun(roomId), ...rooms]),
      ...this.#userCursorAt({ seq, mark }),
    });
    for (;;) {
      while (this.sink?.isFull()) await new Promise<void>((resolve) => this.waitUntilDrained(resolve));
      const cursors = findCursors();
      const event = create({ cursors });
      if (!event || !this.sink) return;
      const encoded = await this.request.executePersonal(event);
      if (!encoded || encoded === personal || !create({})) return;
      if (isDeepStrictEqual(findCursors(), cursors)) return this.sink?.write(encoded);
      await setImmediate();
    }
  }

  /** The rooms other than `ended` that have begun and have sent nothing since. */
  #findBegun(ended: string): string[] {
    this.#begun.delete(ended);
    for (const [roomId, { seq }] of this.#begun) {
      const follower = this.#rooms.get(roomId);
      if (follower ? follower.position.seq > seq : !this.#known.has(roomId)) this.#begun.delete(roomId);
    }
    return [...this.#begun.keys()];
  }

  #cursorsOf(roomIds: Iterable<string>): Record<string, string> {
    const cursors: Record<string, string> = {};
    for (const roomId of roomIds) {
      const position = this.#rooms.get(roomId)?.position ?? this.#known.get(roomId);
      if (position) cursors[roomId] = encodeCursor({ roomId, ...position });
    }
    return cursors;
  }

  #userCursorAt(position: LogPosition): Record<string, string> {
    const { userId } = this.request;
    return { [userId]: encodeCursor({ roomId: userId, ...position }) };
  }

  async #maySee(roomId: string): Promise<boolean> {
    const { userId } = this.request;
    const { needsMembership, members } = await findMembersAmong(this.#parts.database.db, roomId, [userId]);
    return !needsMembership || members.has(userId);
  }

  #isOpen(follower: Follower): boolean {
    return this.sink !== undefined && this.#rooms.get(follower.feed.roomId) === follower;
  }

  async #follow(feed: Feed, findPosition: (feed: Feed) => Promise<LogPosition>): Promise<Follower | undefined> {
    if (feed.deleted) return undefined;
    const position = await findPosition(feed);
    const { head } = feed;
    // Rooms at the same position share the object.
    const isAtHead = position.seq === head.seq && position.mark === head.mark;
    const follower = new Follower(this, feed, isAtHead ? head : position);
    if (this.hasStopped || feed.deleted) return undefined;
    this.#rooms.set(feed.roomId, follower);
    this.#known.delete(feed.roomId);
    this.request.account.add(inboxRoomBytes);
    return follower;
  }

  #join(follower: Follower, groupPosition: LogPosition): void {
    if (!this.#isOpen(follower) || follower.group) return;
    follower.enter(this.#parts.groups.findOrCreate(follower.feed, this.request, groupPosition));
  }

  #remove(follower: Follower): void {
    const { roomId } = follower.feed;
    if (this.#rooms.get(roomId) !== follower) return;
    this.#rooms.delete(roomId);
    if (this.sink) this.countRooms(this.#rooms.size);
    this.#catchUps.delete(follower);
    follower.leave();
    this.request.account.add(-inboxRoomBytes);
    this.#parts.release(roomId);
    if (this.#ending?.follower === follower) this.#ending.resolve();
  }

  async #sendDeletion(follower: Follower): Promise<void> {
    const { group } = follower;
    // It is sent when the follower enters its group.
    if (!group) return;
    const encoded = await group.executeDeletion();
    // If the selection is personal, the follower has moved to another group, which executes it again.
    if (encoded === personal || follower.group !== group) return;
    const { sink } = this;
    this.#remove(follower);
    if (encoded) sink?.write(encoded);
  }

  #endUnreadable(failure: ReadFailure, room?: string): void {
    // Before it begins it may not have all rooms: its client asks again, with its own cursors.
    if (!this.sink) return this.end(new ClientError('SERVICE_UNAVAILABLE'));
    // A former member must not learn the present cursor of a room.
    const ending = this.#ending?.follower.feed.roomId;
    const rooms = [...this.#rooms.values()].filter(({ feed }) => feed.roomId !== ending);
    const cursors = { ...Object.fromEntries(rooms.map(({ feed }) => [feed.roomId, feed.cursor])), ...this.userCursor };
    const code = failure === 'rewound' ? 'CURSOR_EXPIRED' : 'SLOW_CONSUMER';
    this.end(new ClientError(code, undefined, { live: { ...(room !== undefined && { room }), cursors } }));
  }
}

/** A room that was deleted while the client was away, as its event has it: nothing of it is stored any more. */
function createDeletedRoom(id: string, at: number): RoomRow {
  return { ...createRoomRow({ id, name: 'deleted room', visibility: 'PRIVATE' }), createdAt: at, updatedAt: at };
}
